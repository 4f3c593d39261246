//! What a node offers and how it is.

use headroom_core::quantity::Totals;
use headroom_core::snapshot::{Effect, Readiness};

use super::node;

#[track_caller]
fn read(fields: &str) -> headroom_core::snapshot::Node {
    let translated =
        node(&format!(r#""metadata": {{"name": "n", "creationTimestamp": "2026-01-01T00:00:00Z"}}, {fields}"#))
            .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(translated.warnings, [] as [&str; 0]);
    translated.value
}

/// Escalator's sums over nodes (`TestCalculateNodesCapacity`).
#[test]
fn escalator_sums() {
    type Sizes = &'static [(i64, i64)];
    let table: [(&str, Sizes, (i128, i128)); 6] = [
        ("E132", &[(1000, 1000), (300, 800)], (1300, 1800)),
        ("E133", &[(1000, 1000), (300, 800), (200, 50000)], (1500, 51800)),
        ("E134", &[(1000, 1000), (0, 0)], (1000, 1000)),
        ("E135", &[(0, 0), (1000, 1000)], (1000, 1000)),
        ("E136", &[(0, 0)], (0, 0)),
        ("E137", &[(0, 0), (0, 0)], (0, 0)),
    ];
    for (id, nodes, expected) in table {
        let mut sum = Totals::default();
        for (cpu, memory) in nodes {
            let fields = format!(r#""status": {{"allocatable": {{"cpu": "{cpu}m", "memory": "{memory}"}}}}"#);
            sum += &read(&fields).allocatable;
        }
        assert_eq!((sum.cpu, sum.memory), expected, "{id}");
    }
}

#[test]
fn capacity_is_rounded_down_and_keeps_every_resource() {
    let node = read(
        r#""status": {"allocatable": {"cpu": "3920m", "memory": "1999m", "ephemeral-storage": "18242267924", "pods": "110",
                                      "nvidia.com/gpu": "2", "hugepages-1Gi": "0", "hugepages-2Mi": "1Gi"},
                      "capacity": {"cpu": "4", "memory": "2Ki", "pods": "110", "nvidia.com/gpu": 2}}"#,
    );
    let amounts = &node.allocatable;
    assert_eq!((amounts.cpu, amounts.memory, amounts.ephemeral_storage, amounts.pods), (3920, 1, 18242267924, 110));
    assert_eq!((amounts.extended("nvidia.com/gpu"), amounts.extended("hugepages-2Mi")), (2, 1 << 30));
    assert_eq!(amounts.extended.len(), 2);
    assert_eq!((node.capacity.cpu, node.capacity.memory, node.capacity.extended("nvidia.com/gpu")), (4000, 2048, 2));
}

#[test]
fn without_allocatable_all_of_the_capacity_is_offered() {
    let node = read(r#""status": {"capacity": {"cpu": "4", "memory": "8"}}"#);
    assert_eq!((node.allocatable.cpu, node.allocatable.memory), (4000, 8));
}

#[test]
fn readiness_says_since_when() {
    let with = |condition: &str| {
        read(&format!(r#""status": {{"conditions": [{{"type": "DiskPressure", "status": "True"}}{condition}]}}"#))
            .readiness
    };
    let instant = |text: &str| text.parse().ok();
    assert_eq!(with(r#", {"type": "Ready", "status": "True"}"#), Readiness::Ready);
    for status in ["False", "Unknown", ""] {
        let condition =
            format!(r#", {{"type": "Ready", "status": "{status}", "lastTransitionTime": "2026-02-03T04:05:06Z"}}"#);
        assert_eq!(with(&condition), Readiness::NotReady { since: instant("2026-02-03T04:05:06Z") });
    }
    assert_eq!(with(r#", {"type": "Ready", "status": "False"}"#), Readiness::NotReady { since: None });
    // It never reported: not ready since it was made.
    assert_eq!(with(""), Readiness::NotReady { since: instant("2026-01-01T00:00:00Z") });
}

#[test]
fn marks_and_wishes() {
    let node = read(
        r#""spec": {"providerID": "aws:///eu-west-1a/i-0abc", "unschedulable": true, "taints": [
               {"key": "atlassian.com/escalator", "value": "1767225600", "effect": "NoSchedule"},
               {"key": "spot", "effect": "PreferNoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
               {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "value": null}]}"#,
    );
    let taints: Vec<_> = node.taints.iter().map(ToString::to_string).collect();
    assert_eq!(
        taints,
        [
            "atlassian.com/escalator=1767225600:NoSchedule",
            "spot:PreferNoSchedule",
            "node.kubernetes.io/unreachable:NoExecute"
        ]
    );
    assert_eq!(node.provider_id.as_deref(), Some("aws:///eu-west-1a/i-0abc"));
    assert!(node.unschedulable && !node.deleting);
    assert_eq!(read(r#""spec": {"providerID": "", "taints": null}"#).provider_id, None);
}

#[test]
fn no_delete_needs_a_value() {
    let with = |value: &str| {
        let fields = format!(r#""metadata": {{"name": "n", "annotations": {{"atlassian.com/no-delete": {value}}}}}"#);
        node(&fields).unwrap_or_else(|error| panic!("{error}")).value.no_delete
    };
    assert_eq!(with(r#""until friday""#).as_deref(), Some("until friday"));
    assert_eq!(with(r#""""#), None);
    assert_eq!(with("null"), None);
}

/// The taint of a node that Headroom cordoned says all there is to say; a cordon that is left of it is like any other.
#[test]
fn a_cordon_of_headroom_itself_is_its_taint() {
    let cordoned = |metadata: &str, taint: &str| {
        let taints = format!(r#"[{{"key": "{taint}", "effect": "NoSchedule"}}]"#);
        node(&format!(
            r#""metadata": {{"name": "n"{metadata}}}, "spec": {{"unschedulable": true, "taints": {taints}}}"#
        ))
        .unwrap_or_else(|error| panic!("{error}"))
        .value
        .unschedulable
    };
    let own = r#", "annotations": {"headroom.dev/cordoned": "marked"}"#;
    assert!(!cordoned(own, "marked"));
    assert!(cordoned(own, "other"));
    assert!(cordoned("", "marked"));
}

#[test]
fn what_is_odd_is_warned_of_and_harms_nothing_else() {
    let odd = node(
        r#""metadata": {"name": "n", "creationTimestamp": "yesterday", "deletionTimestamp": "2026-01-01T00:00:00Z"},
           "spec": {"taints": [{"key": "k", "effect": "Never"}]},
           "status": {"capacity": {"cpu": "-1", "memory": "8"}}"#,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        odd.warnings,
        [
            "capacity: cpu -1 is below zero and counts as 0",
            "creationTimestamp \"yesterday\" is no time and counts as unknown",
            "taint k: unknown effect \"Never\" counts as NoSchedule",
        ]
    );
    assert_eq!((odd.value.created, odd.value.deleting, odd.value.capacity.memory), (None, true, 8));
    assert_eq!(odd.value.taints[0].effect, Effect::NoSchedule);
}

#[test]
fn what_cannot_be_read_is_malformed() {
    let error = |fields: &str| node(fields).unwrap_err().to_string();
    assert_eq!(error(r#""metadata": {}"#), "it has no metadata.name");
    let quantity = error(r#""metadata": {"name": "n"}, "status": {"allocatable": {"memory": "lots"}}"#);
    assert!(quantity.starts_with("allocatable: memory: cannot read \"lots\": it does not start with a number; hint: "));
}
