//! What a pod is and what it shares with others.

use headroom_adapters::cluster::kubernetes::object;
use headroom_adapters::cluster::kubernetes::translate::{self, Specs};
use headroom_core::snapshot::{Effect, Operator, Phase, Pod, PodKind};

use super::{pod, read};

#[track_caller]
fn read_pod(fields: &str) -> Pod {
    let translated = pod(fields).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(translated.warnings, [] as [&str; 0]);
    translated.value
}

#[test]
fn who_keeps_it() {
    let kind = |metadata: &str| read_pod(&format!(r#""metadata": {{"name": "p", {metadata}}}"#)).spec.kind;
    assert_eq!(kind(r#""ownerReferences": [{"kind": "ReplicaSet", "name": "web"}]"#), PodKind::Workload);
    assert_eq!(kind(r#""ownerReferences": [{"kind": "DaemonSet", "name": "agent"}]"#), PodKind::DaemonSet);
    assert_eq!(
        kind(r#""ownerReferences": null, "annotations": {"kubernetes.io/config.source": "file"}"#),
        PodKind::Static
    );
    assert_eq!(kind(r#""annotations": {"kubernetes.io/config.source": "api"}"#), PodKind::Workload);
    assert_eq!(
        kind(
            r#""annotations": {"kubernetes.io/config.mirror": "9d2d", "kubernetes.io/config.source": "file"},
                "ownerReferences": [{"kind": "Node", "name": "n", "controller": true}]"#
        ),
        PodKind::Mirror
    );
}

#[test]
fn the_controller_is_the_owner_that_manages_it() {
    let pod = read_pod(
        r#""metadata": {"name": "p", "ownerReferences": [{"kind": "Foo", "name": "f"},
                        {"kind": "ReplicaSet", "name": "web-7c5d", "controller": true}]}"#,
    );
    assert_eq!(pod.spec.controller.as_deref(), Some("ReplicaSet/web-7c5d"));
}

#[test]
fn where_it_is_and_how_far_it_has_come() {
    let bound = read_pod(
        r#""metadata": {"name": "p", "namespace": "shop", "creationTimestamp": "2026-01-01T00:00:00Z",
                        "deletionTimestamp": "2026-01-01T00:01:00Z"},
           "spec": {"nodeName": "n", "schedulingGates": [], "priority": -5}, "status": {"phase": "Running"}"#,
    );
    assert_eq!((bound.node.as_deref(), &*bound.spec.namespace, bound.spec.priority), (Some("n"), "shop", -5));
    assert_eq!((bound.phase, bound.deleting, bound.gated), (Phase::Running, true, false));
    let waiting =
        read_pod(r#""metadata": {"name": "p"}, "spec": {"nodeName": "", "schedulingGates": [{"name": "quota"}]}"#);
    assert_eq!((waiting.node.as_deref(), &*waiting.spec.namespace), (None, "default"));
    assert_eq!((waiting.phase, waiting.deleting, waiting.gated), (Phase::Pending, false, true));
    let phase =
        |phase: &str| read_pod(&format!(r#""metadata": {{"name": "p"}}, "status": {{"phase": "{phase}"}}"#)).phase;
    // A pod on a node that has gone silent still holds its place.
    assert_eq!(phase("Unknown"), Phase::Running);
    assert_eq!([phase("Succeeded"), phase("Failed"), phase("")], [Phase::Succeeded, Phase::Failed, Phase::Pending]);
}

#[test]
fn pods_of_one_stateful_set_are_equal() {
    let texts = [0, 1].map(|at| {
        format!(
            r#"{{"metadata": {{"name": "db-{at}", "labels": {{"app": "db", "statefulset.kubernetes.io/pod-name": "db-{at}",
                "apps.kubernetes.io/pod-index": "{at}", "batch.kubernetes.io/job-completion-index": "{at}"}}}}}}"#
        )
    });
    let mut specs = Specs::default();
    let specs = texts.map(|text| {
        let object: object::Pod<'_> = serde_json::from_str(&text).unwrap();
        translate::pod(&object, &mut specs).unwrap().value.spec
    });
    assert_eq!(specs[0].labels.to_string(), "app=db");
    // One spec for both, not two equal ones.
    assert!(std::ptr::eq(&*specs[0], &*specs[1]));
}

/// Otherwise the rule would find none of them.
#[test]
fn what_tells_them_apart_is_kept_once_a_rule_selects_by_it() {
    let label = |at: u32| format!(r#""labels": {{"app": "db", "apps.kubernetes.io/pod-index": "{at}"}}"#);
    let mut specs = Specs::default();
    let mut labels = |fields: &str| {
        let text = format!("{{{fields}}}");
        translate::pod(&read::<object::Pod<'_>>(&text), &mut specs).unwrap().value.spec.labels.to_string()
    };
    let plain = format!(r#""metadata": {{"name": "db-0", {}}}"#, label(0));
    let selecting = format!(
        r#""metadata": {{"name": "cache-0", {}}}, "spec": {{"affinity": {{"podAffinity": {{"requiredDuringSchedulingIgnoredDuringExecution":
           [{{"topologyKey": "zone", "labelSelector": {{"matchLabels": {{"app": "db"}}}}, "matchLabelKeys": ["apps.kubernetes.io/pod-index"]}}]}}}}}}"#,
        label(0)
    );
    assert_eq!(labels(&plain), "app=db");
    assert_eq!(labels(&selecting), "app=db,apps.kubernetes.io/pod-index=0");
    assert_eq!(labels(&plain), "app=db,apps.kubernetes.io/pod-index=0");
    // The first one has to be read again, and that is said once.
    assert_eq!([specs.take_left_out(), specs.take_left_out()], [true, false]);
}

#[test]
fn room_may_be_being_made_for_it() {
    let waiting = read_pod(r#""metadata": {"name": "p"}, "status": {"nominatedNodeName": "n7"}"#);
    assert_eq!(waiting.nominated.as_deref(), Some("n7"));
    assert_eq!(read_pod(r#""metadata": {"name": "p"}, "status": {"nominatedNodeName": ""}"#).nominated, None);
}

#[test]
fn affinity_and_tolerations() {
    let pod = read_pod(
        r#""metadata": {"name": "p"}, "spec": {
           "nodeSelector": {"disk": "ssd"},
           "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
               {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}, {"key": "gpu", "operator": "Exists"}]},
               {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]}]}}},
           "tolerations": [{"operator": "Exists"}, {"key": "spot", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 60}]}"#,
    );
    let terms = &pod.spec.node_affinity;
    assert_eq!((terms.len(), terms[0].labels.len(), terms[1].fields.len()), (2, 2, 1));
    assert_eq!((terms[0].labels[1].operator, terms[1].fields[0].operator), (Operator::Exists, Operator::NotIn));
    assert_eq!(pod.spec.node_selector.to_string(), "disk=ssd");
    let tolerations = &pod.spec.tolerations;
    assert!(tolerations[0].exists && tolerations[0].key.is_empty() && tolerations[0].effect.is_none());
    assert!(!tolerations[1].exists && &*tolerations[1].value == "yes");
    assert_eq!(tolerations[1].effect, Some(Effect::NoExecute));
}

#[test]
fn what_is_not_understood() {
    let tolerant = pod(
        r#""metadata": {"name": "p"}, "spec": {"tolerations": [{"key": "level", "operator": "Gt", "value": "5"}]}"#,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tolerant.warnings, ["toleration level: operator \"Gt\" with effect \"\" is left out"]);
    assert!(tolerant.value.spec.tolerations.is_empty());
}

#[test]
fn what_cannot_be_a_name() {
    let error = |metadata: &str| pod(&format!(r#""metadata": {{{metadata}}}"#)).unwrap_err().to_string();
    assert_eq!(error(r#""namespace": "shop""#), "it has no metadata.name");
    assert_eq!(error(r#""name": "a/b", "namespace": "shop""#), "its name shop/a/b has one slash too many");
    assert_eq!(error(r#""name": "b", "namespace": "shop/a""#), "its name shop/a/b has one slash too many");
}

#[test]
fn texts_with_escapes_are_read_too() {
    let pod = read_pod(r#""metadata": {"name": "p", "labels": {"a\u002fb": "\u00fc"}}"#);
    assert_eq!(pod.spec.labels.to_string(), "a/b=ü");
}
