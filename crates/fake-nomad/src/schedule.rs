//! What happens by itself: work is placed, starts and ends, nodes are drained and missed.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Face;
use crate::allocations::Allocation;
use crate::jobs::JobSpec;
use crate::state::{State, nanoseconds};

/// How long a task takes to start.
const START: Duration = Duration::from_millis(60);

/// Some time has passed.
pub(crate) fn tick(state: &mut State, face: Face) {
    let now = Instant::now();
    miss(state, now);
    clients(state, now);
    stop(state, now);
    drain(state, face, now);
    place(state, now);
    expire(state, now);
}

/// The server has been away: nobody is late for that.
pub(crate) fn wake(state: &mut State) {
    let now = Instant::now();
    for node in state.nodes.values_mut() {
        node.silent_at = node.ttl.map(|ttl| now + ttl);
    }
    for lock in state.variables.values_mut().filter_map(|variable| variable.lock.as_mut()) {
        lock.until = now + lock.ttl;
    }
}

/// Clients that have been silent for too long are down.
fn miss(state: &mut State, now: Instant) {
    let silent =
        state.nodes.iter().filter(|(_, node)| node.status == "ready" && node.silent_at.is_some_and(|at| now >= at));
    let silent: Vec<String> = silent.map(|(id, _)| id.clone()).collect();
    silent.iter().for_each(|id| state.down(id));
}

/// Clients start and end tasks.
fn clients(state: &mut State, now: Instant) {
    let waits = |id: &String| state.allocations.get(id).is_some_and(|before| !before.is_terminal());
    let due: Vec<(String, &'static str)> = state
        .allocations
        .values()
        .filter_map(|allocation| match allocation.client {
            "pending" if allocation.ends_at.is_none() && now >= allocation.runs_at => {
                let waits = allocation.follows.as_ref().is_some_and(waits);
                (!waits).then(|| (allocation.id.clone(), "running"))
            }
            "pending" | "running" if allocation.ends_at.is_some_and(|at| now >= at) => {
                Some((allocation.id.clone(), "complete"))
            }
            _ => None,
        })
        .collect();
    for (id, client) in due {
        let index = state.change();
        if let Some(allocation) = state.allocations.get_mut(&id) {
            (allocation.client, allocation.modified, allocation.modify_time) = (client, index, nanoseconds());
        }
    }
}

/// Tasks of jobs that are stopped, or want fewer, are told to end.
fn stop(state: &mut State, now: Instant) {
    let too_many: Vec<String> = state
        .allocations
        .values()
        .filter(|allocation| allocation.desired == "run" && !allocation.is_terminal())
        .filter(|allocation| {
            let job = state.jobs.get(&(allocation.namespace.clone(), allocation.job.clone()));
            job.is_none_or(|job| job.stopped || (job.spec.kind != "system" && allocation.number >= job.spec.count))
        })
        .map(|allocation| allocation.id.clone())
        .collect();
    too_many.iter().for_each(|id| tell_to_end(state, id, now));
}

fn tell_to_end(state: &mut State, id: &str, now: Instant) {
    let index = state.change();
    if let Some(allocation) = state.allocations.get_mut(id) {
        (allocation.desired, allocation.modified, allocation.modify_time) = ("stop", index, nanoseconds());
        allocation.ends_at = Some(now + Duration::from_millis(allocation.kill_ms));
    }
}

/// Services move one by one, batch jobs may go on until the deadline, and system jobs go last or stay.
fn drain(state: &mut State, face: Face, now: Instant) {
    let draining: Vec<String> =
        state.nodes.iter().filter(|(_, node)| node.drain.is_some()).map(|(id, _)| id.clone()).collect();
    for id in draining {
        let Some(drain) = state.nodes.get(&id).and_then(|node| node.drain.clone()) else { continue };
        let forced = drain.forced_at().is_some_and(|at| Timestamp::now() >= at);
        let on_it =
            || state.allocations.values().filter(|allocation| allocation.node == id && !allocation.is_terminal());
        let counts = |allocation: &&Allocation| allocation.kind != "system" || !drain.ignore_system_jobs;
        let told: Vec<String> = on_it()
            .filter(counts)
            .filter(|allocation| allocation.desired == "run")
            .filter(|allocation| forced || allocation.kind == "service")
            .take(if forced { usize::MAX } else { 1 })
            .map(|allocation| allocation.id.clone())
            .collect();
        // Nomad 1.0 calls a drain complete while tasks still run.
        let left = on_it().filter(counts).filter(|left| face == Face::New || left.desired == "run").count();
        if left == 0 {
            let index = state.change();
            if let Some(node) = state.nodes.get_mut(&id) {
                (node.drain, node.modified) = (None, index);
                let details = if forced { json!({ "deadline_reached": "true" }) } else { Value::Null };
                node.event("Drain", "Node drain complete", details);
            }
        }
        told.iter().for_each(|id| tell_to_end(state, id, now));
    }
}

/// What waits is given to the first node that suits it and has room.
fn place(state: &mut State, now: Instant) {
    let jobs: Vec<JobSpec> = state.jobs.values().filter(|job| !job.stopped).map(|job| job.spec.clone()).collect();
    for job in jobs {
        if job.kind == "system" {
            let nodes: Vec<String> =
                state.nodes.iter().filter(|(_, node)| node.is_usable()).map(|(id, _)| id.clone()).collect();
            for node in nodes {
                let there = state
                    .allocations
                    .values()
                    .any(|own| own.is_of(&job.namespace, &job.id) && own.node == node && !own.is_terminal());
                if !there {
                    allocate(state, &job, 0, &node, now);
                }
            }
            continue;
        }
        for number in 0..job.count {
            let there = state.allocations.values().any(|own| {
                let lives =
                    own.desired == "run" && (!own.is_terminal() || own.kind == "batch" && own.client == "complete");
                own.is_of(&job.namespace, &job.id) && own.number == number && lives
            });
            if there {
                continue;
            }
            let suits = |node: &&crate::nodes::Node| {
                let (cpu, memory) = state.held(&node.spec.id);
                let room = node.spec.cpu - cpu >= job.cpu
                    && node.spec.memory - node.spec.reserved_memory - memory >= job.memory;
                node.is_usable() && room && (job.class.is_empty() || job.class == node.spec.class)
            };
            let Some(node) = state.nodes.values().find(suits).map(|node| node.spec.id.clone()) else { break };
            allocate(state, &job, number, &node, now);
        }
    }
}

fn allocate(state: &mut State, job: &JobSpec, number: u32, node: &str, now: Instant) {
    let (id, index) = (state.id(), state.change());
    let before = state.allocations.values().filter(|own| own.is_of(&job.namespace, &job.id) && own.number == number);
    let before = before.max_by_key(|own| own.created).filter(|_| job.kind != "system");
    let follows = before.map(|own| own.id.clone());
    let node_name = state.nodes.get(node).map(|node| node.spec.name.clone()).unwrap_or_default();
    let allocation = Allocation {
        id: id.clone(),
        namespace: job.namespace.clone(),
        job: job.id.clone(),
        kind: job.kind.clone(),
        number,
        node: node.to_owned(),
        node_name,
        cpu: job.cpu,
        memory: job.memory,
        desired: "run",
        client: "pending",
        created: index,
        modified: index,
        create_time: nanoseconds(),
        modify_time: nanoseconds(),
        runs_at: now + START,
        follows,
        ends_at: None,
        kill_ms: job.kill_ms,
    };
    state.allocations.insert(id, allocation);
}

/// Locks that were not renewed in time are free after their delay.
fn expire(state: &mut State, now: Instant) {
    for variable in state.variables.values_mut() {
        if variable.lock.as_ref().is_some_and(|lock| now >= lock.until) {
            let lock = variable.lock.take();
            variable.free_at = lock.map(|lock| lock.until + lock.delay);
        }
    }
}
