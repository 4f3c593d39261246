//! Carries out plans: every action in a task of its own, so that a slow one holds up nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt;
use headroom_adapters::cloud::{Cloud, CloudError};
use headroom_adapters::cluster::{Cluster, ClusterError};
use headroom_core::plan::{Action, Evict, Planned};
use tokio::task::JoinSet;

use crate::view::words::count;

/// How many calls one task has under way at once.
const CALLS: usize = 16;

/// Carries out actions. One that touches a node, a machine or the size of a group waits for a later plan while another
/// one that touches the same is under way.
pub(super) struct Executor {
    cluster: Arc<dyn Cluster>,
    tasks: JoinSet<Vec<Outcome>>,
    under_way: BTreeSet<Target>,
}

/// What an action touches, and what no two may touch at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Size { group: Arc<str> },
    Node(Arc<str>),
    Machine { group: Arc<str>, provider_id: Box<str> },
}

impl Target {
    fn of(planned: &Planned) -> Self {
        let group = Arc::clone(&planned.group);
        match &planned.action {
            Action::Resize { .. } => Target::Size { group },
            Action::WriteOff { provider_id, .. } => Target::Machine { group, provider_id: provider_id.clone() },
            Action::Untaint { node, .. }
            | Action::Taint { node, .. }
            | Action::Drain { node, .. }
            | Action::Remove { node, .. } => Target::Node(Arc::clone(node)),
        }
    }
}

/// What came of an action.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The action.
    pub(crate) planned: Planned,
    /// Whether it was done; every reason if not, or not completely.
    pub(crate) result: Result<(), Failure>,
}

/// Why an action was not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The cluster did not do it.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The cloud did not do it; one answer may be about several machines.
    #[error(transparent)]
    Cloud(Arc<CloudError>),
    /// The plan was made for a node on which nothing would be lost, and now something would be.
    #[error("{} came to the node after the plan was made, {first} among them", count(*pods, "pod"))]
    NotEmpty {
        /// How many.
        pods: usize,
        /// One of them.
        first: String,
    },
    /// The plan names no machine, so that the cloud cannot be told which one is meant.
    #[error(
        "it is not known which machine of its cloud the node is; hint: on Kubernetes its spec.providerID says it, on Nomad its name or address"
    )]
    NoProviderId,
    /// Some evictions were refused; the next round asks again.
    #[error("{} of {} could not be evicted now: {first}", refused, count(*pods, "pod"))]
    Evictions {
        /// How many.
        refused: usize,
        /// Of how many.
        pods: usize,
        /// The first reason.
        first: ClusterError,
        /// The pods that were evicted.
        evicted: Vec<Evict>,
    },
}

impl From<CloudError> for Failure {
    fn from(error: CloudError) -> Self {
        Failure::Cloud(Arc::new(error))
    }
}

impl Executor {
    pub(super) fn new(cluster: Arc<dyn Cluster>) -> Self {
        Executor { cluster, tasks: JoinSet::new(), under_way: BTreeSet::new() }
    }

    /// Begins with what of `actions` touches nothing that is being touched; `cloud` knows who owns a group's machines.
    /// How many were begun.
    pub(super) fn start<'p>(
        &mut self,
        actions: impl Iterator<Item = &'p Planned>,
        cloud: impl Fn(&str) -> Option<Arc<dyn Cloud>>,
    ) -> usize {
        let mut begun = 0;
        let mut removals: BTreeMap<Arc<str>, Vec<Planned>> = BTreeMap::new();
        for planned in actions {
            // Of two actions of one plan that touch the same, the second waits for the next plan.
            if !self.under_way.insert(Target::of(planned)) {
                continue;
            }
            begun += 1;
            let planned = planned.clone();
            if let Action::Remove { .. } = planned.action {
                removals.entry(Arc::clone(&planned.group)).or_default().push(planned);
                continue;
            }
            let (cluster, cloud) = (Arc::clone(&self.cluster), cloud(&planned.group));
            self.tasks.spawn(async move {
                let result = one(&*cluster, cloud.as_deref(), &planned).await;
                vec![Outcome { planned, result }]
            });
        }
        for (group, planned) in removals {
            self.tasks.spawn(remove(Arc::clone(&self.cluster), cloud(&group), planned));
        }
        begun
    }

    /// Whether an action has to wait, since another one that touches the same is under way.
    pub(super) fn holds(&self, planned: &Planned) -> bool {
        self.under_way.contains(&Target::of(planned))
    }

    /// What has ended next; None when nothing is under way.
    pub(super) async fn next(&mut self) -> Option<Vec<Outcome>> {
        let outcomes = match self.tasks.join_next().await? {
            Ok(outcomes) => outcomes,
            Err(_) => {
                // A task that broke off cannot say what it touched. What the others touch is known again by the next
                // plan, and actions set absolute targets, so that asking twice does no harm.
                self.under_way.clear();
                return Some(Vec::new());
            }
        };
        for outcome in &outcomes {
            self.under_way.remove(&Target::of(&outcome.planned));
        }
        Some(outcomes)
    }

    /// Whether anything is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }
}

async fn one(cluster: &dyn Cluster, cloud: Option<&dyn Cloud>, planned: &Planned) -> Result<(), Failure> {
    let group = &planned.group;
    let cloud = || cloud.ok_or_else(|| CloudError::NoSuchGroup { group: group.to_string() });
    match &planned.action {
        Action::Resize { from, to } => cloud()?.resize(group, *from, *to).await?,
        Action::WriteOff { provider_id, replace } => {
            let cloud = cloud()?;
            let machines = [&**provider_id];
            let stay = if *replace { cloud.replace(group, &machines) } else { cloud.remove(group, &machines) };
            if let Some(stays) = stay.await?.into_iter().next() {
                return Err(stays.reason.into());
            }
        }
        Action::Taint { node, taint } => cluster.taint(node, taint).await?,
        Action::Untaint { node, key } => cluster.untaint(node, key).await?,
        Action::Drain { node, pods, until } => {
            let refused = cluster.drain(node, pods, *until).await?;
            let stays = |pod: &&Evict| refused.iter().any(|refused| refused.pod == **pod);
            let evicted: Vec<Evict> = pods.iter().filter(|pod| !stays(pod)).cloned().collect();
            let number = refused.len();
            if let Some(first) = refused.into_iter().next() {
                return Err(Failure::Evictions { refused: number, pods: pods.len(), first: first.reason, evicted });
            }
        }
        // Together with the others of its group.
        Action::Remove { .. } => {}
    }
    Ok(())
}

/// Removes machines of one group with one call to their cloud. Each node is read afresh before: one that would lose more
/// than the plan says stays.
async fn remove(cluster: Arc<dyn Cluster>, cloud: Option<Arc<dyn Cloud>>, planned: Vec<Planned>) -> Vec<Outcome> {
    let checks = planned.into_iter().map(|planned| {
        let cluster = &*cluster;
        async move { (machine(cluster, &planned).await, planned) }
    });
    let checks: Vec<_> = checks.collect();
    let checked: Vec<_> = futures::stream::iter(checks).buffered(CALLS).collect().await;
    let machines: Vec<&str> = checked.iter().filter_map(|(machine, _)| machine.as_deref().ok()).collect();
    if let Some(cloud) = &cloud {
        let nodes =
            checked.iter().filter_map(|(machine, planned)| Some((machine.as_deref().ok()?, planned.action.node()?)));
        nodes.for_each(|(machine, node)| cloud.is_node(machine, node));
    }
    let group = checked.first().map(|(_, planned)| Arc::clone(&planned.group)).unwrap_or_default();
    let stay = match cloud {
        _ if machines.is_empty() => Ok(Vec::new()),
        Some(cloud) => cloud.remove(&group, &machines).await,
        None => Err(CloudError::NoSuchGroup { group: group.to_string() }),
    };
    let stay = stay.map_err(Arc::new).map(|stay| {
        let stay = stay.into_iter().map(|stays| (stays.machine, Arc::new(stays.reason)));
        stay.collect::<BTreeMap<String, Arc<CloudError>>>()
    });
    let ends = checked.into_iter().map(|(machine, planned)| {
        let (cluster, stay) = (&*cluster, &stay);
        async move {
            let error = |machine: &str| stay.as_ref().map_or_else(Some, |stay| stay.get(machine)).map(Arc::clone);
            let result = match (machine, planned.action.node()) {
                (Err(failure), _) => Err(failure),
                (Ok(machine), node) => match (error(&machine), node) {
                    (Some(error), _) => Err(Failure::Cloud(error)),
                    (None, Some(node)) => cluster.forget(node).await.map_err(Failure::from),
                    (None, None) => Ok(()),
                },
            };
            Outcome { planned, result }
        }
    });
    let ends: Vec<_> = ends.collect();
    futures::stream::iter(ends).buffered(CALLS).collect().await
}

/// The machine of a node that is to be removed, once it is clear that nothing is lost but what the plan says.
async fn machine(cluster: &dyn Cluster, planned: &Planned) -> Result<Box<str>, Failure> {
    let (provider_id, pods) = match &planned.action {
        Action::Remove { provider_id, pods, .. } => (provider_id.clone(), pods.as_slice()),
        _ => (None, [].as_slice()),
    };
    let machine = provider_id.ok_or(Failure::NoProviderId)?;
    let lost = match planned.action.node() {
        Some(node) => cluster.lost_with(node).await?,
        None => Vec::new(),
    };
    let mut more = lost.into_iter().filter(|pod| !pods.contains(pod));
    match more.next() {
        Some(first) => Err(Failure::NotEmpty { pods: 1 + more.count(), first }),
        None => Ok(machine),
    }
}

#[cfg(test)]
mod tests;
