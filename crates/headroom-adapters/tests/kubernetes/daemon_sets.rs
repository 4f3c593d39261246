//! DaemonSets and namespaces.

use expect_test::{Expect, expect};
use headroom_adapters::cluster::kubernetes::object;
use headroom_adapters::cluster::kubernetes::translate::{self, Specs, Translated};
use headroom_core::scheduling::{Host, allows};
use headroom_core::snapshot::{Builder, Change, SharedSpec, Template};

use super::{change, read, shown};

fn daemon_set(template: &str) -> (SharedSpec, Vec<String>) {
    let text = format!(
        r#"{{"metadata": {{"name": "agent", "namespace": "kube-system"}}, "spec": {{"template": {template}}}}}"#
    );
    let translated = translate::daemon_set(&read(&text), &mut Specs::default()).unwrap();
    let Translated { value: Change::DaemonSet { name, spec }, warnings } = translated else { panic!("another kind") };
    assert_eq!((&*name, &*spec.namespace), ("agent", "kube-system"));
    (spec, warnings)
}

#[track_caller]
fn check(template: &str, expected: &Expect) {
    let (spec, warnings) = daemon_set(template);
    let text = shown(&spec, &warnings);
    // What every DaemonSet bears is in the first case.
    let own = text.split_inclusive('\n').filter(|line| !line.contains("node.kubernetes.io/"));
    expected.assert_eq(&own.collect::<String>());
}

#[test]
fn its_pods_bear_what_is_wrong_with_their_node() {
    let (spec, warnings) = daemon_set(r#"{"spec": {"hostNetwork": true, "containers": []}}"#);
    expect![[r#"
        controller "DaemonSet/agent"
        tolerations {"effect":"NoExecute","exists":true,"key":"node.kubernetes.io/not-ready"}
        tolerations {"effect":"NoExecute","exists":true,"key":"node.kubernetes.io/unreachable"}
        tolerations {"effect":"NoSchedule","exists":true,"key":"node.kubernetes.io/disk-pressure"}
        tolerations {"effect":"NoSchedule","exists":true,"key":"node.kubernetes.io/memory-pressure"}
        tolerations {"effect":"NoSchedule","exists":true,"key":"node.kubernetes.io/pid-pressure"}
        tolerations {"effect":"NoSchedule","exists":true,"key":"node.kubernetes.io/unschedulable"}
        tolerations {"effect":"NoSchedule","exists":true,"key":"node.kubernetes.io/network-unavailable"}
    "#]]
    .assert_eq(&shown(&spec, &warnings));
}

/// `kubernetes-sigs/karpenter#1727`: init containers count, and each of several terms.
#[test]
fn its_pods_ask_for_what_their_template_says() {
    let (spec, _) = daemon_set(
        r#"{"spec": {"containers": [{"resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}],
                     "initContainers": [{"resources": {"requests": {"cpu": "3", "memory": "3Gi"}}}],
                     "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                         {"matchExpressions": [{"key": "arch", "operator": "In", "values": ["arm64"]}]},
                         {"matchExpressions": [{"key": "os", "operator": "In", "values": ["linux"]}]}]}}}}}"#,
    );
    assert_eq!((spec.requests.cpu, spec.requests.memory, spec.requests.pods), (3000, 3 << 30, 1));
    let runs_on = |labels: &[(&str, &str)]| {
        let template = Template { labels: labels.iter().copied().collect(), ..Template::default() };
        allows(Builder::new().snapshot(), &spec, &Host::new(&template)).is_ok()
    };
    assert!(runs_on(&[("arch", "arm64")]) && runs_on(&[("os", "linux")]) && !runs_on(&[("os", "windows")]));
}

#[test]
fn what_its_pods_have_only_later_is_left_out() {
    check(
        r#"{"metadata": {"labels": {"app": "agent"}},
            "spec": {"volumes": [{"name": "cache", "ephemeral": {}}, {"name": "shared", "persistentVolumeClaim": {"claimName": "shared"}}],
                     "resourceClaims": [{"name": "gpu"}],
                     "containers": [{"ports": [{"hostPort": 9100}]}]}}"#,
        &expect![[r#"
            claims "shared"
            controller "DaemonSet/agent"
            hostPorts {"port":9100,"protocol":"TCP"}
        "#]],
    );
}

#[test]
fn one_for_a_single_node_runs_on_no_other() {
    check(
        r#"{"spec": {"nodeName": "n"}}"#,
        &expect![[r#"
        controller "DaemonSet/agent"
        nodeAffinity {"fields":[{"key":"metadata.name","operator":"In","values":["n"]}]}
    "#]],
    );
}

/// The controller names the node of each pod, which would make every one of them a kind of its own.
#[test]
fn its_pods_on_different_nodes_are_equal() {
    let mut specs = Specs::default();
    let [a, b] = ["a", "b"].map(|node| {
        let text = format!(
            r#"{{"metadata": {{"name": "agent-{node}", "ownerReferences": [{{"kind": "DaemonSet", "name": "agent", "controller": true}}]}},
                "spec": {{"nodeName": "{node}", "affinity": {{"nodeAffinity": {{"requiredDuringSchedulingIgnoredDuringExecution":
                {{"nodeSelectorTerms": [{{"matchFields": [{{"key": "metadata.name", "operator": "In", "values": ["{node}"]}}]}}]}}}}}}}}}}"#
        );
        translate::pod(&read::<object::Pod<'_>>(&text), &mut specs).unwrap().value.spec
    });
    assert!(std::ptr::eq(&*a, &*b));
    assert_eq!((&*a.node_affinity, a.has_affinity), (&[][..], true));
}

#[test]
fn namespaces() {
    expect![[r#"
        {"namespace":{"name":"shop","labels":{"kubernetes.io/metadata.name":"shop","team":"x"}}}
    "#]]
    .assert_eq(&change(translate::namespace(&read(
        r#"{"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop", "team": "x"}}}"#,
    ))));
    expect![[r#"
        error: it has no metadata.name
    "#]]
    .assert_eq(&change(translate::namespace(&read("{}"))));
}
