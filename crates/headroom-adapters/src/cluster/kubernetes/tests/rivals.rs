use axum::http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::api::status;
use super::{Api, Reaction};
use crate::cluster::ClusterError;
use crate::cluster::kubernetes::lease::{Rival, Rivals};
use crate::fence::Fence;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// A Lease that lasts 15 s.
fn renew(api: &Api, namespace: &str, name: &str, holder: &str, renewed: i64) {
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}");
    let spec =
        json!({ "holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": format!("{:.6}", at(renewed)) });
    api.put(&path, json!({ "metadata": { "namespace": namespace }, "spec": spec }));
}

fn names(rivals: Vec<Rival>) -> Vec<String> {
    rivals.into_iter().map(|rival| format!("{}: {} by {}", rival.program, rival.lease, rival.holder)).collect()
}

async fn look(rivals: &mut Rivals, second: i64) -> Vec<String> {
    names(rivals.look(at(second)).await.unwrap())
}

#[tokio::test]
async fn other_autoscalers_that_renew_are_found_wherever_they_run() {
    let api = Api::default();
    renew(&api, "kube-system", "cluster-autoscaler", "ca-0", 0);
    renew(&api, "karpenter", "karpenter-leader-election", "karpenter-0", -10);
    renew(&api, "autoscaling", "cluster-autoscaler", "ca-1", -20);
    renew(&api, "kube-system", "escalator-leader-elect", "", 0);
    renew(&api, "headroom", "headroom", "headroom-0", 0);
    let mut rivals = Rivals::new(api.client(Fence::closed()));
    let expected = [
        "Cluster Autoscaler: kube-system/cluster-autoscaler by ca-0",
        "Karpenter: karpenter/karpenter-leader-election by karpenter-0",
    ];
    assert_eq!(look(&mut rivals, 0).await, expected);
    assert_eq!(look(&mut rivals, 16).await, [] as [&str; 0], "they have stopped");
}

#[tokio::test]
async fn one_whose_clock_is_an_hour_late_is_seen_by_its_renewals() {
    let api = Api::default();
    let mut rivals = Rivals::new(api.client(Fence::closed()));
    let late = -3600;
    renew(&api, "kube-system", "cluster-autoscaler", "ca-0", late);
    assert_eq!(look(&mut rivals, 0).await, [] as [&str; 0]);
    renew(&api, "kube-system", "cluster-autoscaler", "ca-0", late + 10);
    let found = ["Cluster Autoscaler: kube-system/cluster-autoscaler by ca-0"];
    assert_eq!(look(&mut rivals, 10).await, found);
    assert_eq!(look(&mut rivals, 25).await, found, "it may yet renew");
    assert_eq!(look(&mut rivals, 26).await, [] as [&str; 0]);
}

#[tokio::test]
async fn without_leave_to_look_everywhere_it_looks_into_kube_system() {
    let api = Api::default();
    renew(&api, "kube-system", "escalator-leader-elect", "escalator-0", 0);
    let mut rivals = Rivals::new(api.client(Fence::closed()));
    for _ in 0..3 {
        api.next(Method::GET, "v1/leases", Reaction::Answer(status(403, "Forbidden", "")));
    }
    assert_eq!(look(&mut rivals, 0).await, ["Escalator: kube-system/escalator-leader-elect by escalator-0"]);
    api.next(Method::GET, "v1/leases", Reaction::Answer(status(403, "Forbidden", "")));
    api.next(Method::GET, "/cluster-autoscaler", Reaction::Answer(status(403, "Forbidden", "")));
    let error = rivals.look(at(0) + SignedDuration::from_secs(1)).await.unwrap_err();
    assert!(matches!(error, ClusterError::Forbidden { .. }), "{error}");
}
