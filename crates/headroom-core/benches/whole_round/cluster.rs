//! A cluster of any size with everything that a round looks at: deployments with rules and disruption budgets, idle nodes,
//! waiting pods.

use std::sync::Arc;

use headroom_core::policy::{Group, Pending, Percent, Policy, ScaleDownPolicy, Selection, Size, SlackPolicy, Strategy};
use headroom_core::quantity::Resources;
use headroom_core::scheduling::HOSTNAME;
use headroom_core::snapshot::{
    Change, CloudGroup, Coverage, DisruptionBudget, Expression, Instance, InstanceState, Kind, LabelSelector, Node,
    Operator, Phase, Pod, PodKind, PodSpec, PodTerm, SharedSpec, Spread,
};
use jiff::Timestamp;

const ZONE: &str = "topology.kubernetes.io/zone";
const POOL: &str = "pool";
const GROUPS: usize = 50;
/// DaemonSet pods are some of these.
const PODS_A_NODE: usize = 30;
const DAEMON_SETS: usize = 2;
/// Cores of the machines of a group, by the number of the group.
const CORES: [i64; 5] = [4, 8, 16, 16, 32];
/// Of so many nodes one is idle: a third of the deployments have pods there.
const ONE_IDLE_OF: usize = 4;
/// Deployments differ in their rules; see [`deployment`].
const KINDS: usize = 8;
/// Waiting pods of so many kinds are each nearly as large as half a machine.
const LARGE_KINDS: usize = 2;

/// A cluster of so many nodes.
pub(crate) struct Cluster {
    nodes: usize,
    specs: Vec<SharedSpec>,
    daemon_sets: Vec<SharedSpec>,
}

impl Cluster {
    /// `nodes` are a multiple of 200. 30 pods run on a node; those of a deployment are equal.
    pub(crate) fn new(nodes: usize, deployments: usize) -> Self {
        let daemon_set = |at: usize| PodSpec {
            kind: PodKind::DaemonSet,
            controller: Some(format!("DaemonSet/agent-{at}").into()),
            ..spec("kube-system", &format!("agent-{at}"), 50, 64)
        };
        Cluster {
            nodes,
            specs: (0..deployments).map(|at| SharedSpec::new(deployment(at))).collect(),
            daemon_sets: (0..DAEMON_SETS).map(|at| SharedSpec::new(daemon_set(at))).collect(),
        }
    }

    pub(crate) fn pods(&self) -> usize {
        self.nodes * PODS_A_NODE
    }

    /// 2,000 in a cluster of 5,000 nodes.
    pub(crate) fn waiting(&self) -> usize {
        self.nodes * 2 / 5
    }

    /// All that there is, one change after the other.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Change> {
        let coverage = Kind::ALL.into_iter().map(|kind| Change::Coverage(kind, Coverage::Complete));
        let groups = (0..GROUPS).map(|at| Change::Group(Box::new(self.group(at))));
        let nodes = (0..self.nodes).map(|at| Change::Node(Box::new(node(at))));
        let budgets = (0..self.specs.len()).step_by(4).map(|at| Change::DisruptionBudget(Box::new(self.budget(at))));
        let daemon_sets = (0..self.nodes).flat_map(|node| (0..DAEMON_SETS).map(move |at| (node, at)));
        let daemon_sets = daemon_sets.map(|(node, at)| Change::Pod(self.daemon_set_pod(node, at)));
        let pods = (0..self.deployed()).map(|at| Change::Pod(self.pod(at)));
        let waiting = (0..self.waiting()).map(|at| Change::Pod(self.waiting_pod(at)));
        coverage.chain(groups).chain(nodes).chain(budgets).chain(daemon_sets).chain(pods).chain(waiting)
    }

    /// 1 % of the pods: each is replaced by an equal one under another name, on its node.
    pub(crate) fn churn(&self, turn: usize) -> impl Iterator<Item = Change> {
        let name = |at: usize, turn: usize| match turn {
            0 => self.pod(at).name,
            turn => format!("{}-{turn}", self.pod(at).name).into(),
        };
        (0..self.deployed()).step_by(100).flat_map(move |at| {
            let pod = Pod { name: name(at, turn + 1), ..self.pod(at) };
            let gone = Change::PodGone { namespace: Arc::clone(&pod.spec.namespace), name: name(at, turn) };
            [gone, Change::Pod(pod)]
        })
    }

    fn deployed(&self) -> usize {
        self.nodes * (PODS_A_NODE - DAEMON_SETS)
    }

    fn group(&self, at: usize) -> CloudGroup {
        let machines = (at..self.nodes).step_by(GROUPS);
        let instance =
            |at| Instance { provider_id: provider_id(at), state: InstanceState::Running, ..Instance::default() };
        CloudGroup {
            name: format!("pool-{at}").into(),
            target: u32::try_from(machines.len()).unwrap_or(u32::MAX),
            instances: Some(machines.map(instance).collect()),
            ..CloudGroup::default()
        }
    }

    fn budget(&self, deployment: usize) -> DisruptionBudget {
        let replicas = u32::try_from(self.deployed() / self.specs.len()).unwrap_or(u32::MAX);
        DisruptionBudget {
            namespace: Arc::clone(&self.specs[deployment].namespace),
            name: format!("app-{deployment}").into(),
            selector: Some(selector(&format!("app-{deployment}"))),
            allowed: replicas / 10,
            healthy: replicas,
            wanted: replicas - replicas / 10,
            ..DisruptionBudget::default()
        }
    }

    /// The pods of a deployment run on nodes of one group. Two deployments of three have none on idle nodes.
    fn pod(&self, at: usize) -> Pod {
        let (deployment, replica) = (at % self.specs.len(), at / self.specs.len());
        let nodes = self.nodes / GROUPS;
        let busy = nodes / ONE_IDLE_OF * (ONE_IDLE_OF - 1);
        let place = deployment / GROUPS * 7 + replica;
        let place = if deployment % 3 == 0 {
            place % nodes
        } else {
            let place = place % busy;
            place / (ONE_IDLE_OF - 1) * ONE_IDLE_OF + place % (ONE_IDLE_OF - 1)
        };
        running(format!("app-{deployment}-{replica}"), &self.specs[deployment], place * GROUPS + deployment % GROUPS)
    }

    fn daemon_set_pod(&self, node: usize, at: usize) -> Pod {
        running(format!("agent-{at}-{node}"), &self.daemon_sets[at], node)
    }

    /// Some of the deployments grow by these.
    fn waiting_pod(&self, at: usize) -> Pod {
        let deployment = at % (self.specs.len() / 20) * 20;
        let mut spec = PodSpec::clone(&self.specs[deployment]);
        if deployment / GROUPS % KINDS < LARGE_KINDS {
            spec.requests.cpu = CORES[deployment % GROUPS % CORES.len()] * 400;
        }
        Pod { name: format!("waiting-{at}").into(), spec: SharedSpec::new(spec), ..Pod::default() }
    }
}

/// 50 groups that may grow and shrink.
pub(crate) fn policy() -> Policy {
    let group = |at: usize| {
        let name = format!("pool-{at}");
        let select = Selection { labels: [(POOL, name.as_str())].into_iter().collect(), capacity: None };
        let (size, strategy) = (Size { min: Some(1), max: Some(100_000) }, Strategy::Pending(Pending::default()));
        Group { size, strategy, ..Group::new(name, select) }
    };
    Policy {
        groups: (0..GROUPS).map(group).collect(),
        scale_down: Some(ScaleDownPolicy::default()),
        slack: SlackPolicy { rate: Some(Percent::whole(10)), ..SlackPolicy::default() },
        ..Policy::default()
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap_or_default()
}

/// Half of the deployments ask for their group, one in eight keeps its pods on different nodes, one in eight spreads them
/// over zones.
fn deployment(at: usize) -> PodSpec {
    let (app, pool) = (format!("app-{at}"), at % GROUPS);
    let cores = CORES[pool % CORES.len()];
    let vary = |mean: i64| mean / 2 + mean * (at as i64 % 97) / 97;
    let mut spec = PodSpec {
        controller: Some(format!("ReplicaSet/{app}").into()),
        ..spec(&format!("team-{}", at % 40), &app, vary(cores * 20), vary(cores * 60))
    };
    let kind = at / GROUPS % KINDS;
    if kind.is_multiple_of(2) {
        spec.node_selector = [(POOL, format!("pool-{pool}"))].into_iter().collect();
    }
    if kind == 3 {
        let selector = Some(selector(&app));
        spec.pod_anti_affinity = vec![PodTerm { topology_key: HOSTNAME.into(), selector, ..PodTerm::default() }];
        spec.has_affinity = true;
    }
    if kind == 6 {
        let selector = Some(selector(&app));
        spec.spread = vec![Spread { topology_key: ZONE.into(), selector, ..Spread::default() }];
    }
    spec
}

fn spec(namespace: &str, app: &str, cpu: i64, mebibytes: i64) -> PodSpec {
    PodSpec {
        namespace: Arc::from(namespace),
        labels: [("app", app)].into_iter().collect(),
        requests: Resources { pods: 1, ..Resources::new(cpu, mebibytes << 20) },
        ..PodSpec::default()
    }
}

fn selector(app: &str) -> LabelSelector {
    LabelSelector(vec![Expression { key: "app".into(), operator: Operator::In, values: vec![app.into()] }])
}

fn running(name: String, spec: &SharedSpec, node: usize) -> Pod {
    let created = Timestamp::from_second(1_700_000_000).ok();
    let node = Some(format!("node-{node:06}").into());
    Pod { name: name.into(), spec: spec.clone(), node, phase: Phase::Running, created, ..Pod::default() }
}

fn node(at: usize) -> Node {
    let (name, pool) = (format!("node-{at:06}"), at % GROUPS);
    let cores = CORES[pool % CORES.len()];
    let labels = [
        (HOSTNAME, name.as_str()),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
        ("node.kubernetes.io/instance-type", &format!("m7i.{cores}")),
        (ZONE, ["eu-west-1a", "eu-west-1b", "eu-west-1c"][at / GROUPS % 3]),
        ("topology.kubernetes.io/region", "eu-west-1"),
        (POOL, &format!("pool-{pool}")),
    ];
    let has = |millicpu: i64, gibibytes: i64| Resources { pods: 110, ..Resources::new(millicpu, gibibytes << 30) };
    Node {
        provider_id: Some(provider_id(at)),
        labels: labels.into_iter().collect(),
        created: Timestamp::from_second(1_700_000_000 + at as i64).ok(),
        capacity: has(cores * 1_000, cores * 4),
        allocatable: has(cores * 980, cores * 4 - 1),
        name: name.into(),
        ..Node::default()
    }
}

fn provider_id(node: usize) -> Box<str> {
    format!("aws:///eu-west-1a/i-{node:017x}").into()
}
