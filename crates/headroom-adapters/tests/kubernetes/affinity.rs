//! Affinity to nodes and to other pods.

use expect_test::{Expect, expect};
use headroom_core::scheduling::{Host, allows};
use headroom_core::snapshot::{Builder, Node};

use super::{pod, spec};

#[track_caller]
fn check(part: &str, rule: &str, expected: &Expect) {
    expected.assert_eq(&spec(&format!(r#""affinity": {{"{part}": {{{rule}}}}}"#)));
}

fn required(terms: &str) -> String {
    format!(r#""requiredDuringSchedulingIgnoredDuringExecution": [{terms}]"#)
}

fn node_terms(terms: &str) -> String {
    format!(r#""requiredDuringSchedulingIgnoredDuringExecution": {{"nodeSelectorTerms": [{terms}]}}"#)
}

#[test]
fn to_nodes() {
    check(
        "nodeAffinity",
        &node_terms(
            r#"{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a", "b"]}, {"key": "cpus", "operator": "Gt", "values": ["8"]}]},
               {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}], "matchExpressions": [{"key": "gpu", "operator": "Exists"}]}"#,
        ),
        &expect![[r#"
            nodeAffinity {"labels":[{"key":"zone","operator":"NotIn","values":["a","b"]},{"key":"cpus","operator":"Gt","values":["8"]}]}
            nodeAffinity {"fields":[{"key":"metadata.name","operator":"In","values":["n"]}],"labels":[{"key":"gpu","operator":"Exists"}]}
        "#]],
    );
    check("nodeAffinity", r#""requiredDuringSchedulingIgnoredDuringExecution": null"#, &expect![""]);
}

#[test]
fn preferences_of_nodes() {
    check(
        "nodeAffinity",
        r#""preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 80, "preference": {"matchExpressions": [{"key": "spot", "operator": "DoesNotExist"}]}},
            {"weight": 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}}]"#,
        &expect![[r#"
            preferredNodeAffinity {"term":{"labels":[{"key":"spot","operator":"DoesNotExist"}]},"weight":80}
            preferredNodeAffinity {"term":{"labels":[{"key":"disk","operator":"In","values":["ssd"]}]},"weight":1}
        "#]],
    );
}

/// The API takes none of these; a newer one may.
#[test]
fn what_nobody_understands_holds_for_no_node() {
    for expression in [
        r#"{"key": "zone", "operator": "Near", "values": ["a"]}"#,
        r#"{"key": "zone", "operator": "In"}"#,
        r#"{"key": "zone", "operator": "NotIn", "values": []}"#,
        r#"{"key": "zone", "operator": "Exists", "values": ["a"]}"#,
        r#"{"key": "zone", "operator": "Gt", "values": ["a"]}"#,
    ] {
        let affinity = node_terms(&format!(r#"{{"matchExpressions": [{expression}]}}"#));
        let translated =
            pod(&format!(r#""metadata": {{"name": "p"}}, "spec": {{"affinity": {{"nodeAffinity": {{{affinity}}}}}}}"#))
                .unwrap();
        assert!(translated.warnings[0].starts_with("node affinity: zone "), "{:?}", translated.warnings);
        for labels in [&[("zone", "a")][..], &[("zone", "5")], &[]] {
            let node = Node { labels: labels.iter().copied().collect(), ..Node::default() };
            let answer = allows(Builder::new().snapshot(), &translated.value.spec, &Host::of(&node));
            assert!(answer.is_err(), "{expression} on {labels:?}");
        }
    }
    check(
        "nodeAffinity",
        &node_terms(r#"{"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a", "b"]}]}"#),
        &expect![[r#"
            nodeAffinity {"labels":[{"key":"zone","operator":"In"}]}
            warning: node affinity: zone Near ["a", "b"] holds for no node
        "#]],
    );
    check(
        "nodeAffinity",
        &node_terms(""),
        &expect![[r#"
        nodeAffinity {}
    "#]],
    );
}

#[test]
fn to_pods() {
    check(
        "podAffinity",
        &required(
            r#"{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db", "tier": "back"},
                    "matchExpressions": [{"key": "old", "operator": "DoesNotExist"}, {"key": "ring", "operator": "In", "values": ["1", "2"]}]}},
               {"topologyKey": "host", "labelSelector": {}, "namespaces": ["a", "b"], "namespaceSelector": {"matchLabels": {"team": "x"}}},
               {"topologyKey": "host", "labelSelector": null, "namespaceSelector": {}},
               {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}},
                "matchLabelKeys": ["pod-template-hash"], "mismatchLabelKeys": ["tenant"]}"#,
        ),
        &expect![[r#"
            podAffinity {"selector":[{"key":"app","operator":"In","values":["db"]},{"key":"tier","operator":"In","values":["back"]},{"key":"old","operator":"DoesNotExist"},{"key":"ring","operator":"In","values":["1","2"]}],"topologyKey":"zone"}
            podAffinity {"namespaceSelector":[{"key":"team","operator":"In","values":["x"]}],"namespaces":["a","b"],"selector":[],"topologyKey":"host"}
            podAffinity {"namespaceSelector":[],"topologyKey":"host"}
            podAffinity {"matchLabelKeys":["pod-template-hash"],"mismatchLabelKeys":["tenant"],"selector":[{"key":"app","operator":"In","values":["web"]}],"topologyKey":"zone"}
        "#]],
    );
}

#[test]
fn away_from_pods() {
    check(
        "podAntiAffinity",
        &required(r#"{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}"#),
        &expect![[r#"
            podAntiAffinity {"selector":[{"key":"app","operator":"In","values":["db"]}],"topologyKey":"kubernetes.io/hostname"}
        "#]],
    );
}

#[test]
fn preferences_of_pods() {
    let terms = r#""preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}},
            "namespaces": ["a"], "namespaceSelector": {"matchLabels": {"team": "x"}},
            "matchLabelKeys": ["pod-template-hash"], "mismatchLabelKeys": ["tenant"]}},
        {"weight": 1, "podAffinityTerm": {"topologyKey": "host", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["w*"]}]}}},
        {"weight": 5, "podAffinityTerm": null}]"#;
    check(
        "podAffinity",
        terms,
        &expect![[r#"
        preferredPodAffinity {"term":{"matchLabelKeys":["pod-template-hash"],"mismatchLabelKeys":["tenant"],"namespaceSelector":[{"key":"team","operator":"In","values":["x"]}],"namespaces":["a"],"selector":[{"key":"app","operator":"In","values":["db"]}],"topologyKey":"zone"},"weight":100}
        preferredPodAffinity {"term":{"topologyKey":""},"weight":5}
        warning: preferred pod affinity: app Like ["w*"]: the term is left out
    "#]],
    );
    check(
        "podAntiAffinity",
        terms,
        &expect![[r#"
        preferredPodAntiAffinity {"term":{"matchLabelKeys":["pod-template-hash"],"mismatchLabelKeys":["tenant"],"namespaceSelector":[{"key":"team","operator":"In","values":["x"]}],"namespaces":["a"],"selector":[{"key":"app","operator":"In","values":["db"]}],"topologyKey":"zone"},"weight":100}
        preferredPodAntiAffinity {"term":{"topologyKey":""},"weight":5}
        warning: preferred pod anti-affinity: app Like ["w*"]: the term is left out
    "#]],
    );
}

/// Nearness to nothing can be had nowhere, distance is kept from more.
#[test]
fn what_nobody_understands_lets_the_pod_run_in_fewer_places() {
    let odd = required(
        r#"{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}, "matchExpressions": [{"key": "size", "operator": "Gt", "values": ["5"]}]}},
           {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In"}]}}"#,
    );
    check(
        "podAffinity",
        &odd,
        &expect![[r#"
        podAffinity {"topologyKey":"zone"}
        podAffinity {"namespaceSelector":[],"topologyKey":"zone"}
        warning: pod affinity: size Gt ["5"] selects no pod
        warning: pod affinity: team In [] selects no pod
    "#]],
    );
    check(
        "podAntiAffinity",
        &odd,
        &expect![[r#"
        podAntiAffinity {"selector":[{"key":"app","operator":"In","values":["db"]}],"topologyKey":"zone"}
        podAntiAffinity {"namespaceSelector":[],"selector":[],"topologyKey":"zone"}
        warning: pod anti-affinity: size Gt ["5"] is left out
        warning: pod anti-affinity: team In [] is left out
    "#]],
    );
}
