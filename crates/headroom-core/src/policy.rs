//! What is wanted: one value for each group, with every default filled in.

mod heed;
mod pool;
mod scale_down;
mod slack;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use heed::Setting;
pub use pool::{CpuPool, Hardware, MemoryPool, ServerLife};
pub use scale_down::{AtLeast, Budget, Consolidation, Removal, ScaleDown, ScaleDownPolicy, Share, Window};
pub use slack::{Basis, Largest, SlackPolicy, Spare};

use crate::backoff;
use crate::balance::Similarity;
use crate::expander::Chain;
use crate::expander::price::Formula;
use crate::limits::Limits;
use crate::pricing::PriceSources;
use crate::quantity::Money;
use crate::snapshot::{Effect, Labels, Node, Template};

/// What the user wants. The configuration file becomes one of these; so does a test's fixture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Policy {
    /// Decide and report for every group, and do nothing.
    pub dry_run: bool,
    /// In the order of the configuration; names are unique.
    pub groups: Vec<Group>,
    /// What all groups with the strategy `pending` share.
    pub pending: PendingPolicy,
    /// How nodes of `pending` groups go; None: they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_down: Option<ScaleDownPolicy>,
    /// The spare room that the cluster keeps.
    pub slack: SlackPolicy,
}

/// How waiting pods are turned into machines: settings that all `pending` groups share, since they are decided together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PendingPolicy {
    /// How options are compared.
    pub expander: Chain,
    /// The constants of the price score.
    pub price: Formula,
    /// What machine types cost.
    pub prices: PriceSources,
    /// Limits of the whole cluster.
    pub limits: Limits,
    /// How alike groups must be to share new nodes; None: none do.
    pub balance: Option<Similarity>,
    /// How long a group is left alone after a failure.
    pub backoff: backoff::Settings,
    /// Pods of a lower priority neither grow a group nor hold a node (Cluster Autoscaler's
    /// `expendable-pods-priority-cutoff`).
    pub expendable_below: i32,
}

impl Default for PendingPolicy {
    fn default() -> Self {
        PendingPolicy {
            expander: Chain::default(),
            price: Formula::default(),
            prices: PriceSources::default(),
            limits: Limits::default(),
            balance: Some(Similarity::default()),
            backoff: backoff::Settings::default(),
            expendable_below: -10,
        }
    }
}

impl Policy {
    /// The same policy without spare room; None when it keeps none.
    pub fn without_slack(&self) -> Option<Policy> {
        let mut without = Policy { slack: SlackPolicy::default(), ..self.clone() };
        for group in &mut without.groups {
            if let Strategy::Pending(pending) = &mut group.strategy {
                pending.spare = Spare::default();
            }
        }
        let keeps_some = !self.slack.is_off() || without.groups != self.groups;
        keeps_some.then_some(without)
    }

    /// Whether what is decided about `group` is shown and not carried out.
    pub fn only_shows(&self, group: &Group) -> bool {
        self.dry_run || group.mode == Mode::DryRun
    }

    /// The group called `name`.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| &*group.name == name)
    }

    /// On what kind of cluster its groups are. All are on one.
    pub fn runs_on(&self) -> RunsOn {
        self.groups.first().map(|group| group.strategy.runs_on()).unwrap_or_default()
    }
}

/// What Headroom may do to a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Grow and shrink it.
    #[default]
    Auto,
    /// Grow it, take taints off, and remove nothing.
    GrowOnly,
    /// Decide and report, and do nothing.
    DryRun,
    /// Leave it alone.
    Off,
}

/// One node group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Unique.
    pub name: Arc<str>,
    /// Which nodes belong to it.
    pub select: Selection,
    /// How many machines it may have.
    pub size: Size,
    /// What Headroom may do to it.
    pub mode: Mode,
    /// How its size is decided.
    pub strategy: Strategy,
    /// How long a machine may take from its request until its node is usable; after that it is not expected any more.
    pub boot_timeout: SignedDuration,
    /// Taints (by key) that a node carries only while it starts: it is upcoming as long as it has one.
    pub startup_taints: Vec<Box<str>>,
    /// What a new machine is like, when the user says so; it wins over what is learnt and what the cloud says.
    pub template: Option<Template>,
    /// What one node costs in an hour, when the user says so.
    pub price: Option<Money>,
    /// How much the user prefers the group, for the expander `priority`: higher is better.
    pub priority: Option<i64>,
    /// What the user states of this very group, so that its cloud has no say in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Setting>,
}

impl Group {
    /// A group of which nothing is said but which nodes are in it.
    pub fn new(name: impl Into<Arc<str>>, select: Selection) -> Self {
        Group {
            name: name.into(),
            select,
            size: Size::default(),
            mode: Mode::default(),
            strategy: Strategy::Utilization(Utilization::default()),
            boot_timeout: SignedDuration::from_mins(15),
            startup_taints: Vec::new(),
            template: None,
            price: None,
            priority: None,
            stated: Vec::new(),
        }
    }

    /// Until when a machine is expected that has been waited for since `since`.
    pub fn deadline(&self, since: Timestamp) -> Timestamp {
        since.saturating_add(self.boot_timeout).unwrap_or(Timestamp::MAX)
    }
}

/// Which nodes are in a group: all of the conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selection {
    /// Labels with these values.
    pub labels: Labels,
    /// Exactly this capacity (cpu in milli, memory in bytes), for machines that carry no telling label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<(i64, i64)>,
}

impl Selection {
    /// Whether `node` is one of them. An empty selection matches nothing.
    pub fn matches(&self, node: &Node) -> bool {
        let labels = node.labels.contains_all(&self.labels);
        let capacity = self.capacity.is_none_or(|wanted| wanted == (node.capacity.cpu, node.capacity.memory));
        !(self.labels.is_empty() && self.capacity.is_none()) && labels && capacity
    }

    /// Whether every node that `other` matches is matched here too, as far as can be told without seeing nodes.
    pub fn covers(&self, other: &Selection) -> bool {
        other.labels.contains_all(&self.labels) && (self.capacity.is_none() || self.capacity == other.capacity)
    }
}

/// Limits of a group's size. None means: whatever the cloud group's own limit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Size {
    /// At least so many.
    pub min: Option<u32>,
    /// At most so many.
    pub max: Option<u32>,
}

/// How the size of a group is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    /// By requests against capacity, as Escalator does.
    Utilization(Utilization),
    /// By the pods that wait for a node, together with all other groups of this strategy.
    Pending(Pending),
    /// By the memory that tasks have, on a Nomad cluster.
    MemoryPool(MemoryPool),
    /// By how busy the cpus of servers are, on a Nomad cluster.
    CpuPool(CpuPool),
}

/// Settings of one group with the strategy `pending`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pending {
    /// The group grows to its maximum or not at all, and shrinks as a whole (machines that only work together).
    pub all_or_nothing: bool,
    /// When its nodes go, where `Policy::scale_down` is set.
    pub scale_down: ScaleDown,
    /// The spare room that it keeps.
    pub spare: Spare,
}

impl Strategy {
    /// The word that the configuration uses.
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Utilization(_) => "utilization",
            Strategy::Pending(_) => "pending",
            Strategy::MemoryPool(_) => "memoryPool",
            Strategy::CpuPool(_) => "cpuPool",
        }
    }

    /// On what kind of cluster the group is.
    pub fn runs_on(&self) -> RunsOn {
        match self {
            Strategy::Utilization(settings) => settings.runs_on,
            Strategy::MemoryPool(_) | Strategy::CpuPool(_) => RunsOn::Nomad,
            Strategy::Pending(_) => RunsOn::Kubernetes,
        }
    }

    /// Whether the group is a pool: it is sized as a whole, and its servers are drained before they go.
    pub fn is_pool(&self) -> bool {
        matches!(self, Strategy::MemoryPool(_) | Strategy::CpuPool(_))
    }
}

/// A percentage in hundredths of a percent, so that 62.5 % is exact. It serialises as the number that it prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(pub u32);

impl Percent {
    /// `percent` whole percents.
    pub const fn whole(percent: u32) -> Self {
        Percent(percent.saturating_mul(100))
    }

    /// A share of 1, to the nearest hundredth of a percent. None when it is none.
    pub fn of_share(share: f64) -> Option<Percent> {
        let hundredths = f64::from(Percent::whole(100).0);
        // `as` cannot cut off anything here.
        (0.0..=1.0).contains(&share).then(|| Percent((share * hundredths).round() as u32))
    }
}

impl std::fmt::Display for Percent {
    /// Without the sign and without trailing zeros: `62.5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        match (rest, rest % 10) {
            (0, _) => write!(f, "{whole}"),
            (_, 0) => write!(f, "{whole}.{}", rest / 10),
            _ => write!(f, "{whole}.{rest:02}"),
        }
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(100) {
            serializer.serialize_u32(self.0 / 100)
        } else {
            serializer.serialize_f64(f64::from(self.0) / 100.0)
        }
    }
}

impl<'de> Deserialize<'de> for Percent {
    /// The nearest hundredth, so that what was serialised comes back as it was.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hundredths = (f64::deserialize(deserializer)? * 100.0).round();
        // `as` saturates, and the comparison finds what it cut.
        let percent = hundredths as u32;
        if f64::from(percent) == hundredths { Ok(Percent(percent)) } else { Err(D::Error::custom("no percentage")) }
    }
}

/// Settings of the utilisation strategy (`seeds/utilisation-algorithm.md`; Escalator's option in brackets).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Utilization {
    /// Which pods count as the group's demand.
    pub count_pods: CountPods,
    /// Grow back to this share once it is exceeded (`scale_up_threshold_percent`).
    pub scale_up_above: Percent,
    /// Below it nodes are removed slowly (`taint_upper_capacity_threshold_percent`).
    pub remove_slowly_below: Percent,
    /// Below it nodes are removed fast (`taint_lower_capacity_threshold_percent`).
    pub remove_fast_below: Percent,
    /// Nodes a step in the slow band (`slow_node_removal_rate`).
    pub slow_rate: u32,
    /// Nodes a step in the fast band (`fast_node_removal_rate`).
    pub fast_rate: u32,
    /// Removal moves at most once in this time, however many rounds there are (Escalator's scan interval).
    pub step_interval: SignedDuration,
    /// After an enlargement the size is left alone for so long (`scale_up_cool_down_period`).
    pub cool_down: SignedDuration,
    /// A tainted node that is empty goes after this (`soft_delete_grace_period`).
    pub soft_grace: SignedDuration,
    /// After this the pods on a tainted node are evicted, and it goes with those that are left once that has taken too long
    /// (`hard_delete_grace_period`; see [`ScaleDownPolicy::drain_patience`]).
    pub hard_grace: SignedDuration,
    /// What the removal taint does (`taint_effect`).
    pub taint_effect: Effect,
    /// Add a node when a waiting pod fits no node (`scale_on_starve`).
    pub scale_on_starve: bool,
    /// Replace nodes that are older while the group is at its minimum (`max_node_age`).
    pub max_node_age: Option<SignedDuration>,
    /// Replace nodes that are not ready; off when None.
    pub unhealthy: Option<Unhealthy>,
    /// Stop growing after so many enlargements in a row brought no machine (`scale_up_failure_threshold`).
    pub stop_after_failures: Option<u32>,
    /// What DaemonSet pods mean for capacity.
    pub daemon_sets: DaemonSets,
    /// On what kind of cluster the group is.
    #[serde(default, skip_serializing_if = "is_kubernetes")]
    pub runs_on: RunsOn,
}

/// On what kind of cluster a utilisation group is: that decides how nodes are marked, and which pods count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunsOn {
    /// The mark is a taint that says when it was set; which pods count, `count_pods` says.
    #[default]
    Kubernetes,
    /// A marked node is ineligible, and when that was is remembered. What runs on nodes that are ready and eligible counts,
    /// and what waits and could run there.
    Nomad,
}

fn is_kubernetes(on: &RunsOn) -> bool {
    *on == RunsOn::Kubernetes
}

impl Default for Utilization {
    /// What holds where the user says nothing. Thresholds are those of the seed's worked example; the delays lean
    /// towards keeping a node, since a node too many costs minutes and a node too few costs work.
    fn default() -> Self {
        Utilization {
            count_pods: CountPods::default(),
            scale_up_above: Percent::whole(70),
            remove_slowly_below: Percent::whole(40),
            remove_fast_below: Percent::whole(20),
            slow_rate: 1,
            fast_rate: 4,
            step_interval: SignedDuration::from_mins(1),
            cool_down: SignedDuration::from_mins(10),
            soft_grace: SignedDuration::from_mins(10),
            hard_grace: SignedDuration::from_hours(1),
            taint_effect: Effect::NoSchedule,
            scale_on_starve: false,
            max_node_age: None,
            unhealthy: None,
            stop_after_failures: None,
            daemon_sets: DaemonSets::default(),
            runs_on: RunsOn::default(),
        }
    }
}

/// Which pods count as demand of a utilisation group. DaemonSet pods never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CountPods {
    /// Those that ask for the group's label in a node selector or required node affinity, wherever they run.
    #[default]
    Selecting,
    /// Those with no node selector and no affinity: Escalator's group named `default`.
    Unconstrained,
    /// Those that run on the group's nodes, and those that wait and ask for the group's label.
    Placed,
}

/// What the pods of DaemonSets mean for capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DaemonSets {
    /// Nothing: they are left out of requests and of capacity (the seed).
    #[default]
    Ignore,
    /// What they request is taken off the capacity of present and new nodes.
    Subtract,
}

/// Settings for nodes that are not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unhealthy {
    /// A node is unhealthy when it is at least this old and has not been ready for at least this long
    /// (`unhealthy_node_grace_period`).
    pub grace: SignedDuration,
    /// The share of the newest nodes that is looked at (`health_check_newest_nodes_percent`).
    pub newest: Percent,
    /// The share of those that may be unhealthy before the group is left alone (`max_unhealthy_nodes_percent`).
    pub max: Percent,
}

impl Default for Unhealthy {
    /// A node gets as long as a machine gets to boot; half of the newest nodes failing is no accident.
    fn default() -> Self {
        Unhealthy { grace: SignedDuration::from_mins(15), newest: Percent::whole(100), max: Percent::whole(50) }
    }
}

#[cfg(test)]
mod tests {
    use super::Percent;

    #[test]
    fn percentages_are_written_as_numbers_and_read_back() {
        let all = [0, 1, 99, 100, 6_250, 7_000, 11_033, u32::MAX];
        let text = serde_json::to_string(&all.map(Percent)).unwrap();
        assert_eq!(text, "[0,0.01,0.99,1,62.5,70,110.33,42949672.95]");
        assert_eq!(serde_json::from_str::<[Percent; 8]>(&text).unwrap(), all.map(Percent));
        for wrong in ["-1", "1e12", "\"70\"", "null"] {
            assert!(serde_json::from_str::<Percent>(wrong).is_err(), "{wrong}");
        }
    }
}
