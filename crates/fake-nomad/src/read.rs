//! Questions.

use serde_json::{Value, json};

use crate::answer::{Answer, Asked, REGION};
use crate::state::{Failing, State, nanoseconds};
use crate::{Face, variables};

pub(crate) fn read(state: &State, face: Face, asked: &Asked<'_>) -> Answer {
    let denied = || Answer::text(403, "Permission denied");
    let token = match state.token(asked.token) {
        Ok(token) => token,
        Err(_) if face == Face::New && *asked.path == ["acl", "token", "self"] => {
            return Answer::text(500, "acl token lookup failed: index error: UUID must be 36 characters");
        }
        Err(_) if face == Face::New => return denied(),
        Err(words) => return Answer::text(403, words),
    };
    let namespace = asked.query.get("namespace").map_or("default", String::as_str);
    let in_it = |of: &str| namespace == "*" || namespace == of;
    // Newer ones say so when nothing in any namespace may be seen; older ones answer with an empty list.
    let nowhere = |may: bool| face == Face::New && namespace == "*" && !(token.management || may);
    let resources = asked.query.get("resources").is_some_and(|value| value == "true");
    match *asked.path {
        ["nodes" | "node", ..] | ["client", ..] if !token.may_touch_nodes() => denied(),
        ["node", id, ..] if id.len() != 36 => malformed("node"),
        ["allocation", id] if id.len() != 36 => malformed("alloc"),
        ["nodes"] => list(face, asked, state.nodes.values().map(|node| node.stub(face, resources)).collect()),
        ["node", id] => match state.nodes.get(id) {
            Some(node) => Answer::json(node.to_json(face)),
            None => Answer::text(404, "node not found"),
        },
        ["node", id, "allocations"] => {
            let own = state.allocations.values().filter(|own| own.node == id && token.may_read(&own.namespace));
            list(face, asked, own.map(|own| own.to_json(face, true)).collect())
        }
        ["allocations"] if nowhere(token.reads.is_some()) => denied(),
        ["jobs"] if nowhere(token.lists && token.reads.is_some()) => denied(),
        ["allocations"] => {
            let none = state.failing == Some(Failing::NoAllocations);
            let all = state
                .allocations
                .values()
                .filter(|own| !none && in_it(&own.namespace) && token.may_read(&own.namespace));
            list(face, asked, all.map(|own| own.to_json(face, resources)).collect())
        }
        ["allocation", id] => match state.allocations.get(id).filter(|own| token.may_read(&own.namespace)) {
            Some(own) => Answer::json(own.to_json(face, true)),
            None => Answer::text(404, "alloc not found"),
        },
        ["jobs"] => {
            let all =
                state.jobs.values().filter(|job| in_it(&job.spec.namespace) && token.may_list(&job.spec.namespace));
            list(face, asked, all.map(|job| state.job_stub(job)).collect())
        }
        ["job", id] => {
            let job = state.jobs.get(&(namespace.to_owned(), id.to_owned()));
            match job.filter(|job| token.may_read(&job.spec.namespace)) {
                Some(job) => Answer::json(state.job_json(job, face)),
                None => Answer::text(404, "job not found"),
            }
        }
        // Nomad 1.0 answers with everything, whatever is asked for, and with nothing where every namespace is.
        ["evaluations"] => Answer::json(json!([])),
        ["client", "stats"] => client_stats(state, asked),
        ["acl", "token", "self"] if state.tokens.is_none() => Answer::text(400, "ACL support disabled"),
        ["acl", "token", "self"] => Answer::json(token.to_json()),
        ["acl", "policy", name] => Answer::json(json!({ "Name": name, "Description": "", "Rules": token.rules() })),
        ["var", ref path @ ..] if face == Face::New => variables::read(state, &(namespace.to_owned(), path.join("/"))),
        ["agent", "self"] => Answer::json(json!({ "config": { "Version": { "Version": face.version() } } })),
        ["status", "leader"] => Answer::json(json!("127.0.0.1:4647")),
        ["regions"] => Answer::json(json!([REGION])),
        _ => Answer::text(404, ""),
    }
}

/// What is no ID.
fn malformed(kind: &str) -> Answer {
    Answer::text(500, &format!("{kind} lookup failed: index error: UUID must be 36 characters"))
}

/// Nomad 1.0 does not know pages.
fn list(face: Face, asked: &Asked<'_>, objects: Vec<Value>) -> Answer {
    let size = asked.query.get("per_page").and_then(|size| size.parse::<usize>().ok()).filter(|size| *size > 0);
    let Some(size) = size.filter(|_| face == Face::New) else { return Answer::json(Value::Array(objects)) };
    let from = asked.query.get("next_token").and_then(|token| token.parse::<usize>().ok()).unwrap_or(0);
    let more = objects.len() > from + size;
    let page = objects.into_iter().skip(from).take(size).collect();
    Answer { next: more.then(|| (from + size).to_string()), ..Answer::json(page) }
}

fn client_stats(state: &State, asked: &Asked<'_>) -> Answer {
    let Some(id) = asked.query.get("node_id") else { return Answer::text(400, "Missing node ID") };
    let Some(node) = state.nodes.get(id).filter(|node| node.status == "ready") else {
        return Answer::text(404, "No path to node");
    };
    let core = |(number, busy): (usize, &f64)| json!({ "CPU": format!("cpu{number}"), "Idle": 100.0 - busy, "System": 0.0, "Total": busy, "User": busy });
    let cores: Vec<Value> = node.spec.busy.iter().enumerate().map(core).collect();
    Answer::json(json!({
        "CPU": cores, "CPUTicksConsumed": 0.0, "Memory": { "Total": node.spec.memory << 20, "Used": 0, "Available": 0, "Free": 0 },
        "DiskStats": [], "DeviceStats": null, "Uptime": 100, "Timestamp": nanoseconds(),
    }))
}
