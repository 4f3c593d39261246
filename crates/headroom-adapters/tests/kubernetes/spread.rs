//! Topology spread.

use expect_test::{Expect, expect};

use super::spec;

#[track_caller]
fn check(constraint: &str, expected: &Expect) {
    expected.assert_eq(&spec(&format!(r#""topologySpreadConstraints": [{{{constraint}}}]"#)));
}

#[test]
fn all_that_can_be_said() {
    check(
        r#""topologyKey": "zone", "maxSkew": 2, "minDomains": 3, "whenUnsatisfiable": "DoNotSchedule",
           "labelSelector": {"matchLabels": {"app": "web"}}, "matchLabelKeys": ["pod-template-hash"],
           "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor""#,
        &expect![[r#"
            spread {"honorNodeTaints":true,"ignoreNodeAffinity":true,"matchLabelKeys":["pod-template-hash"],"maxSkew":2,"minDomains":3,"selector":[{"key":"app","operator":"In","values":["web"]}],"topologyKey":"zone"}
        "#]],
    );
    check(
        r#""topologyKey": "zone", "maxSkew": 1, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore""#,
        &expect![[r#"
            spread {"maxSkew":1,"minDomains":1,"topologyKey":"zone"}
        "#]],
    );
}

#[test]
fn one_that_never_keeps_a_pod_waiting() {
    check(
        r#""topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}"#,
        &expect![[r#"
            preferredSpread {"maxSkew":1,"minDomains":1,"selector":[],"topologyKey":"zone"}
        "#]],
    );
}

#[test]
fn what_nobody_understands() {
    check(
        r#""topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "Hesitate", "nodeAffinityPolicy": "Ask", "nodeTaintsPolicy": "Ask""#,
        &expect![[r#"
            spread {"maxSkew":1,"minDomains":1,"topologyKey":"zone"}
            warning: topology spread over zone: unknown whenUnsatisfiable "Hesitate" counts as DoNotSchedule
            warning: topology spread over zone: unknown nodeAffinityPolicy "Ask" counts as Honor
            warning: topology spread over zone: unknown nodeTaintsPolicy "Ask" counts as Ignore
        "#]],
    );
    check(
        r#""topologyKey": "zone", "maxSkew": 1, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["w*"]}]}"#,
        &expect![[r#"
            spread {"maxSkew":1,"minDomains":1,"selector":[],"topologyKey":""}
            warning: topology spread over zone: app Like ["w*"]: no node will do
        "#]],
    );
    check(
        r#""topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
           "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["w*"]}]}"#,
        &expect![[r#"
            warning: topology spread over zone: app Like ["w*"]: the constraint is left out
        "#]],
    );
    check(
        r#""topologyKey": "zone", "maxSkew": -1, "minDomains": 99999999999"#,
        &expect![[r#"
        spread {"maxSkew":0,"minDomains":4294967295,"topologyKey":"zone"}
    "#]],
    );
}
