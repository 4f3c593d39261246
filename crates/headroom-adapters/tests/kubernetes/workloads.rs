//! What makes pods, and capacity buffers.

use expect_test::{Expect, expect};
use headroom_adapters::cluster::kubernetes::object;
use headroom_adapters::cluster::kubernetes::translate::{self, Specs};
use headroom_core::keys::SPARE_COPIES;
use headroom_core::snapshot::{Change, PodKind, Workload};
use serde_json::json;

use super::{change, pod, read, shown};

fn translated(kind: &str, text: &str) -> Result<translate::Translated<Change>, translate::Malformed> {
    translate::workload(kind, &read(text), &mut Specs::default())
}

fn workload(kind: &str, fields: &str) -> (Workload, Vec<String>) {
    let comma = if fields.is_empty() { "" } else { "," };
    let text = format!(r#"{{"metadata": {{"name": "w", "namespace": "shop"}}{comma} {fields}}}"#);
    let translated = translated(kind, &text).unwrap();
    let Change::Workload(workload) = translated.value else { panic!("another kind") };
    (*workload, translated.warnings)
}

fn replicas(kind: &str, fields: &str) -> u32 {
    workload(kind, fields).0.replicas
}

#[test]
fn what_its_pods_are_like() {
    let (workload, warnings) = workload(
        "Deployment",
        r#""spec": {"replicas": 3, "selector": {}, "template": {
            "metadata": {"labels": {"app": "w"}},
            "spec": {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "batch", "operator": "Exists"}], "priority": 7,
                     "initContainers": [{"name": "i", "resources": {"requests": {"memory": "2Gi"}}}],
                     "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]}}}"#,
    );
    assert_eq!((workload.reference().as_str(), workload.replicas), ("Deployment/w", 3));
    let spec = &workload.spec;
    assert_eq!((&*spec.namespace, spec.labels.to_string(), spec.priority), ("shop", "app=w".to_owned(), 7));
    assert_eq!((spec.requests.cpu, spec.requests.memory, spec.requests.pods), (500, 2 << 30, 1));
    expect![[r#"
        nodeSelector {"disk":"ssd"}
        tolerations {"exists":true,"key":"batch"}
    "#]]
    .assert_eq(&shown(spec, &warnings));
}

#[test]
fn how_many_pods_it_wants() {
    for kind in ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"] {
        assert_eq!(replicas(kind, ""), 1, "{kind}");
        assert_eq!(replicas(kind, r#""spec": {"replicas": null}"#), 1, "{kind}");
        assert_eq!(replicas(kind, r#""spec": {"replicas": 0, "parallelism": 9}"#), 0, "{kind}");
        assert_eq!(replicas(kind, r#""spec": {"replicas": 12}"#), 12, "{kind}");
    }
}

#[test]
fn how_many_pods_a_job_wants() {
    assert_eq!(replicas("Job", ""), 1);
    assert_eq!(replicas("Job", r#""spec": {"parallelism": 5, "replicas": 9}"#), 5);
    // No more than have to succeed yet.
    assert_eq!(replicas("Job", r#""spec": {"parallelism": 5, "completions": 6}, "status": {"succeeded": 4}"#), 2);
    assert_eq!(replicas("Job", r#""spec": {"parallelism": 5, "completions": 6}, "status": {"succeeded": 7}"#), 0);
    assert_eq!(replicas("Job", r#""spec": {"parallelism": 5, "suspend": true}"#), 0);
    let over = r#""spec": {"parallelism": 5}, "status": {"conditions": [{"type": "Failed", "status": "True"}]}"#;
    assert_eq!(replicas("Job", over), 0);
    assert_eq!(replicas("Job", &over.replace(r#""True""#, r#""False""#)), 5);
}

#[test]
fn a_number_that_no_cluster_has() {
    let (workload, warnings) = workload("Deployment", r#""spec": {"replicas": -3}"#);
    assert_eq!((workload.replicas, warnings), (0, vec!["replicas -3 is below zero and counts as 0".to_owned()]));
    assert_eq!(replicas("ReplicaSet", r#""spec": {"replicas": 9000000000}"#), u32::MAX);
}

/// The annotation of the object itself, not that of its pods.
#[test]
fn what_it_asks_for_and_who_made_it() {
    let owner = r#""ownerReferences": [{"kind": "Deployment", "name": "w", "controller": true}]"#;
    let asks = |value: &str| format!(r#""annotations": {{"{SPARE_COPIES}": "{value}"}}"#);
    let text = format!(
        r#"{{"apiVersion": "apps/v1", "metadata": {{"name": "w-1", {owner}, {}}},
            "spec": {{"template": {{"metadata": {{{}}}}}}}}}"#,
        asks("10%"),
        asks("2"),
    );
    let Change::Workload(workload) = translated("ReplicaSet", &text).unwrap().value else { panic!("another kind") };
    assert_eq!(workload.controller.as_deref(), Some("Deployment/w"));
    assert_eq!(workload.spare_copies.as_deref(), Some("10%"));
    assert_eq!((workload.spec.spare_copies.as_deref(), workload.spec.kind), (Some("2"), PodKind::Workload));
    let over = format!(
        r#"{{"metadata": {{"name": "w", {}}}, "status": {{"conditions": [{{"type": "Complete", "status": "True"}}]}}}}"#,
        asks("1")
    );
    let Change::Workload(workload) = translated("Job", &over).unwrap().value else { panic!("another kind") };
    assert_eq!(workload.spare_copies, None);
}

#[test]
fn an_old_revision_of_a_deployment_is_kept_without_its_template() {
    let owner = r#""ownerReferences": [{"kind": "Deployment", "name": "w", "controller": true}]"#;
    let of = |replicas: u32, owner: &str| {
        let text = format!(
            r#"{{"metadata": {{"name": "w-1", "namespace": "shop", {owner}}},
                "spec": {{"replicas": {replicas}, "template": {{"spec": {{"priority": 3}}}}}}}}"#
        );
        let Change::Workload(workload) = translated("ReplicaSet", &text).unwrap().value else { panic!("another kind") };
        (workload.spec.namespace.to_string(), workload.spec.priority)
    };
    assert_eq!(of(0, owner), ("shop".to_owned(), 0));
    assert_eq!(of(1, owner), ("shop".to_owned(), 3));
    assert_eq!(of(0, r#""labels": {}"#), ("shop".to_owned(), 3), "without a Deployment it may be scaled up again");
}

/// The name of the annotation stands in the object's declaration a second time, since an attribute takes no constant.
#[test]
fn the_annotation_is_headrooms_own() {
    let metadata = json!({"name": "p", "annotations": {SPARE_COPIES: "3"}});
    let pod = pod(&format!(r#""metadata": {metadata}"#)).unwrap().value;
    assert_eq!(pod.spec.spare_copies.as_deref(), Some("3"));
}

#[test]
fn equal_templates_are_kept_once() {
    let mut specs = Specs::default();
    let [a, b] = ["a", "b"].map(|name| {
        let text =
            format!(r#"{{"metadata": {{"name": "{name}"}}, "spec": {{"template": {{"spec": {{"priority": 3}}}}}}}}"#);
        let Change::Workload(workload) = translate::workload("StatefulSet", &read(&text), &mut specs).unwrap().value
        else {
            panic!("another kind")
        };
        workload.spec
    });
    assert!(std::ptr::eq(&*a, &*b));
    let text = r#"{"metadata": {"name": "p"}, "spec": {"priority": 3}}"#;
    let pod = translate::pod(&read::<object::Pod<'_>>(text), &mut specs).unwrap().value;
    assert!(std::ptr::eq(&*a, &*pod.spec));
}

#[test]
fn one_for_a_single_node_runs_on_no_other() {
    let (workload, warnings) = workload("Deployment", r#""spec": {"template": {"spec": {"nodeName": "n"}}}"#);
    expect![[r#"
        nodeAffinity {"fields":[{"key":"metadata.name","operator":"In","values":["n"]}]}
    "#]]
    .assert_eq(&shown(&workload.spec, &warnings));
}

#[test]
fn a_pod_template_makes_no_pods() {
    let text = format!(
        r#"{{"apiVersion": "v1", "metadata": {{"name": "small", "namespace": "shop", "annotations": {{"{SPARE_COPIES}": "1"}}}},
            "template": {{"spec": {{"containers": [{{"resources": {{"requests": {{"cpu": 2}}}}}}]}}}}}}"#
    );
    let translated = translate::pod_template(&read(&text), &mut Specs::default()).unwrap();
    let Change::Workload(template) = translated.value else { panic!("another kind") };
    assert_eq!((template.reference().as_str(), &*template.spec.namespace), ("PodTemplate/small", "shop"));
    assert_eq!((template.replicas, template.spec.requests.cpu, template.spare_copies), (0, 2000, None));
}

#[track_caller]
fn buffer(spec: &str, expected: &Expect) {
    let text = format!(
        r#"{{"apiVersion": "autoscaling.x-k8s.io/v1beta1", "metadata": {{"name": "b", "namespace": "shop"}}, "spec": {{{spec}}}}}"#
    );
    expected.assert_eq(&change(translate::capacity_buffer(&read(&text))));
}

#[test]
fn capacity_buffers() {
    buffer(
        r#""podTemplateRef": {"name": "small"}, "replicas": 3"#,
        &expect![[r#"
            {"capacityBuffer":{"namespace":"shop","name":"b","podTemplate":"small","replicas":3,"limits":{}}}
        "#]],
    );
    buffer(
        r#""scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "web"}, "percentage": 20, "replicas": null,
           "provisioningStrategy": "buffer.x-k8s.io/active-capacity",
           "limits": {"cpu": "2500m", "memory": "4Gi", "ephemeral-storage": 10, "nvidia.com/gpu": "1"}"#,
        &expect![[r#"
            {"capacityBuffer":{"namespace":"shop","name":"b","strategy":"buffer.x-k8s.io/active-capacity","scalable":"Deployment/web","percentage":20,"limits":{"cpu":2500,"memory":4294967296,"ephemeralStorage":10,"extended":[["nvidia.com/gpu",1]]}}}
        "#]],
    );
}

#[test]
fn what_it_refers_to_in_other_groups_is_something_else() {
    let scalable = |group: &str, kind: &str| {
        let text = format!(
            r#"{{"metadata": {{"name": "b"}}, "spec": {{"scalableRef": {{"apiGroup": "{group}", "kind": "{kind}", "name": "x"}}}}}}"#
        );
        let Change::CapacityBuffer(buffer) = translate::capacity_buffer(&read(&text)).unwrap().value else {
            panic!("another kind")
        };
        buffer.scalable.unwrap().into_string()
    };
    assert_eq!(scalable("", "ReplicationController"), "ReplicationController/x");
    assert_eq!(scalable("batch", "Job"), "Job/x");
    assert_eq!(scalable("argoproj.io", "Rollout"), "Rollout.argoproj.io/x");
    assert_eq!(scalable("apps.kruise.io", "StatefulSet"), "StatefulSet.apps.kruise.io/x");
}

#[test]
fn a_buffer_that_means_nothing() {
    buffer(
        r#""podTemplateRef": {"name": "small"}, "replicas": -1"#,
        &expect![[r#"
            error: spec.replicas -1 is below zero
        "#]],
    );
    buffer(
        r#""scalableRef": {"kind": "Deployment", "name": "web"}, "percentage": -5"#,
        &expect![[r#"
            error: spec.percentage -5 is below zero
        "#]],
    );
    buffer(
        r#""podTemplateRef": {"name": "small"}, "limits": {"cpu": "much"}"#,
        &expect![[r#"
        error: limits: cpu: cannot read "much": it does not start with a number; hint: write 500m, 2, 1.5Gi or 1e3
    "#]],
    );
    buffer(
        r#""podTemplateRef": {"name": "small"}, "limits": {"cpu": "-1"}"#,
        &expect![[r#"
        {"capacityBuffer":{"namespace":"shop","name":"b","podTemplate":"small","limits":{"cpu":0}}}
        warning: limits: cpu -1 is below zero and counts as 0
    "#]],
    );
}

/// Other groups have kinds of the same names, whose fields mean something else.
#[test]
fn custom_resources_are_passed_over() {
    let other = |api: &str| format!(r#"{{"apiVersion": "{api}", "metadata": {{"name": "x"}}}}"#);
    let job = |api: &str| translated("Job", &other(api)).map(drop).map_err(|error| error.to_string());
    assert_eq!(job("batch/v1"), Ok(()));
    assert_eq!(job("batch.volcano.sh/v1alpha1"), Err("its kind is that of another group, batch.volcano.sh".to_owned()));
    for api in ["v1", "apps/v1", "extensions/v1beta1"] {
        assert!(translated("Deployment", &other(api)).is_ok(), "{api}");
    }
    for api in ["autoscaling.x-k8s.io/v1alpha1", "autoscaling.x-k8s.io/v1beta1", "autoscaling.x-k8s.io/v1"] {
        assert!(translate::capacity_buffer(&read(&other(api))).is_ok(), "{api}");
    }
    assert!(translate::capacity_buffer(&read(&other("buffers.example.com/v1"))).is_err());
    assert!(translate::pod_template(&read(&other("example.com/v1")), &mut Specs::default()).is_err());
}
