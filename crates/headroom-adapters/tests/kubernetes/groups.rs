//! Escalator's rules of membership, from Kubernetes objects to groups.

use headroom_core::membership::{groups_of_node, groups_of_pod};
use headroom_core::policy::{CountPods, Group, Policy, Selection, Strategy, Utilization};
use headroom_core::snapshot::{Builder, Change};

use super::{node, pod};

fn policy(key: &str, value: &str, count_pods: CountPods) -> Policy {
    let labels = [(key, value)].into_iter().collect();
    let strategy = Strategy::Utilization(Utilization { count_pods, ..Utilization::default() });
    let group = Group { strategy, ..Group::new("group", Selection { labels, capacity: None }) };
    Policy { groups: vec![group], ..Policy::default() }
}

#[track_caller]
fn pod_is_member(policy: &Policy, metadata: &str, spec: &str) -> bool {
    let fields = format!(r#""metadata": {{"name": "p", {metadata}}}, "spec": {{{spec}}}"#);
    let pod = pod(&fields).unwrap_or_else(|error| panic!("{error}")).value;
    !groups_of_pod(policy, &pod.spec).is_empty()
}

const NOTHING: &str = r#""labels": {}"#;
const DAEMON_SET: &str = r#""ownerReferences": [{"kind": "DaemonSet", "name": "d"}]"#;

fn required(operator: &str) -> String {
    format!(
        r#""affinity": {{"nodeAffinity": {{"requiredDuringSchedulingIgnoredDuringExecution": {{"nodeSelectorTerms":
           [{{"matchExpressions": [{{"key": "customer", "operator": "{operator}", "values": ["example"]}}]}}]}}}}}}"#
    )
}

/// E138 to E146 and `atlassian/escalator#160`: only the operator In asks for a group.
#[test]
fn pods_that_ask_for_a_label() {
    let example = policy("customer", "example", CountPods::Selecting);
    let shared = policy("customer", "shared", CountPods::Selecting);
    let selector = |key: &str, value: &str| format!(r#""nodeSelector": {{"{key}": "{value}"}}"#);
    let table = [
        ("E138", &example, NOTHING, selector("customer", "example"), true),
        ("E140", &example, NOTHING, selector("wronglabelkey", "example"), false),
        ("E141", &example, NOTHING, selector("customer", "wronglabelkey"), false),
        ("E142", &example, NOTHING, selector("wronglabelkey", "wronglabelkey"), false),
        ("E143", &example, DAEMON_SET, selector("customer", "example"), false),
        ("E144", &example, NOTHING, required("In"), true),
        ("E145", &shared, NOTHING, required("In"), false),
        ("E146", &shared, NOTHING, required("NotIn"), false),
        ("#160", &example, NOTHING, required("NotIn"), false),
    ];
    for (id, policy, metadata, spec, expected) in table {
        assert_eq!(pod_is_member(policy, metadata, &spec), expected, "{id}");
    }
}

/// E148 to E152 and `atlassian/escalator#209`: an affinity without content is none.
#[test]
fn pods_of_the_default_group() {
    let default = policy("customer", "shared", CountPods::Unconstrained);
    let table = [
        ("E148", NOTHING, r#""nodeSelector": {"customer": "shared"}"#, false),
        ("E149", NOTHING, r#""nodeSelector": {"customer": ""}"#, false),
        ("E150", NOTHING, r#""nodeSelector": {"": "shared"}"#, false),
        ("E151", NOTHING, r#""nodeSelector": {}"#, true),
        ("E152", DAEMON_SET, r#""nodeSelector": {}"#, false),
        ("#209 A", NOTHING, r#""affinity": {}"#, true),
        ("#209 B", NOTHING, r#""affinity": null"#, true),
        ("null parts", NOTHING, r#""affinity": {"nodeAffinity": null, "podAffinity": null}"#, true),
        ("anti-affinity", NOTHING, r#""affinity": {"podAntiAffinity": {}}"#, false),
        ("node affinity", NOTHING, r#""affinity": {"nodeAffinity": {}}"#, false),
        ("static", r#""annotations": {"kubernetes.io/config.source": "file"}"#, r#""nodeSelector": {}"#, false),
    ];
    for (id, metadata, spec, expected) in table {
        assert_eq!(pod_is_member(&default, metadata, spec), expected, "{id}");
    }
}

/// E154 to E158.
#[test]
fn nodes_with_the_label() {
    let table = [
        ("E154", "example", r#"{"customer": "example"}"#, true),
        ("E155", "kitt", r#"{"customer": "example"}"#, false),
        ("E156", "example", r#"{"wronglabelkey": "example"}"#, false),
        ("E157", "example", r#"{"customer": "wronglabelkey"}"#, false),
        ("E158", "example", r#"{"wronglabelkey": "wronglabelkey"}"#, false),
    ];
    for (id, value, labels, expected) in table {
        let policy = policy("customer", value, CountPods::Selecting);
        let fields = format!(r#""metadata": {{"name": "n", "labels": {labels}}}"#);
        let node = node(&fields).unwrap_or_else(|error| panic!("{error}")).value;
        assert_eq!(!groups_of_node(&policy, &node).is_empty(), expected, "{id}");
    }
}

/// E159 to E163: what would be lost with a node. Unlike Escalator, every pod counts, whatever group it asks for.
#[test]
fn what_keeps_a_node() {
    let table: [(&str, bool, &[&str], Option<u32>); 6] = [
        ("E159", true, &[], Some(0)),
        ("E160", false, &[], None),
        ("E161", true, &[NOTHING, NOTHING], Some(2)),
        ("E163", true, &[DAEMON_SET, NOTHING], Some(1)),
        ("static", true, &[r#""annotations": {"kubernetes.io/config.source": "file"}"#], Some(0)),
        ("mirror", true, &[r#""annotations": {"kubernetes.io/config.mirror": "9d2d"}"#], Some(0)),
    ];
    for (id, known, pods, expected) in table {
        let mut builder = Builder::new();
        if known {
            builder.apply(Change::Node(Box::new(node(r#""metadata": {"name": "n"}"#).unwrap().value)));
        }
        for (at, metadata) in pods.iter().enumerate() {
            let fields = format!(r#""metadata": {{"name": "p{at}", {metadata}}}, "spec": {{"nodeName": "n"}}"#);
            builder.apply(Change::Pod(pod(&fields).unwrap().value));
        }
        assert_eq!(builder.snapshot().node("n").map(|view| view.sums.blocking), expected, "{id}");
    }
}
