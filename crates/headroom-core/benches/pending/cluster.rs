//! Clusters, pods and machines to measure with.

use std::sync::Arc;

use headroom_core::quantity::Resources;
use headroom_core::scheduling::HOSTNAME;
use headroom_core::snapshot::{
    Builder, Change, Expression, LabelSelector, Node, Operator, Phase, Pod, PodSpec, PodTerm, SharedSpec, Spread,
    Template,
};

pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";
pub(crate) const ZONES: [&str; 3] = ["z1", "z2", "z3"];
/// The label by which node groups are told apart.
pub(crate) const GROUP: &str = "group";
pub(crate) const MIB: i64 = 1 << 20;

/// Nodes of 4000m in three zones with so many running pods each, of 50 kinds; `groups` of them are node groups.
pub(crate) fn cluster(nodes: u32, pods: u32, groups: u32) -> Builder {
    let mut builder = Builder::with_capacity(nodes as usize, (nodes * pods) as usize);
    let specs: Vec<SharedSpec> =
        (0..50).map(|kind| SharedSpec::new(pod(&format!("running-{kind}"), 90, 200))).collect();
    for at in 0..nodes {
        let (name, group) = (format!("node-{at:05}"), format!("group-{}", at % groups));
        let labels = [(ZONE, ZONES[(at % groups) as usize % 3]), ("kubernetes.io/os", "linux"), (GROUP, &group)];
        builder.apply(node(&name, 4_000, 16_000, 110, &labels));
        for pod in 0..pods {
            let spec = &specs[(at * pods + pod) as usize % specs.len()];
            add_bound(&mut builder, &format!("{name}-{pod}"), &name, spec);
        }
    }
    builder
}

pub(crate) fn node(name: &str, cpu: i64, memory: i64, pods: i64, labels: &[(&str, &str)]) -> Change {
    let labels = labels.iter().copied().chain([(HOSTNAME, name)]).collect();
    let allocatable = Resources { cpu, memory, pods, ..Resources::default() };
    Change::Node(Box::new(Node {
        name: name.into(),
        labels,
        capacity: allocatable.clone(),
        allocatable,
        ..Node::default()
    }))
}

pub(crate) fn template(cpu: i64, memory: i64, pods: i64, zone: &str) -> Template {
    let allocatable = Resources { cpu, memory, pods, ..Resources::default() };
    let labels = [(ZONE, zone)].into_iter().collect();
    Template { capacity: allocatable.clone(), allocatable, labels, ..Template::default() }
}

pub(crate) fn pod(app: &str, cpu: i64, memory: i64) -> PodSpec {
    PodSpec {
        namespace: Arc::from("default"),
        labels: [("app", app)].into_iter().collect(),
        requests: Resources { cpu, memory, pods: 1, ..Resources::default() },
        ..PodSpec::default()
    }
}

/// Pods with the label `app`.
pub(crate) fn selector(app: &str) -> LabelSelector {
    LabelSelector(vec![Expression { key: "app".into(), operator: Operator::In, values: vec![app.into()] }])
}

/// A term about the pods of `app`.
pub(crate) fn term(app: &str, key: &str) -> PodTerm {
    PodTerm { topology_key: key.into(), selector: Some(selector(app)), ..PodTerm::default() }
}

/// A spread constraint that counts the pods of `app`.
pub(crate) fn spread(app: &str, key: &str) -> Spread {
    Spread { topology_key: key.into(), selector: Some(selector(app)), ..Spread::default() }
}

pub(crate) fn add_waiting(builder: &mut Builder, name: &str, count: u32, spec: &PodSpec) {
    let spec = SharedSpec::new(spec.clone());
    for at in 0..count {
        let name = format!("{name}-{at}").into();
        builder.apply(Change::Pod(Pod { name, spec: spec.clone(), ..Pod::default() }));
    }
}

pub(crate) fn add_bound(builder: &mut Builder, name: &str, node: &str, spec: &SharedSpec) {
    let (name, node, spec) = (name.into(), Some(node.into()), spec.clone());
    builder.apply(Change::Pod(Pod { name, spec, node, phase: Phase::Running, ..Pod::default() }));
}
