//! Reads a cluster: lists every time, and whole nodes and jobs when they have changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use headroom_core::policy::Selection;
use jiff::Timestamp;

use super::busy::{Busy, Meter};
use super::client::{CallError, Client, Listed};
use super::object::{self, Allocation, Job, Node};
use super::rights::rights;
use super::translate::{self, Gathered, Sight};
use super::watch::LISTS;

/// Whole nodes and jobs that are asked for at once.
const CALLS: usize = 16;

/// What is asked for again only when it has changed.
#[derive(Debug, Default)]
pub(super) struct Reader {
    nodes: Whole<String, Node>,
    jobs: Whole<(String, String), Job>,
    busy: Busy,
}

/// Whole objects of a list.
#[derive(Debug)]
struct Whole<K, T> {
    known: BTreeMap<K, Arc<T>>,
    /// The number of the state that the list was of.
    index: u64,
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
pub struct Unread {
    what: String,
    source: CallError,
}

impl Reader {
    /// Reads everything. How busy a server is is asked of `meter` where one of `measured` selects it.
    pub(super) async fn read(
        &mut self,
        client: &Client,
        measured: &[Selection],
        meter: &Meter,
    ) -> Result<Reading, Unread> {
        let at = Timestamp::now();
        let unread = |what: &str| {
            let what = what.to_owned();
            move |source| Unread { what, source }
        };
        let mut gathered = Gathered::default();
        // An allocation is translated as soon as its text is there: there may be very many.
        let add = |object: Result<Allocation, serde_json::Error>| {
            let added = object.map_err(|error| error.to_string());
            let added = added.and_then(|object| gathered.allocation(object).map_err(|error| error.to_string()));
            added.unwrap_or_else(|reason| gathered.misread(object::Kind::Allocation, reason));
        };
        let (nodes, allocations, jobs, rights) = tokio::join!(
            whole_nodes(&mut self.nodes, client),
            client.allocations(add),
            whole_jobs(&mut self.jobs, client),
            rights(client)
        );
        let misread = nodes.map_err(unread("the list of nodes"))?;
        allocations.map_err(unread("the list of allocations"))?;
        let listed = jobs.map_err(unread("the list of jobs"))?;
        gathered.listed(rights.map_err(unread("what the token may see"))?);
        misread.into_iter().for_each(|reason| gathered.misread(object::Kind::Node, reason));
        for node in self.nodes.known.values() {
            if let Err(error) = gathered.shared_node(Arc::clone(node)) {
                gathered.misread(object::Kind::Node, format!("node {}: {error}", node.id));
            }
        }
        for job in listed.into_iter().map(Arc::new).chain(self.jobs.known.values().map(Arc::clone)) {
            // Its ID has been read: it is in the list.
            let _ = gathered.shared_job(job);
        }
        let mut warnings = Vec::new();
        if !measured.is_empty() {
            let is_measured = |node: &headroom_core::snapshot::Node| measured.iter().any(|select| select.matches(node));
            let ready = self.nodes.known.values().filter(|node| node.status == "ready");
            let nodes: Vec<_> = ready.filter_map(|node| translate::node(node).ok()).filter(is_measured).collect();
            self.busy.ask(meter, client, &nodes).await;
            for (node, busy) in self.busy.at(meter, Timestamp::now()) {
                gathered.busy(node, busy);
            }
            warnings.extend(self.busy.warnings().map(|problem| ("cpu usage".to_owned(), problem)));
        }
        let mut sight = gathered.sight();
        sight.warnings.append(&mut warnings);
        Ok(Reading { sight, at })
    }
}

impl<K: Ord, T> Whole<K, T> {
    /// Takes out what is known when the list is of the state with this number. The number goes back when a server was
    /// restored: by what their numbers say nothing is known of objects from then on.
    fn at(&mut self, index: u64) -> BTreeMap<K, Arc<T>> {
        let known = std::mem::take(&mut self.known);
        if index < std::mem::replace(&mut self.index, index) { BTreeMap::new() } else { known }
    }
}

impl<K, T> Default for Whole<K, T> {
    fn default() -> Self {
        Whole { known: BTreeMap::new(), index: 0 }
    }
}

/// Whether the lists that are followed may be read, so that whoever waits for an answer knows at once what is wrong.
pub async fn readable(client: &Client) -> Result<(), Unread> {
    for list in LISTS {
        let asked = client.wait_for(list, 0, Duration::ZERO).await;
        asked.map_err(|source| Unread { what: format!("the list of {list}"), source })?;
    }
    Ok(())
}

/// Brings the whole nodes up to date, and answers why some cannot be understood. Lists leave out the meta attributes, by which
/// a node is in a pool.
async fn whole_nodes(whole: &mut Whole<String, Node>, client: &Client) -> Result<Vec<String>, CallError> {
    let Listed { objects, skipped: mut misread, index } = client.nodes().await?;
    let mut before = whole.at(index);
    let known = &mut whole.known;
    let mut changed = Vec::new();
    for node in objects {
        match before.remove(&node.id) {
            Some(same) if same.modify_index == node.modify_index && node.modify_index > 0 => {
                known.insert(same.id.clone(), same);
            }
            _ => changed.push(node.id),
        }
    }
    // Each call is made when its turn has come: thousands that wait would take much memory.
    let calls = futures::stream::iter(changed).map(|id| {
        let client = client.clone();
        async move { (client.node(&id).await, id) }
    });
    let mut answers = calls.buffer_unordered(CALLS);
    while let Some((answer, id)) = answers.next().await {
        match answer {
            Ok(found) => drop(known.insert(id, Arc::new(slim(found)))),
            // It has gone since.
            Err(CallError::Refused { status: 404, .. }) => {}
            Err(error) => misread.push(format!("node {id}: {error}")),
        }
    }
    Ok(misread)
}

/// Brings the whole jobs up to date, and answers the list, which leaves out what the groups of a job ask for.
async fn whole_jobs(whole: &mut Whole<(String, String), Job>, client: &Client) -> Result<Vec<Job>, CallError> {
    let Listed { objects: mut listed, index, .. } = client.jobs().await?;
    let mut before = whole.at(index);
    let known = &mut whole.known;
    let mut missing = Vec::new();
    for job in &mut listed {
        if job.namespace.is_empty() {
            job.namespace = job.job_summary.as_ref().map(|summary| summary.namespace.clone()).unwrap_or_default();
        }
        let key = (job.namespace.clone(), job.id.clone());
        // Tasks of system jobs go with their nodes, and those of others have ended.
        let matters = job.status != "dead" && !job.stop && !matches!(&*job.kind, "system" | "sysbatch");
        match before.remove(&key).filter(|known| known.job_modify_index == job.job_modify_index) {
            _ if !matters => {}
            Some(same) => drop(known.insert(key, same)),
            None => missing.push(key),
        }
    }
    let calls = futures::stream::iter(missing).map(|key| {
        let client = client.clone();
        async move { (client.job(&key.0, &key.1).await, key) }
    });
    let mut answers = calls.buffer_unordered(CALLS);
    while let Some((answer, key)) = answers.next().await {
        // What its tasks ask for is then taken to be what those that are there hold, and that is said.
        if let Ok(job) = answer {
            known.insert(key, Arc::new(job));
        }
    }
    Ok(listed)
}

/// A node without what nobody looks at, which is most of it.
fn slim(mut node: Node) -> Node {
    node.attributes.retain(|name, _| translate::names_a_machine(name));
    node.events.retain(|event| event.message == translate::REGISTERED);
    node
}
