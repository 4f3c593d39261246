//! Objects of one cluster, gathered in any order: some mean something only together with others.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::policy::Percent;
use headroom_core::quantity::Resources;
use headroom_core::snapshot::{Change, Coverage, Kind, Node, PodKind, SharedSpec};
use jiff::Timestamp;

use super::allocation::spec;
use super::held::{Held, Likeness};
use super::tasks::{Tasks, Waiting, WaitingByGroup};
use super::{Asks, Malformed, busy, namespace_of, node, resources};
use crate::cluster::nomad::object::{self, Allocation, ClientStats, Evaluation, Job, JobSummary};
use crate::cluster::nomad::rights::Rights;

/// A job by its namespace and ID.
pub(super) type JobKey = (String, String);

/// So many allocations of a group that wait are looked at, since each takes memory. More are most likely a summary gone
/// wrong.
const MOST_WAITING: u32 = 100_000;

/// Objects of one cluster.
#[derive(Debug, Default)]
pub struct Gathered {
    nodes: BTreeMap<String, Arc<object::Node>>,
    allocations: Held,
    jobs: BTreeMap<JobKey, Arc<Job>>,
    summaries: BTreeMap<JobKey, JobSummary>,
    evaluations: BTreeMap<String, Evaluation>,
    skipped_nodes: bool,
    skipped_allocations: bool,
    /// By the ID of the node.
    busy: BTreeMap<Arc<str>, Percent>,
    /// What could not be understood.
    misread: Vec<(String, String)>,
    /// The lists were read to their ends, by somebody with these rights.
    listed: Option<Rights>,
}

/// What the objects say together.
#[derive(Debug, Default)]
pub struct Sight {
    /// By name.
    pub nodes: Vec<Node>,
    /// What runs on them and what waits.
    pub tasks: Tasks,
    /// How much of each kind is known.
    pub coverage: Vec<(Kind, Coverage)>,
    /// The object and what is wrong with it, or with what is known of it.
    pub warnings: Vec<(String, String)>,
    /// The latest instant that an object mentions.
    pub newest: Option<Timestamp>,
}

impl Sight {
    /// All of it, for an empty snapshot.
    pub fn changes(self) -> Vec<Change> {
        let nodes = self.nodes.into_iter().map(|node| Change::Node(Box::new(node)));
        let coverage = self.coverage.into_iter().map(|(kind, coverage)| Change::Coverage(kind, coverage));
        nodes.chain(coverage).chain(self.tasks.changes_since(&Tasks::default())).collect()
    }
}

impl Gathered {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.allocations.is_empty()
            && self.jobs.is_empty()
            && !self.skipped_nodes
            && !self.skipped_allocations
    }

    /// Takes in a node. What lists leave out stays as it was known.
    pub fn node(&mut self, object: object::Node) -> Result<(), Malformed> {
        self.shared_node(Arc::new(object))
    }

    /// The same of one that somebody keeps.
    pub fn shared_node(&mut self, mut object: Arc<object::Node>) -> Result<(), Malformed> {
        node(&object)?;
        if let Some(known) = self.nodes.remove(&object.id) {
            let (known, object) = (Arc::unwrap_or_clone(known), Arc::make_mut(&mut object));
            object.meta = object.meta.take().or(known.meta);
            object.node_resources = object.node_resources.take().or(known.node_resources);
            if object.attributes.is_empty() {
                object.attributes = known.attributes;
            }
            if object.events.is_empty() {
                (object.events, object.status_updated_at) = (known.events, known.status_updated_at);
            }
        }
        self.nodes.insert(object.id.clone(), object);
        Ok(())
    }

    /// Takes in an allocation.
    pub fn allocation(&mut self, mut object: Allocation) -> Result<(), Malformed> {
        if object.id.is_empty() {
            return Err(Malformed::NoId);
        }
        let job = object.job.take();
        if object.job_type.is_none() {
            object.job_type = job.as_ref().map(|job| job.kind.clone());
        }
        let key = job.is_some().then(|| key(&object.namespace, &object.job_id));
        self.allocations.add(object)?;
        if let (Some(key), Some(job)) = (key, job) {
            self.jobs.entry(key).or_insert_with(|| Arc::new(job));
        }
        Ok(())
    }

    /// Takes in a job.
    pub fn job(&mut self, object: Job) -> Result<(), Malformed> {
        self.shared_job(Arc::new(object))
    }

    /// The same of one that somebody keeps.
    pub fn shared_job(&mut self, mut object: Arc<Job>) -> Result<(), Malformed> {
        if object.id.is_empty() {
            return Err(Malformed::NoId);
        }
        if object.job_summary.is_some()
            && let object = Arc::make_mut(&mut object)
            && let Some(summary) = object.job_summary.take()
        {
            if object.namespace.is_empty() {
                object.namespace.clone_from(&summary.namespace);
            }
            self.summary(JobSummary { job_id: object.id.clone(), namespace: object.namespace.clone(), ..summary })?;
        }
        let key = key(&object.namespace, &object.id);
        // Lists have no groups and no constraints.
        if object.task_groups.is_some() || !self.jobs.contains_key(&key) {
            self.jobs.insert(key, object);
        }
        Ok(())
    }

    /// Takes in how many allocations a job has.
    pub fn summary(&mut self, object: JobSummary) -> Result<(), Malformed> {
        if object.job_id.is_empty() {
            return Err(Malformed::NoId);
        }
        self.summaries.insert(key(&object.namespace, &object.job_id), object);
        Ok(())
    }

    /// Takes in an evaluation.
    pub fn evaluation(&mut self, object: Evaluation) -> Result<(), Malformed> {
        if object.id.is_empty() {
            return Err(Malformed::NoId);
        }
        self.evaluations.insert(object.id.clone(), object);
        Ok(())
    }

    /// An object of this kind was there and could not be understood.
    pub fn skipped(&mut self, kind: object::Kind) {
        self.skipped_nodes |= kind == object::Kind::Node;
        self.skipped_allocations |= kind == object::Kind::Allocation;
    }

    /// An object of this kind was there and could not be understood, for this reason.
    pub fn misread(&mut self, kind: object::Kind, reason: String) {
        self.skipped(kind);
        self.misread.push((format!("a {}", kind.name()), format!("is left out: {reason}")));
    }

    /// The lists of nodes, allocations and jobs were read to their ends, by somebody with these rights: what is not in them
    /// is not there.
    pub fn listed(&mut self, rights: Rights) {
        self.listed = Some(rights);
    }

    /// How busy the cpus of a node are.
    pub fn busy(&mut self, node: &Arc<str>, busy: Percent) {
        self.busy.insert(Arc::clone(node), busy);
    }

    /// Takes in what the client of a node says.
    pub fn stats(&mut self, object: &ClientStats) -> Result<(), Malformed> {
        let node = object.node_id.as_deref().filter(|id| !id.is_empty()).ok_or(Malformed::NoNode)?;
        if let Some(busy) = busy(object) {
            self.busy(&Arc::from(node), busy);
        }
        Ok(())
    }

    /// What all of it says together.
    pub fn sight(mut self) -> Sight {
        let mut sight = Sight { newest: self.newest(), ..Sight::default() };
        sight.warnings.append(&mut self.misread);
        let nodes = self.nodes.values().filter_map(|object| node(object).ok());
        let measured = |node: Node| Node { busy: self.busy.get(&node.name).copied(), ..node };
        sight.nodes.extend(nodes.map(measured));
        self.warn_of_nodes(&mut sight);
        let incomplete = self.warn_of_allocations(&mut sight);
        let waiting = self.waiting(&mut sight);
        let coverage = |seen: bool, partial: bool| match (seen, partial) {
            (false, _) => Coverage::Absent,
            (true, true) => Coverage::Partial,
            (true, false) => Coverage::Complete,
        };
        let (listed, all) = (self.listed.is_some(), self.listed == Some(Rights::All));
        let some = self.listed == Some(Rights::Some);
        for kind in Kind::ALL {
            let coverage = match kind {
                Kind::Nodes => coverage(listed || !self.nodes.is_empty(), self.skipped_nodes),
                Kind::Pods => {
                    coverage(all || !self.allocations.is_empty(), self.skipped_allocations || incomplete || some)
                }
                // Nomad has none of these.
                _ => Coverage::Complete,
            };
            sight.coverage.push((kind, coverage));
        }
        // What is equal is looked at once: there may be many thousands.
        let specs = self.allocations.likenesses().map(|like| self.spec(like)).collect();
        Sight { tasks: self.allocations.with(specs, waiting), ..sight }
    }

    fn spec(&self, like: &Likeness) -> SharedSpec {
        let job = self.jobs.get(&like.job);
        let job_type = like.job_type.as_deref().or(job.map(|job| &*job.kind)).unwrap_or("service");
        let asks = job.map(|job| asks(job, &like.group).terms()).unwrap_or_default();
        SharedSpec::new(spec(&like.job.0, &like.job.1, job_type, like.holds.clone().unwrap_or_default(), asks))
    }

    fn warn_of_nodes(&self, sight: &mut Sight) {
        for object in self.nodes.values() {
            if object.node_resources.is_none() {
                let problem = "what it has is not known; hint: read /v1/nodes?resources=true";
                sight.warnings.push((format!("node {}", object.id), problem.to_owned()));
            }
        }
    }

    /// Warns of allocations that are missing or say too little, and answers whether there are some.
    fn warn_of_allocations(&self, sight: &mut Sight) -> bool {
        if self.listed == Some(Rights::Some) {
            let problem = "the token may not read those of every namespace; hint: give it a policy with namespace \"*\" { \
                           capabilities = [\"list-jobs\", \"read-job\"] }";
            sight.warnings.push(("allocations".to_owned(), problem.to_owned()));
        } else if self.allocations.is_empty() && self.listed != Some(Rights::All) {
            let problem = "there is none, which may mean that the token may not read them; hint: read \
                           /v1/allocations?resources=true&namespace=* with one that has read-job in every namespace";
            sight.warnings.push(("allocations".to_owned(), problem.to_owned()));
        }
        let silent = self.allocations.silent();
        if silent > 0 {
            let problem =
                format!("of {silent} it is not known what they hold; hint: read /v1/allocations?resources=true");
            sight.warnings.push(("allocations".to_owned(), problem));
        }
        let seen = self.allocations.by_job();
        let mut missing = false;
        let is_list = self.listed.is_some() || !self.allocations.is_empty();
        for (key, summary) in self.summaries.iter().filter(|_| is_list) {
            let groups = summary.summary.values();
            let expected =
                groups.fold(0_u32, |sum, group| sum.saturating_add(group.running).saturating_add(group.starting));
            let seen = seen.get(key).copied().unwrap_or(0);
            if seen < expected {
                let problem = format!(
                    "has {expected} allocations, {seen} are here; hint: read /v1/allocations?namespace=* \
                                       with a token that may read all jobs"
                );
                sight.warnings.push((format!("job {}/{}", key.0, key.1), problem));
                missing = true;
            }
        }
        silent > 0 || missing
    }

    /// The allocations that wait for a node.
    fn waiting(&self, sight: &mut Sight) -> WaitingByGroup {
        let mut waiting = WaitingByGroup::new();
        let blocked = self.blocked();
        for ((namespace, id), groups) in self.queued(&blocked) {
            let job = self.jobs.get(&(namespace.clone(), id.clone()));
            let job_type = job.map_or("service", |job| &*job.kind);
            if job.is_some_and(|job| job.stop || job.status == "dead") {
                continue;
            }
            for (group, count) in groups.into_iter().filter(|(_, count)| *count > 0) {
                let object = || format!("job {namespace}/{id}");
                let Some(requests) = self.size(&namespace, &id, &group) else {
                    let problem = format!(
                        "{count} allocations of group {group} wait, and nobody knows how large they are; hint: read /v1/job/{id}"
                    );
                    sight.warnings.push((object(), problem));
                    continue;
                };
                let asks = self.asks(&blocked, &(namespace.clone(), id.clone()), &group);
                for constraint in &asks.left_aside {
                    sight.warnings.push((object(), format!("constraint {constraint} is left aside")));
                }
                let spec = SharedSpec::new(spec(&namespace, &id, job_type, requests, asks.terms()));
                // A system job waits for nodes that are there, and more of them would not help it.
                if spec.kind != PodKind::Workload {
                    continue;
                }
                if count > MOST_WAITING {
                    let problem = format!("{count} allocations of group {group} wait, of which {MOST_WAITING} count");
                    sight.warnings.push((object(), problem));
                }
                let count = count.min(MOST_WAITING);
                waiting.insert((namespace.clone(), format!("{id}.{group}")), Waiting { spec, count });
            }
        }
        waiting
    }

    /// How many allocations wait, by job and group: as its summary says, or else the newest evaluation that is blocked.
    fn queued(&self, blocked: &BTreeMap<JobKey, &Evaluation>) -> BTreeMap<JobKey, BTreeMap<String, u32>> {
        let mut queued: BTreeMap<JobKey, BTreeMap<String, u32>> =
            blocked.iter().map(|(key, object)| (key.clone(), object.queued_allocations.clone())).collect();
        for (key, summary) in &self.summaries {
            let groups = summary.summary.iter().map(|(group, summary)| (group.clone(), summary.queued));
            queued.insert(key.clone(), groups.collect());
        }
        queued
    }

    /// The evaluation that left allocations of each job waiting: that before the newest one that is blocked, which itself
    /// says nothing.
    fn blocked(&self) -> BTreeMap<JobKey, &Evaluation> {
        let mut blocked: BTreeMap<JobKey, &Evaluation> = BTreeMap::new();
        for object in self.evaluations.values().filter(|object| object.status == "blocked") {
            let known = blocked.entry(key(&object.namespace, &object.job_id)).or_insert(object);
            if object.modify_index > known.modify_index {
                *known = object;
            }
        }
        for object in blocked.values_mut().filter(|object| object.queued_allocations.is_empty()) {
            *object = self.evaluations.get(&object.previous_eval).unwrap_or(object);
        }
        blocked
    }

    /// What a group asks of its nodes: as its job says, or else by the classes of which no node suited it.
    fn asks(&self, blocked: &BTreeMap<JobKey, &Evaluation>, key: &JobKey, group: &str) -> Asks {
        if let Some(job) = self.jobs.get(key).filter(|job| job.task_groups.is_some()) {
            return asks(job, group);
        }
        let mut asks = self.jobs.get(key).map(|job| asks(job, group)).unwrap_or_default();
        if let Some(failed) = blocked.get(key).and_then(|object| object.failed.get(group)) {
            let classes = failed.class_filtered.keys().filter(|class| !failed.class_exhausted.contains_key(*class));
            asks.not_of_classes(classes.map(|class| (**class).into()).collect());
        }
        asks
    }

    /// What one allocation of a group holds: as its job says, or as one that was there does.
    fn size(&self, namespace: &str, job: &str, group: &str) -> Option<Resources> {
        let known = self.jobs.get(&key(namespace, job)).and_then(|job| job.task_groups.as_ref());
        let known = known.and_then(|groups| groups.iter().find(|known| known.name == *group));
        if let Some(known) = known {
            return resources::of_group(known).ok();
        }
        self.allocations.size(&key(namespace, job), group).cloned()
    }

    fn newest(&self) -> Option<Timestamp> {
        let nodes = self.nodes.values().flat_map(|object| {
            let events = object.events.iter().filter_map(|event| event.timestamp.parse().ok());
            events.chain(Timestamp::from_second(object.status_updated_at).ok())
        });
        nodes.chain(self.allocations.newest()).max().filter(|newest| *newest > Timestamp::UNIX_EPOCH)
    }
}

pub(super) fn key(namespace: &str, job: &str) -> JobKey {
    (namespace_of(namespace).to_owned(), job.to_owned())
}

fn asks(job: &Job, group: &str) -> Asks {
    let groups = job.task_groups.as_ref();
    Asks::of(job, groups.and_then(|groups| groups.iter().find(|known| known.name == *group)))
}
