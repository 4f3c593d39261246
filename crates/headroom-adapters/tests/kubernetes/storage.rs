//! Volumes, claims, storage classes and how much a node can attach.

use expect_test::{Expect, expect};
use headroom_adapters::cluster::kubernetes::translate;

use super::{change, read};

#[track_caller]
fn volume(spec: &str, phase: &str, expected: &Expect) {
    let text = format!(r#"{{"metadata": {{"name": "v"}}, "spec": {{{spec}}}, "status": {{"phase": "{phase}"}}}}"#);
    expected.assert_eq(&change(translate::volume(&read(&text))));
}

#[track_caller]
fn claim(annotation: &str, spec: &str, phase: &str, expected: &Expect) {
    let text = format!(
        r#"{{"metadata": {{"name": "c", "namespace": "shop", "annotations": {{{annotation}}}}}, "spec": {{{spec}}},
            "status": {{"phase": "{phase}"}}}}"#
    );
    expected.assert_eq(&change(translate::claim(&read(&text))));
}

#[test]
fn volumes() {
    expect![[r#"
        {"volume":{"name":"pvc-1","labels":{"topology.kubernetes.io/zone":"a"},"nodeAffinity":[{"labels":[{"key":"topology.ebs.csi.aws.com/zone","operator":"In","values":["a"]}]}],"driver":"ebs.csi.aws.com","handle":"vol-1","storageClass":"gp3","capacity":10737418240,"modes":{"readWriteOnce":true,"readOnlyMany":true,"readWriteMany":false,"readWriteOncePod":false,"block":false},"keptFor":["shop","data-db-0"]}}
    "#]].assert_eq(&change(translate::volume(&read(
        r#"{"metadata": {"name": "pvc-1", "labels": {"topology.kubernetes.io/zone": "a"}},
            "spec": {"accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "capacity": {"storage": "10Gi"}, "volumeMode": "Filesystem",
                     "claimRef": {"namespace": "shop", "name": "data-db-0"}, "storageClassName": "gp3",
                     "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions":
                         [{"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": ["a"]}]}]}}},
            "status": {"phase": "Bound"}}"#,
    ))));
    volume(
        r#""accessModes": ["ReadWriteMany", "ReadWriteOncePod"], "volumeMode": "Block", "capacity": {"storage": "1999m"}, "local": {"path": "/d"}"#,
        "Available",
        &expect![[r#"
            {"volume":{"name":"v","capacity":1,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":true,"readWriteOncePod":true,"block":true},"available":true}}
        "#]],
    );
    volume(
        r#""awsElasticBlockStore": {"volumeID": "aws://eu-west-1a/vol-2"}"#,
        "Bound",
        &expect![[r#"
        {"volume":{"name":"v","driver":"ebs.csi.aws.com","capacity":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]],
    );
}

/// A claim of the same name as the one that had it does not get it.
#[test]
fn a_volume_that_is_done_with_is_kept_for_nobody() {
    let kept = r#""claimRef": {"namespace": "shop", "name": "data-db-0"}"#;
    volume(
        kept,
        "Released",
        &expect![[r#"
        {"volume":{"name":"v","capacity":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]],
    );
    volume(
        kept,
        "Available",
        &expect![[r#"
        {"volume":{"name":"v","capacity":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false},"available":true,"keptFor":["shop","data-db-0"]}}
    "#]],
    );
    expect![[r#"
        {"volume":{"name":"v","capacity":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]].assert_eq(&change(translate::volume(&read(
        r#"{"metadata": {"name": "v", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Available"}}"#,
    ))));
}

#[test]
fn claims() {
    let bound = r#""pv.kubernetes.io/bind-completed": "yes""#;
    let named = r#""volumeName": "pvc-1", "storageClassName": "gp3", "resources": {"requests": {"storage": "1.5"}}"#;
    claim(
        bound,
        named,
        "Bound",
        &expect![[r#"
        {"claim":{"namespace":"shop","name":"c","state":{"bound":"pvc-1"},"storageClass":"gp3","request":2,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]],
    );
    // Without its annotations, as some dumps are.
    claim(
        "",
        named,
        "Bound",
        &expect![[r#"
        {"claim":{"namespace":"shop","name":"c","state":{"bound":"pvc-1"},"storageClass":"gp3","request":2,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]],
    );
    claim(
        "",
        named,
        "Pending",
        &expect![[r#"
        {"claim":{"namespace":"shop","name":"c","state":"prebound","storageClass":"gp3","request":2,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]],
    );
    claim(
        bound,
        named,
        "Lost",
        &expect![[r#"
        {"claim":{"namespace":"shop","name":"c","state":"lost","storageClass":"gp3","request":2,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
    "#]],
    );
    claim(
        r#""volume.kubernetes.io/selected-node": "n7""#,
        r#""accessModes": ["ReadWriteOncePod"], "volumeMode": "Block", "selector": {"matchLabels": {"disk": "ssd"}}"#,
        "Pending",
        &expect![[r#"
            {"claim":{"namespace":"shop","name":"c","state":"unbound","request":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":true,"block":true},"selector":[{"key":"disk","operator":"In","values":["ssd"]}],"selectedNode":"n7"}}
        "#]],
    );
    claim(
        r#""volume.beta.kubernetes.io/storage-class": "old""#,
        r#""storageClassName": "new""#,
        "Pending",
        &expect![[r#"
            {"claim":{"namespace":"shop","name":"c","state":"unbound","storageClass":"old","request":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false}}}
        "#]],
    );
}

#[test]
fn classes() {
    expect![[r#"
        {"storageClass":{"name":"gp3","provisioner":"ebs.csi.aws.com","waitForFirstConsumer":true,"allowedTopologies":[{"labels":[{"key":"zone","operator":"In","values":["a","b"]}]},{}]}}
    "#]].assert_eq(&change(translate::storage_class(&read(
        r#"{"metadata": {"name": "gp3"}, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}, {}]}"#,
    ))));
    expect![[r#"
        {"storageClass":{"name":"gp2","provisioner":"ebs.csi.aws.com","waitForFirstConsumer":false}}
    "#]]
    .assert_eq(&change(translate::storage_class(&read(
        r#"{"metadata": {"name": "gp2"}, "provisioner": "kubernetes.io/aws-ebs", "volumeBindingMode": null}"#,
    ))));
}

#[test]
fn attach_limits() {
    expect![[r#"
        {"attachLimits":{"node":"n","limits":[["ebs.csi.aws.com",25],["odd.example.com",0]]}}
        warning: driver odd.example.com: count -1 is below zero and counts as 0
    "#]].assert_eq(&change(translate::attach_limits(&read(
        r#"{"metadata": {"name": "n"}, "spec": {"drivers": [
            {"name": "ebs.csi.aws.com", "nodeID": "i-1", "allocatable": {"count": 25}},
            {"name": "efs.csi.aws.com", "allocatable": null}, {"name": "odd.example.com", "allocatable": {"count": -1}}]}}"#,
    ))));
}

#[test]
fn what_nobody_understands_is_had_less_and_asked_for_more() {
    volume(
        r#""accessModes": ["ReadWriteOnce", "ReadWriteTwice"]"#,
        "Available",
        &expect![[r#"
        {"volume":{"name":"v","capacity":0,"modes":{"readWriteOnce":true,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false},"available":true}}
        warning: unknown access mode "ReadWriteTwice" is left out
    "#]],
    );
    claim(
        "",
        r#""accessModes": ["ReadWriteTwice"]"#,
        "Pending",
        &expect![[r#"
        {"claim":{"namespace":"shop","name":"c","state":"unbound","request":0,"modes":{"readWriteOnce":true,"readOnlyMany":true,"readWriteMany":true,"readWriteOncePod":true,"block":false}}}
        warning: unknown access mode "ReadWriteTwice" counts as all of them
    "#]],
    );
    claim(
        "",
        r#""selector": {"matchExpressions": [{"key": "disk", "operator": "Like", "values": ["s*"]}]}"#,
        "Pending",
        &expect![[r#"
            {"claim":{"namespace":"shop","name":"c","state":"unbound","request":0,"modes":{"readWriteOnce":false,"readOnlyMany":false,"readWriteMany":false,"readWriteOncePod":false,"block":false},"selector":[{"key":"","operator":"In"}]}}
            warning: selector: disk Like ["s*"] selects no volume
        "#]],
    );
    volume(
        r#""capacity": {"storage": "much"}"#,
        "Available",
        &expect![[r#"
        error: capacity: storage: cannot read "much": it does not start with a number; hint: write 500m, 2, 1.5Gi or 1e3
    "#]],
    );
    expect![[r#"
        {"storageClass":{"name":"c","provisioner":"","waitForFirstConsumer":false}}
        warning: unknown volumeBindingMode "Later" counts as Immediate
    "#]]
    .assert_eq(&change(translate::storage_class(&read(
        r#"{"metadata": {"name": "c"}, "volumeBindingMode": "Later"}"#,
    ))));
    expect![[r#"
        error: it has no metadata.name
    "#]]
    .assert_eq(&change(translate::attach_limits(&read("{}"))));
}
