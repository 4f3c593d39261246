//! Random clusters in which every constraint has something to say.

use std::sync::Arc;

use headroom_core::quantity::Resources;
use headroom_core::scheduling::HOSTNAME;
use headroom_core::snapshot::{
    AccessModes, Claim, ClaimState, Effect, Expression, HostPort, LabelSelector, Labels, Node, NodeTerm, Operator,
    PodPreference, PodSpec, PodTerm, Preference, SharedSpec, Spread, StorageClass, Taint, Template, Toleration, Volume,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::oracle::{Bound, World};

pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

fn words(list: &[&'static str]) -> impl Strategy<Value = Box<str>> + use<> {
    select(list.to_vec()).prop_map(Box::from)
}

fn expression(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = Expression> {
    let operators = vec![Operator::In, Operator::In, Operator::NotIn, Operator::Exists, Operator::DoesNotExist];
    (select(operators), subsequence(values.to_vec(), 1..=values.len())).prop_map(move |(operator, values)| {
        let valued = matches!(operator, Operator::In | Operator::NotIn);
        let values = if valued { values.into_iter().map(Box::from).collect() } else { Vec::new() };
        Expression { key: key.into(), operator, values }
    })
}

fn selector() -> impl Strategy<Value = Option<LabelSelector>> {
    let app = expression("app", &["a", "b"]);
    let tier = expression("tier", &["x", "y"]);
    let some = vec(prop_oneof![4 => app, 1 => tier], 0..3).prop_map(|expressions| Some(LabelSelector(expressions)));
    prop_oneof![12 => some, 1 => Just(None)]
}

fn topology_key() -> impl Strategy<Value = Box<str>> {
    words(&[HOSTNAME, HOSTNAME, ZONE, ZONE, "rack"])
}

fn pod_term() -> impl Strategy<Value = PodTerm> {
    let namespaces = vec(select(vec!["one", "two"]).prop_map(Arc::from), 0..2);
    let by_label = option::weighted(0.3, vec(expression("team", &["red", "blue"]), 0..2).prop_map(LabelSelector));
    let keys = || vec(words(&["tier"]), 0..2);
    (topology_key(), selector(), namespaces, by_label, keys(), keys()).prop_map(
        |(topology_key, selector, namespaces, namespace_selector, match_label_keys, mismatch)| PodTerm {
            topology_key,
            selector,
            namespaces,
            namespace_selector,
            // A label cannot be both.
            mismatch_label_keys: if match_label_keys.is_empty() { mismatch } else { Vec::new() },
            match_label_keys,
        },
    )
}

fn spread() -> impl Strategy<Value = Spread> {
    (topology_key(), 1u32..4, 1u32..4, selector(), vec(words(&["tier"]), 0..2), any::<bool>(), any::<bool>()).prop_map(
        |(topology_key, max_skew, min_domains, selector, match_label_keys, ignore, honor)| Spread {
            topology_key,
            max_skew,
            min_domains,
            selector,
            match_label_keys,
            ignore_node_affinity: ignore,
            honor_node_taints: honor,
        },
    )
}

fn node_term() -> impl Strategy<Value = NodeTerm> {
    let size = (select(vec![Operator::Gt, Operator::Lt]), words(&["2", "4"]))
        .prop_map(|(operator, bound)| Expression { key: "size".into(), operator, values: vec![bound] });
    let label = prop_oneof![
        3 => expression(ZONE, &["z1", "z2"]),
        1 => expression(HOSTNAME, &["n0", "n1", "n2"]),
        2 => expression("pool", &["web", "db"]),
        1 => size,
    ];
    let field = (select(vec![Operator::In, Operator::NotIn]), words(&["n0", "n1"]))
        .prop_map(|(operator, name)| Expression { key: "metadata.name".into(), operator, values: vec![name] });
    (vec(label, 0..3), prop_oneof![6 => Just(Vec::new()), 1 => vec(field, 1..2)])
        .prop_map(|(labels, fields)| NodeTerm { labels, fields })
}

fn taint() -> impl Strategy<Value = Taint> {
    let effects = vec![Effect::NoSchedule, Effect::NoExecute, Effect::PreferNoSchedule];
    (words(&["gpu", "spot"]), words(&["", "yes"]), select(effects)).prop_map(|(key, value, effect)| Taint {
        key,
        value,
        effect,
    })
}

fn toleration() -> impl Strategy<Value = Toleration> {
    let effect = option::of(select(vec![Effect::NoSchedule, Effect::NoExecute]));
    let key = words(&["gpu", "spot", "", "node.kubernetes.io/unschedulable"]);
    (key, any::<bool>(), words(&["", "yes"]), effect).prop_map(|(key, exists, value, effect)| Toleration {
        key,
        exists,
        value,
        effect,
    })
}

fn host_port() -> impl Strategy<Value = HostPort> {
    (select(vec![0u16, 80, 81]), words(&["", "0.0.0.0", "10.0.0.1", "10.0.0.2"])).prop_map(|(port, ip)| HostPort {
        port,
        ip,
        ..HostPort::default()
    })
}

fn requests() -> impl Strategy<Value = Resources> {
    (select(vec![0i64, 100, 300, 500, 900]), select(vec![0i64, 100, 400]), select(vec![0i64, 0, 0, 1])).prop_map(
        |(cpu, memory, gpus)| {
            let mut requests = Resources { cpu, memory, pods: 1, ..Resources::default() };
            requests.set_extended("nvidia.com/gpu", gpus);
            requests
        },
    )
}

fn rarely<T: std::fmt::Debug + Clone + 'static>(
    of: impl Strategy<Value = T> + 'static,
    weight: u32,
) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![10 => Just(Vec::new()), weight => vec(of, 1..3)]
}

fn spec() -> impl Strategy<Value = SharedSpec> {
    let labels = (words(&["a", "b", "c"]), option::of(words(&["x", "y"])));
    let node_selector = option::weighted(0.15, words(&["web", "db"]));
    let claim = words(&["c0", "c1", "c2", "c3", "c4", "c5", "c6", "gone"]);
    let place = (node_selector, rarely(node_term(), 2), rarely(toleration(), 3));
    let near = (rarely(pod_term(), 2), rarely(pod_term(), 3), rarely(spread(), 4));
    let rest = (rarely(host_port(), 2), rarely(claim, 2), prop_oneof![40 => Just(0usize), 1 => Just(1)]);
    (words(&["one", "one", "two"]), labels, requests(), place, near, wishes(), rest).prop_map(
        |(namespace, (app, tier), requests, place, near, wishes, (host_ports, mut claims, devices))| {
            claims.sort();
            claims.dedup();
            let labels: Labels = [("app", Some(app)), ("tier", tier)]
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
                .collect();
            SharedSpec::new(PodSpec {
                namespace: Arc::from(&*namespace),
                labels,
                requests,
                node_selector: place.0.into_iter().map(|pool| ("pool", pool)).collect(),
                node_affinity: place.1,
                tolerations: place.2,
                pod_affinity: near.0,
                pod_anti_affinity: near.1,
                spread: near.2,
                preferred_node_affinity: wishes.0,
                preferred_pod_affinity: wishes.1,
                preferred_pod_anti_affinity: wishes.2,
                preferred_spread: wishes.3,
                host_ports,
                claims,
                resource_claims: vec!["device".into(); devices],
                ..PodSpec::default()
            })
        },
    )
}

type Wishes = (Vec<Preference>, Vec<PodPreference>, Vec<PodPreference>, Vec<Spread>);

fn wishes() -> impl Strategy<Value = Wishes> {
    let of_nodes = (1..=100, node_term()).prop_map(|(weight, term)| Preference { weight, term });
    let of_pods = || (1..=100, pod_term()).prop_map(|(weight, term)| PodPreference { weight, term });
    (rarely(of_nodes, 3), rarely(of_pods(), 3), rarely(of_pods(), 3), rarely(spread(), 4))
}

fn place_labels() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let label = |key: &'static str, values: &[&'static str]| {
        option::weighted(0.85, select(values.to_vec())).prop_map(move |value| value.map(|value| (key, value)))
    };
    let labels = (label(ZONE, &["z1", "z2", "z3"]), label("rack", &["r1", "r2"]), label("pool", &["web", "db"]));
    (labels, label("size", &["1", "3", "5", "big"]))
        .prop_map(|((zone, rack, pool), size)| [zone, rack, pool, size].into_iter().flatten().collect())
}

fn allocatable() -> impl Strategy<Value = Resources> {
    (select(vec![500i64, 1000, 2000]), select(vec![400i64, 1000]), 1i64..8, select(vec![0i64, 0, 2])).prop_map(
        |(cpu, memory, pods, gpus)| {
            let mut allocatable = Resources { cpu, memory, pods, ..Resources::default() };
            allocatable.set_extended("nvidia.com/gpu", gpus);
            allocatable
        },
    )
}

fn node() -> impl Strategy<Value = Node> {
    let hostname = prop_oneof![12 => Just(true), 1 => Just(false)];
    (place_labels(), rarely(taint(), 3), prop_oneof![9 => Just(false), 1 => Just(true)], allocatable(), hostname)
        .prop_map(|(labels, taints, unschedulable, allocatable, hostname)| Node {
            labels: labels.into_iter().chain(hostname.then_some((HOSTNAME, ""))).collect(),
            taints,
            unschedulable,
            allocatable,
            ..Node::default()
        })
}

/// A template with the pods of its DaemonSets.
pub(crate) fn template() -> impl Strategy<Value = (Template, Vec<SharedSpec>)> {
    let daemon = spec().prop_map(|spec| {
        let mut plain = (*spec).clone();
        plain.spread.clear();
        plain.requests.cpu = plain.requests.cpu.min(100);
        plain.requests.set_extended("nvidia.com/gpu", 0);
        SharedSpec::new(plain)
    });
    (place_labels(), rarely(taint(), 1), allocatable(), prop_oneof![2 => Just(Vec::new()), 1 => vec(daemon, 1..2)])
        .prop_map(|(labels, taints, allocatable, daemon_sets)| {
            let template =
                Template { labels: labels.into_iter().collect(), taints, allocatable, ..Template::default() };
            (template, daemon_sets)
        })
}

/// Claims of namespace `one` and `two`, some bound, some waiting, and what they are bound to.
fn storage() -> (Vec<Claim>, Vec<Volume>, Vec<StorageClass>) {
    let in_zone = |zone: &str| NodeTerm {
        labels: vec![Expression { key: ZONE.into(), operator: Operator::In, values: vec![zone.into()] }],
        fields: Vec::new(),
    };
    let on_host = |name: &str| NodeTerm {
        labels: vec![Expression { key: HOSTNAME.into(), operator: Operator::In, values: vec![name.into()] }],
        fields: Vec::new(),
    };
    let volume = |name: &str, terms: Vec<NodeTerm>, zone: Option<&str>| Volume {
        name: name.into(),
        node_affinity: terms,
        labels: zone.map(|zone| (ZONE, zone)).into_iter().collect(),
        driver: Some("disk".into()),
        ..Volume::default()
    };
    let spare = Volume {
        storage_class: "local".into(),
        available: true,
        capacity: 5,
        driver: None,
        ..volume("spare", vec![on_host("n1")], None)
    };
    let class = |name: &str, provisioner: &str, wait: bool, terms: Vec<NodeTerm>| StorageClass {
        name: name.into(),
        provisioner: provisioner.into(),
        wait_for_first_consumer: wait,
        allowed_topologies: terms,
    };
    let classes = vec![
        class("slow", "disk", true, vec![in_zone("z2"), in_zone("z3")]),
        class("local", "kubernetes.io/no-provisioner", true, Vec::new()),
        class("at-once", "disk", false, Vec::new()),
    ];
    let claim = |namespace: &str, name: &str, state: ClaimState, class: &str| Claim {
        namespace: namespace.into(),
        name: name.into(),
        state,
        storage_class: class.into(),
        request: 4,
        ..Claim::default()
    };
    let bound = |name: &str| ClaimState::Bound(name.into());
    let alone = AccessModes { read_write_once_pod: true, ..AccessModes::default() };
    let mut claims = Vec::new();
    for namespace in ["one", "two"] {
        claims.extend([
            claim(namespace, "c0", bound("zoned"), ""),
            claim(namespace, "c1", bound("labelled"), ""),
            claim(namespace, "c2", ClaimState::Unbound, "slow"),
            claim(namespace, "c3", ClaimState::Unbound, "local"),
            claim(namespace, "c4", ClaimState::Unbound, "at-once"),
            Claim { modes: alone, ..claim(namespace, "c5", bound("free"), "") },
            claim(namespace, "c6", bound("hosted"), ""),
        ]);
    }
    let volumes = vec![
        volume("zoned", vec![in_zone("z1")], None),
        volume("labelled", Vec::new(), Some("z1__z2")),
        volume("free", Vec::new(), None),
        volume("hosted", vec![on_host("n0"), on_host("n2")], None),
        spare,
    ];
    (claims, volumes, classes)
}

/// A cluster and the classes of pods in it.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) world: World,
    pub(crate) specs: Vec<SharedSpec>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.world)?;
        self.specs.iter().try_for_each(|spec| writeln!(f, "class {}", crate::oracle::in_short(spec)))
    }
}

/// A cluster and pods of some classes, of which some run in it.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let bound = (0usize..100, 0usize..100, prop_oneof![8 => Just(false), 1 => Just(true)]);
    let limits = vec((0usize..6, 1u32..3), 0..3);
    (vec(node(), 1..7), vec(spec(), 2..7), vec(bound, 0..12), limits).prop_map(
        |(mut nodes, mut specs, bound, mut limits)| {
            limits.sort();
            limits.dedup_by_key(|(node, _)| *node);
            specs.sort();
            specs.dedup();
            for (at, node) in nodes.iter_mut().enumerate() {
                let name = format!("n{at}");
                let named = node.labels.get(HOSTNAME).map(|_| (HOSTNAME, &*name));
                node.labels = node.labels.iter().filter(|(key, _)| *key != HOSTNAME).chain(named).collect();
                node.name = Arc::from(&*name);
            }
            let pods = bound.into_iter().map(|(spec, node, deleting)| Bound {
                spec: specs[spec % specs.len()].clone(),
                node: node % nodes.len(),
                deleting,
            });
            let (claims, volumes, classes) = storage();
            let world = World {
                pods: pods.collect(),
                namespaces: vec![("one".into(), [("team", "red")].into_iter().collect())],
                claims,
                volumes,
                classes,
                limits: limits.into_iter().map(|(node, limit)| (format!("n{node}"), "disk".into(), limit)).collect(),
                nodes,
            };
            Case { world, specs }
        },
    )
}
