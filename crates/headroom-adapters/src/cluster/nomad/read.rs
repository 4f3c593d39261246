//! Reads a cluster: lists every time, and whole nodes and jobs when they have changed.

use std::collections::BTreeMap;

use futures::StreamExt;
use headroom_core::policy::Selection;
use jiff::Timestamp;

use super::busy::Busy;
use super::client::{CallError, Client, Listed};
use super::object::{self, Job, Node};
use super::rights::rights;
use super::translate::{self, Gathered, Sight};

/// Whole nodes and jobs that are asked for at once.
const CALLS: usize = 16;

/// What is asked for again only when it has changed.
#[derive(Debug, Default)]
pub(super) struct Reader {
    nodes: BTreeMap<String, Node>,
    jobs: BTreeMap<(String, String), Job>,
    busy: Busy,
}

/// A reading of the whole cluster.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) sight: Sight,
    /// It is of this instant or later.
    pub(super) at: Timestamp,
}

/// What could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be read")]
pub(super) struct Unread {
    what: &'static str,
    source: CallError,
}

impl Reader {
    /// Reads everything. How busy a server is is asked for where one of `measured` selects it.
    pub(super) async fn read(&mut self, client: &Client, measured: &[Selection]) -> Result<Reading, Unread> {
        let at = Timestamp::now();
        let unread = |what| move |source| Unread { what, source };
        let (nodes, allocations, jobs, rights) =
            tokio::join!(client.nodes(), client.allocations(), client.jobs(), rights(client));
        let nodes = nodes.map_err(unread("the list of nodes"))?;
        let allocations = allocations.map_err(unread("the list of allocations"))?;
        let jobs = jobs.map_err(unread("the list of jobs"))?;
        let mut gathered = Gathered::default();
        gathered.listed(rights.map_err(unread("what the token may see"))?);
        skipped(&mut gathered, &nodes, object::Kind::Node);
        skipped(&mut gathered, &allocations, object::Kind::Allocation);
        self.whole_nodes(client, &mut gathered, nodes.objects).await;
        self.whole_jobs(client, &mut gathered, jobs.objects).await;
        for allocation in allocations.objects {
            if let Err(error) = gathered.allocation(allocation) {
                gathered.misread(object::Kind::Allocation, error.to_string());
            }
        }
        if !measured.is_empty() {
            let is_measured = |node: &headroom_core::snapshot::Node| measured.iter().any(|select| select.matches(node));
            let ready = self.nodes.values().filter(|node| node.status == "ready");
            let nodes = ready.filter_map(|node| translate::node(node).ok()).filter(is_measured).map(|node| node.name);
            self.busy.ask(client, nodes.collect()).await;
            for (node, busy) in self.busy.at(Timestamp::now()) {
                gathered.busy(node, busy);
            }
        }
        let sight = tokio::task::block_in_place(|| gathered.sight());
        Ok(Reading { sight, at })
    }

    /// Lists leave out the meta attributes, by which a node is in a pool.
    async fn whole_nodes(&mut self, client: &Client, gathered: &mut Gathered, listed: Vec<Node>) {
        let mut before = std::mem::take(&mut self.nodes);
        let (known, new): (Vec<Node>, Vec<Node>) = listed.into_iter().partition(|node| {
            before.get(&node.id).is_some_and(|known| known.modify_index == node.modify_index && node.modify_index > 0)
        });
        let calls = new.into_iter().map(|node| async move { (client.node(&node.id).await, node) });
        let answers: Vec<_> = futures::stream::iter(calls.collect::<Vec<_>>()).buffer_unordered(CALLS).collect().await;
        let mut whole: Vec<Node> = known.iter().filter_map(|node| before.remove(&node.id)).collect();
        for (answer, node) in answers {
            match answer {
                Ok(found) => whole.push(slim(found)),
                // It has gone since.
                Err(CallError::Refused { status: 404, .. }) => {}
                Err(error) => gathered.misread(object::Kind::Node, format!("node {}: {error}", node.id)),
            }
        }
        for node in whole {
            match gathered.node(node.clone()) {
                Ok(()) => drop(self.nodes.insert(node.id.clone(), node)),
                Err(error) => gathered.misread(object::Kind::Node, format!("node {}: {error}", node.id)),
            }
        }
    }

    /// Lists leave out what the groups of a job ask for.
    async fn whole_jobs(&mut self, client: &Client, gathered: &mut Gathered, listed: Vec<Job>) {
        let mut before = std::mem::take(&mut self.jobs);
        let mut missing = Vec::new();
        for mut job in listed {
            if job.namespace.is_empty() {
                job.namespace = job.job_summary.as_ref().map(|summary| summary.namespace.clone()).unwrap_or_default();
            }
            let key = (job.namespace.clone(), job.id.clone());
            // Tasks of system jobs go with their nodes, and those of others have ended.
            let matters = job.status != "dead" && !job.stop && !matches!(&*job.kind, "system" | "sysbatch");
            match before.remove(&key).filter(|known| known.job_modify_index == job.job_modify_index) {
                _ if !matters => {}
                Some(known) => drop(self.jobs.insert(key, known)),
                None => missing.push(key),
            }
            // Its ID has been read: it is in the list.
            let _ = gathered.job(job);
        }
        let calls = missing.into_iter().map(|key| async move { (client.job(&key.0, &key.1).await, key) });
        let answers: Vec<_> = futures::stream::iter(calls.collect::<Vec<_>>()).buffer_unordered(CALLS).collect().await;
        for (answer, key) in answers {
            // What its tasks ask for is then taken to be what those that are there hold, and that is said.
            if let Ok(job) = answer {
                self.jobs.insert(key, job);
            }
        }
        for job in self.jobs.values() {
            let _ = gathered.job(job.clone());
        }
    }
}

/// A node without what nobody looks at, which is most of it.
fn slim(mut node: Node) -> Node {
    node.attributes.retain(|name, _| translate::names_a_machine(name));
    node.events.retain(|event| event.message == translate::REGISTERED);
    node
}

fn skipped<T>(gathered: &mut Gathered, listed: &Listed<T>, kind: object::Kind) {
    listed.skipped.iter().for_each(|reason| gathered.misread(kind, reason.clone()));
}

/// The names of the nodes in a reading.
pub(super) fn nodes(sight: &Sight) -> impl Iterator<Item = &headroom_core::snapshot::Node> {
    use headroom_core::snapshot::Change;
    sight.changes.iter().filter_map(|change| match change {
        Change::Node(node) => Some(&**node),
        _ => None,
    })
}
