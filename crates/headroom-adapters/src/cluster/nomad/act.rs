//! What is done to a Nomad cluster.

use std::time::Duration;

use headroom_core::keys::INELIGIBLE;
use jiff::Timestamp;

use super::client::{CallError, Client, DrainSpec};
use super::rights::{Rights, rights};
use super::translate::{full_name, is_terminal};
use crate::cluster::ClusterError;

/// A drain gets at least so long: 0 would be no limit at all, and less kills tasks before they hear of it.
const SHORTEST: Duration = Duration::from_secs(1);

/// Makes a node ineligible, which is the one mark that Nomad has.
pub(super) async fn taint(client: &Client, node: &str, key: &str) -> Result<(), ClusterError> {
    only_eligibility(key)?;
    // A node that is being drained is ineligible already.
    if found(client, node, "read").await?.drain {
        return Ok(());
    }
    let done = client.set_eligibility(node, false).await;
    done.map_err(|error| failed(error, "make ineligible", node))
}

/// Makes a node eligible, and ends its drain.
pub(super) async fn untaint(client: &Client, node: &str, key: &str) -> Result<(), ClusterError> {
    only_eligibility(key)?;
    let drains = found(client, node, "read").await?.drain;
    let done = if drains { client.end_drain(node).await } else { client.set_eligibility(node, true).await };
    done.map_err(|error| failed(error, "make eligible", node))
}

/// Moves the work of a node off it until this instant, when what is left is stopped. A drain that is under way goes on as it
/// is. Tasks of system jobs stay: they go with the server.
pub(super) async fn drain(client: &Client, node: &str, until: Timestamp, now: Timestamp) -> Result<(), ClusterError> {
    if found(client, node, "read").await?.drain {
        return Ok(());
    }
    let left = Duration::try_from(until.duration_since(now)).unwrap_or_default().max(SHORTEST);
    let deadline = i64::try_from(left.as_nanos()).unwrap_or(i64::MAX);
    let done = client.drain(node, DrainSpec { deadline, ignore_system_jobs: true }).await;
    done.map_err(|error| failed(error, "drain", node))
}

/// The tasks that would be lost with `node`, as they are now. Nomad calls a drain complete while tasks still run, and it
/// leaves out what the token may not see.
pub(super) async fn lost_with(client: &Client, node: &str) -> Result<Vec<String>, ClusterError> {
    let object = format!("allocations of node {node}");
    let unread = |error: CallError| error.of("list", &object);
    if rights(client).await.map_err(unread)? == Rights::Some {
        return Err(ClusterError::Forbidden { verb: "list".to_owned(), object });
    }
    let listed = client.allocations_of(node).await.map_err(unread)?;
    if let Some(reason) = listed.skipped.into_iter().next() {
        return Err(ClusterError::Unreachable(reason.into()));
    }
    let alive = listed.objects.into_iter().filter(|object| !is_terminal(&object.client_status));
    let stays = alive.filter(|object| {
        let kind = object.job_type.as_deref().or(object.job.as_ref().map(|job| &*job.kind));
        !matches!(kind, Some("system" | "sysbatch"))
    });
    let mut names: Vec<String> = stays.map(|object| full_name(&object)).collect();
    names.sort_unstable();
    Ok(names)
}

/// Purges a node that is down. False while it is not: purged, one that is alive would come back at once.
pub(super) async fn purge_if_down(client: &Client, node: &str) -> Result<bool, ClusterError> {
    let status = match client.node(node).await {
        Ok(found) => found.status,
        Err(error) if error.status() == Some(404) => return Ok(true),
        Err(error) => return Err(failed(error, "read", node)),
    };
    if status != "down" {
        return Ok(false);
    }
    match client.purge(node).await {
        Err(error) if error.status() != Some(404) => Err(failed(error, "purge", node)),
        _ => Ok(true),
    }
}

fn only_eligibility(key: &str) -> Result<(), ClusterError> {
    if key == INELIGIBLE { Ok(()) } else { Err(ClusterError::NoSuchTaint { key: key.to_owned() }) }
}

async fn found(client: &Client, node: &str, verb: &str) -> Result<super::object::Node, ClusterError> {
    client.node(node).await.map_err(|error| failed(error, verb, node))
}

fn failed(error: CallError, verb: &str, node: &str) -> ClusterError {
    match error.status() {
        Some(404) => ClusterError::NoSuchNode { node: node.to_owned() },
        _ => error.of(verb, &format!("node {node}")),
    }
}
