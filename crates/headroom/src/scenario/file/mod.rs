//! The declarations: every key of a scenario file, once. The groups are those of the configuration file.

mod event;
mod life;
mod machine;
mod pod;
mod time;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_core::policy::{RunsOn, Strategy};
use headroom_core::pricing::PriceEntry;
use headroom_core::quantity::Money;
use headroom_core::snapshot::Labels;
use headroom_sim::scenario::{Failover, NodeGroup, NodeType, Placement, Scenario};
use jiff::{SignedDuration, Timestamp};

use crate::config::file::growth::{self, Grows, Growth};
use crate::config::file::{group, on_nomad, overlap, strategy};
use crate::config::kind::{Kind, count, duration, list, map, words};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};
use machine::{Kinds, Machines};

/// The label that names the kind of a machine.
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// The file as it is read: what refers to something else still knows where it stands.
pub(super) struct File {
    start: Timestamp,
    duration: SignedDuration,
    interval: SignedDuration,
    debounce: SignedDuration,
    seed: u32,
    placement: Placement,
    cluster: Option<RunsOn>,
    growth: Growth,
    groups: Vec<group::Draft>,
    node_types: Vec<(Arc<str>, Kinds)>,
    machines: Vec<(Arc<str>, Machines)>,
    daemon_sets: Vec<(Arc<str>, workload::DaemonDraft)>,
    workloads: Vec<(Arc<str>, workload::Draft)>,
    events: Vec<event::Draft>,
}

/// The whole file.
pub(super) fn file() -> Record<File> {
    let record = Record::new("", "The keys at the top of the file.", start)
        .field("start", time::instant(), |file| &mut file.start, "When it starts.")
        .field("duration", duration(time::SECOND), |file| &mut file.duration, "How long it lasts.")
        .field("interval", duration(time::SECOND), |file| &mut file.interval, "The longest time between two rounds.")
        .field(
            "debounce",
            duration(time::SECOND),
            |file| &mut file.debounce,
            "The shortest time between two rounds: changes are gathered for so long.",
        )
        .field("seed", count(0), |file| &mut file.seed, "Fixes every random draw.")
        .field(
            "placement",
            placement(),
            |file| &mut file.placement,
            "Which of the nodes that fit the scheduler takes.",
        )
        .field(
            "cluster",
            cluster(),
            |file| &mut file.cluster,
            "What is pretended: on a Nomad cluster, groups with the strategy `utilization` are pools as well. Left out: \
             `nomad` where a group has `memoryPool` or `cpuPool`, else `kubernetes`.",
        );
    growth::keys(record)
        .required(
            "groups",
            list(group::kind()),
            |file| &mut file.groups,
            "The node groups, written as in the [configuration file](configuration.md#groups); what `cloud` says there \
             does not matter here.",
        )
        .required("nodeTypes", map(machine::node_type()), |file| &mut file.node_types, "Kinds of machines by name.")
        .required(
            "machines",
            map(machine::machines()),
            |file| &mut file.machines,
            "What the simulated cloud has for each group, by its name.",
        )
        .field("daemonSets", map(workload::daemon_set()), |file| &mut file.daemon_sets, "DaemonSets by name.")
        .field("workloads", map(workload::workload()), |file| &mut file.workloads, "Where pods come from, by name.")
        .field("events", list(event::event()), |file| &mut file.events, "What goes wrong, or is done by somebody else.")
        .check(&["groups"], |file, _, problems| overlap::check(&file.groups, problems))
        .check(&["cluster", "groups"], |file, _, problems| {
            if let Some(cluster) = file.cluster {
                strategy::check(cluster, &file.groups, problems);
            }
        })
        .check(&["interval", "debounce"], |file, at, problems| {
            if file.debounce > file.interval {
                let message = "`debounce` is longer than `interval`";
                problems.add(Problem::at(at.written("debounce", "interval"), message, "make it at most `interval`"));
            }
        })
        .check(&["groups", "nodeTypes", "machines", "events"], check_names)
}

impl Grows for File {
    fn growth(&mut self) -> &mut Growth {
        &mut self.growth
    }

    fn with_groups(&self) -> (&Growth, &[group::Draft]) {
        (&self.growth, &self.groups)
    }
}

impl File {
    /// The scenario, once it is known to have no error.
    pub(super) fn scenario(self) -> Scenario {
        let mut policy = self.growth.policy(false, self.groups);
        let has_pools = policy.groups.iter().any(|group| group.strategy.is_pool());
        if self.cluster.unwrap_or(if has_pools { RunsOn::Nomad } else { RunsOn::Kubernetes }) == RunsOn::Nomad {
            on_nomad(&mut policy);
        }
        let named = |(name, kind): (Arc<str>, Kinds)| {
            let Kinds { node_type, labels, taints } = kind;
            (Arc::clone(&name), (Arc::new(NodeType { name, ..node_type }), labels, taints))
        };
        let prices = self.node_types.iter().filter(|(_, kind)| kind.node_type.price > Money(0));
        let prices = prices.map(|(name, kind)| PriceEntry {
            instance_type: (&**name).into(),
            zone: None,
            capacity_type: None,
            price: kind.node_type.price,
        });
        if policy.groups.iter().any(|group| matches!(group.strategy, Strategy::Pending(_))) {
            // What the file states wins over what the simulated cloud charges.
            let mut known: Vec<PriceEntry> = std::mem::take(&mut policy.pending.prices.catalogue).into();
            let stated: BTreeSet<_> = known.iter().map(|entry| entry.instance_type.clone()).collect();
            known.extend(prices.filter(|entry| !stated.contains(&entry.instance_type)));
            policy.pending.prices.catalogue = known.into();
        }
        let kinds: BTreeMap<_, _> = self.node_types.into_iter().map(named).collect();
        let machines = |(name, machines): (Arc<str>, Machines)| {
            let Machines { node_type, group, stock, failover, .. } = machines;
            let own = policy.group(&name);
            let labelled = |kind: &Arc<str>| {
                let (node_type, labels, taints) = kinds.get(kind).cloned().unwrap_or_default();
                let selected = own.into_iter().flat_map(|group| group.select.labels.iter());
                let all = [(INSTANCE_TYPE, &*node_type.name)].into_iter().chain(labels.iter());
                let all: Labels = all.chain(group.labels.iter()).chain(selected).collect();
                (node_type, all, taints)
            };
            let (node_type, labels, taints) = labelled(&node_type);
            let failovers = failover.iter().map(labelled);
            let failovers = failovers.map(|(node_type, labels, _)| Failover { node_type, labels }).collect();
            let taints = taints.into_iter().chain(group.taints.iter().cloned()).collect();
            let stock = stock.map(|points| points.schedule(false));
            let measures_cpu = own.is_some_and(|group| matches!(group.strategy, Strategy::CpuPool(_)));
            NodeGroup { name, node_type, labels, failovers, taints, stock, measures_cpu, ..group }
        };
        Scenario {
            start: self.start,
            duration: self.duration,
            interval: self.interval,
            debounce: self.debounce,
            every_round: false,
            seed: u64::from(self.seed),
            placement: self.placement,
            groups: self.machines.into_iter().map(machines).collect(),
            daemon_sets: self.daemon_sets.into_iter().map(|(name, draft)| draft.named(&name)).collect(),
            workloads: self.workloads.into_iter().map(|(name, draft)| draft.named(&name)).collect(),
            incidents: self.events.into_iter().filter_map(event::Draft::incident).collect(),
            policy,
        }
    }
}

fn start() -> File {
    File {
        // A Monday.
        start: Timestamp::constant(1_767_571_200, 0),
        duration: SignedDuration::from_hours(24),
        interval: SignedDuration::from_secs(10),
        debounce: time::SECOND,
        seed: 1,
        placement: Placement::LeastAllocated,
        cluster: None,
        growth: Growth::default(),
        groups: Vec::new(),
        node_types: Vec::new(),
        machines: Vec::new(),
        daemon_sets: Vec::new(),
        workloads: Vec::new(),
        events: Vec::new(),
    }
}

fn cluster() -> Kind<Option<RunsOn>> {
    words(&[("kubernetes", RunsOn::Kubernetes, "a Kubernetes cluster"), ("nomad", RunsOn::Nomad, "a Nomad cluster")])
        .map(Some)
}

fn placement() -> Kind<Placement> {
    words(&[
        ("leastAllocated", Placement::LeastAllocated, "the emptiest, as kube-scheduler does by default"),
        ("mostAllocated", Placement::MostAllocated, "the fullest"),
    ])
}

/// Reports names that stand for nothing.
fn check_names(file: &File, at: &Places, problems: &mut Problems) {
    let node_types: Vec<&str> = file.node_types.iter().map(|(name, _)| &**name).collect();
    let groups: Vec<&str> = file.machines.iter().map(|(name, _)| &**name).collect();
    for (_, machines) in &file.machines {
        let named = machines.failover.iter().map(|name| ("failover", name));
        for (key, name) in std::iter::once(("nodeType", &machines.node_type)).chain(named) {
            if !name.is_empty() && !node_types.contains(&&**name) {
                let hint = format!("write one of {}", node_types.join(", "));
                let place = machines.places.of(key);
                problems.add(Problem::at(place, format!("there is no node type `{name}`"), hint));
            }
        }
    }
    for draft in &file.groups {
        let name = &draft.group.name;
        if !name.is_empty() && !groups.contains(&&**name) {
            let message = format!("the group `{name}` has no machines");
            let problem = Problem::at(draft.places.of("name"), message, format!("add `{name}:` to `machines:`"));
            problems.add(problem.also(at.of("machines"), "the machines of each group"));
        }
    }
    file.events.iter().for_each(|event| event.check(&groups, &node_types, problems));
}
