//! What is asked to be done.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::answer::{Answer, Asked};
use crate::jobs::JobSpec;
use crate::nodes::{Drain, NodeSpec};
use crate::state::State;
use crate::{Face, variables};

pub(crate) fn change(state: &mut State, face: Face, method: &str, asked: &Asked<'_>) -> Answer {
    let body: Value = serde_json::from_str(asked.body).unwrap_or_default();
    // What only the clients of this server send, which need no token.
    if *asked.path == ["fake", "heartbeat"] {
        return heartbeat(state, &body);
    }
    let token = match state.token(asked.token) {
        Ok(token) => token,
        Err(words) => return Answer::text(403, words),
    };
    let namespace = asked.query.get("namespace").map_or("default", String::as_str);
    let cas = asked.query.get("cas").and_then(|cas| cas.parse().ok());
    match *asked.path {
        ["jobs"] => return register(state, &body),
        ["job", id] if method == "DELETE" => return deregister(state, namespace, id),
        ["node", ..] if !token.may_touch_nodes() => return Answer::text(403, "Permission denied"),
        ["node", id, ..] if !state.nodes.contains_key(id) => return Answer::text(404, "node not found"),
        ["node", id, "drain"] => return drain(state, id, &body),
        ["node", id, "eligibility"] => return eligibility(state, id, &body),
        ["node", id, "purge"] => return purge(state, id),
        _ => {}
    }
    if let (["var", path @ ..], Face::New) = (&*asked.path, face) {
        let key = (namespace.to_owned(), path.join("/"));
        let operations = ["lock-acquire", "lock-renew", "lock-release"];
        let operation = operations.into_iter().find(|operation| asked.query.contains_key(*operation));
        return match method {
            "DELETE" => variables::delete(state, &key, cas),
            _ => variables::write(state, &key, cas, operation, asked.body),
        };
    }
    Answer::text(404, "")
}

/// A client says what it is, and that it is alive; with a time of 0, that it ends.
fn heartbeat(state: &mut State, body: &Value) -> Answer {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let meta = body["meta"].as_object().into_iter().flatten();
    let spec = NodeSpec {
        id: text("id"),
        name: text("name"),
        class: text("class"),
        memory: body["memory"].as_i64().unwrap_or(1000),
        cpu: body["cpu"].as_i64().unwrap_or(4000),
        meta: meta.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect(),
        ..NodeSpec::default()
    };
    let ttl = Duration::from_millis(body["ttl_ms"].as_u64().unwrap_or(1500));
    let known = !spec.id.is_empty();
    let id = state.register(spec, Some(ttl));
    if known && ttl.is_zero() {
        state.down(&id);
    }
    Answer::json(json!({ "ID": id }))
}

fn register(state: &mut State, body: &Value) -> Answer {
    let Some(spec) = JobSpec::from_json(&body["Job"]) else { return Answer::text(400, "Job must be specified") };
    let index = state.run(spec);
    let eval = state.id();
    Answer::json(
        json!({ "EvalID": eval, "EvalCreateIndex": index, "JobModifyIndex": index, "Warnings": "", "Index": index }),
    )
}

fn deregister(state: &mut State, namespace: &str, id: &str) -> Answer {
    let index = state.stop(namespace, id);
    let eval = state.id();
    Answer::json(json!({ "EvalID": eval, "EvalCreateIndex": index, "JobModifyIndex": index, "Index": index }))
}

fn drain(state: &mut State, id: &str, body: &Value) -> Answer {
    let index = state.change();
    let Some(node) = state.nodes.get_mut(id) else { return Answer::text(404, "node not found") };
    node.modified = index;
    if body["DrainSpec"].is_null() {
        node.drain = None;
        node.eligible = body["MarkEligible"].as_bool().unwrap_or(false);
        node.event("Drain", "Node drain strategy unset", Value::Null);
    } else {
        node.drain = Some(Drain {
            deadline: body["DrainSpec"]["Deadline"].as_i64().unwrap_or(0),
            ignore_system_jobs: body["DrainSpec"]["IgnoreSystemJobs"].as_bool().unwrap_or(false),
            started: Timestamp::now(),
        });
        node.eligible = false;
        node.event("Drain", "Node drain strategy set", Value::Null);
    }
    Answer::json(json!({ "NodeModifyIndex": index, "EvalIDs": null, "EvalCreateIndex": 0, "Index": index }))
}

fn eligibility(state: &mut State, id: &str, body: &Value) -> Answer {
    let eligible = match body["Eligibility"].as_str() {
        Some("eligible") => true,
        Some("ineligible") => false,
        other => return Answer::text(500, &format!("invalid scheduling eligibility {other:?}")),
    };
    let index = state.change();
    let Some(node) = state.nodes.get_mut(id) else { return Answer::text(404, "node not found") };
    if node.drain.is_some() && eligible {
        return Answer::text(500, "can not set node's scheduling eligibility to eligible while it is draining");
    }
    (node.eligible, node.modified) = (eligible, index);
    let message = if eligible { "eligible" } else { "ineligible" };
    node.event("Cluster", &format!("Node marked as {message} for scheduling"), Value::Null);
    Answer::json(json!({ "NodeModifyIndex": index, "EvalIDs": null, "EvalCreateIndex": 0, "Index": index }))
}

/// A client that is alive registers again at once, as a new node that is eligible.
fn purge(state: &mut State, id: &str) -> Answer {
    let index = state.change();
    let Some(node) = state.nodes.remove(id) else { return Answer::text(404, "node not found") };
    state.lose(id, index);
    if node.status == "ready" {
        state.register(node.spec, node.ttl);
    }
    Answer::json(
        json!({ "HeartbeatTTL": 0, "EvalIDs": [], "EvalCreateIndex": index, "NodeModifyIndex": index, "Index": index }),
    )
}
