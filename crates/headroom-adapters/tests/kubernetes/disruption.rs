//! Disruption budgets, and what pods and nodes say about being removed.

use expect_test::{Expect, expect};
use headroom_adapters::cluster::kubernetes::translate::{self, Specs};
use headroom_core::snapshot::{Eviction, PodKind};

use super::{change, node, pod, read};

#[track_caller]
fn budget(spec: &str, status: &str, expected: &Expect) {
    let text = format!(
        r#"{{"metadata": {{"name": "db", "namespace": "shop", "generation": 3}}, "spec": {{{spec}}}, "status": {{{status}}}}}"#
    );
    expected.assert_eq(&change(translate::disruption_budget(&read(&text), &mut Specs::default())));
}

#[test]
fn budgets() {
    budget(
        r#""maxUnavailable": 1, "selector": {"matchLabels": {"app": "db"}}, "unhealthyPodEvictionPolicy": "AlwaysAllow""#,
        r#""observedGeneration": 3, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3"#,
        &expect![[r#"
            {"disruptionBudget":{"namespace":"shop","name":"db","selector":[{"key":"app","operator":"In","values":["db"]}],"allowed":1,"healthy":3,"wanted":2,"alwaysAllowUnready":true}}
        "#]],
    );
    // Every pod of the namespace, and none.
    budget(
        r#""selector": {}"#,
        r#""observedGeneration": 3, "disruptionsAllowed": 2"#,
        &expect![[r#"
        {"disruptionBudget":{"namespace":"shop","name":"db","selector":[],"allowed":2,"healthy":0,"wanted":0}}
    "#]],
    );
    budget(
        r#""selector": null"#,
        r#""observedGeneration": 3, "disruptionsAllowed": 2"#,
        &expect![[r#"
        {"disruptionBudget":{"namespace":"shop","name":"db","allowed":2,"healthy":0,"wanted":0}}
    "#]],
    );
}

#[test]
fn a_budget_that_is_not_worked_out_allows_nothing() {
    budget(
        r#""selector": {}"#,
        r#""observedGeneration": 2, "disruptionsAllowed": 5"#,
        &expect![[r#"
        {"disruptionBudget":{"namespace":"shop","name":"db","selector":[],"allowed":0,"healthy":0,"wanted":0}}
    "#]],
    );
    budget(
        r#""selector": {}"#,
        "",
        &expect![[r#"
        {"disruptionBudget":{"namespace":"shop","name":"db","selector":[],"allowed":0,"healthy":0,"wanted":0}}
    "#]],
    );
}

#[test]
fn what_nobody_understands_protects_more() {
    budget(
        r#""selector": {"matchLabels": {"app": "db"}, "matchExpressions": [{"key": "ring", "operator": "Like"}]},
           "unhealthyPodEvictionPolicy": "Sometimes""#,
        r#""observedGeneration": 3, "disruptionsAllowed": -1"#,
        &expect![[r#"
            {"disruptionBudget":{"namespace":"shop","name":"db","selector":[{"key":"app","operator":"In","values":["db"]}],"allowed":0,"healthy":0,"wanted":0}}
            warning: selector: ring Like [] is left out
            warning: unknown unhealthyPodEvictionPolicy "Sometimes" counts as IfHealthyBudget
        "#]],
    );
}

/// A budget for each pod of a StatefulSet needs the label that tells its pods apart.
#[test]
fn a_budget_may_select_by_what_is_unique_to_a_pod() {
    let mut specs = Specs::default();
    let text = r#"{"metadata": {"name": "db-0"}, "spec": {"selector": {"matchLabels": {"statefulset.kubernetes.io/pod-name": "db-0"}}}}"#;
    translate::disruption_budget(&read(text), &mut specs).unwrap();
    let text = r#"{"metadata": {"name": "db-0", "labels": {"statefulset.kubernetes.io/pod-name": "db-0"}}}"#;
    let pod = translate::pod(&read(text), &mut specs).unwrap().value;
    assert_eq!(pod.spec.labels.to_string(), "statefulset.kubernetes.io/pod-name=db-0");
}

#[test]
fn what_a_pod_says_about_its_eviction() {
    let says = |value: &str| {
        let metadata = format!(r#""annotations": {{"cluster-autoscaler.kubernetes.io/safe-to-evict": "{value}"}}"#);
        let translated = pod(&format!(r#""metadata": {{"name": "p", {metadata}}}"#)).unwrap();
        (translated.value.spec.eviction, translated.warnings)
    };
    assert_eq!(says("true"), (Eviction::Safe, vec![]));
    assert_eq!(says("false"), (Eviction::Unsafe, vec![]));
    assert_eq!(says("on-completion"), (Eviction::OnCompletion, vec![]));
    assert_eq!(says("later"), (Eviction::Unsafe, vec![r#"unknown safe-to-evict "later" counts as false"#.to_owned()]));
}

#[test]
fn the_first_volume_on_the_disk_of_the_node_that_may_not_be_lost() {
    let lost = |named: &str| {
        let fields = format!(
            r#""metadata": {{"name": "p", "annotations": {{"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "{named}"}}}},
               "spec": {{"volumes": [{{"name": "ram", "emptyDir": {{"medium": "Memory"}}}}, {{"name": "config", "configMap": {{}}}},
                                     {{"name": "cache", "emptyDir": {{}}}}, {{"name": "logs", "hostPath": {{"path": "/var/log"}}}}]}}"#
        );
        pod(&fields).unwrap().value.spec.local_storage.clone()
    };
    assert_eq!(lost("").as_deref(), Some("cache"));
    assert_eq!(lost("cache,ram").as_deref(), Some("logs"));
    assert_eq!(lost("cache, logs"), None);
}

#[test]
fn pods_that_are_down_or_end() {
    let state =
        |status: &str| pod(&format!(r#""metadata": {{"name": "p"}}, "status": {{{status}}}"#)).unwrap().value.unready;
    assert!(!state(r#""phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]"#));
    assert!(state(r#""phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]"#));
    assert!(state(r#""phase": "Running""#));
    assert!(!state(r#""phase": "Pending""#));
    let ends = pod(r#""metadata": {"name": "p", "deletionTimestamp": "2026-01-01T00:01:00Z"}"#).unwrap().value;
    assert_eq!((ends.deleting, ends.ends_by), (true, "2026-01-01T00:01:00Z".parse().ok()));
}

#[test]
fn what_goes_with_its_node_and_what_keeps_it() {
    let pod = pod(r#""metadata": {"name": "p", "ownerReferences": [{"kind": "NodeAgent", "name": "a"}],
                        "annotations": {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}}"#);
    assert_eq!(pod.unwrap().value.spec.kind, PodKind::DaemonSet);
    let kept = |value: &str| {
        let annotations = format!(r#"{{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "{value}"}}"#);
        node(&format!(r#""metadata": {{"name": "n", "annotations": {annotations}}}"#))
            .unwrap()
            .value
            .scale_down_disabled
    };
    assert_eq!([kept("true"), kept("false")], [true, false]);
}
