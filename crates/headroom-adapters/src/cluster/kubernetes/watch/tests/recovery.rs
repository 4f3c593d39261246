//! What goes wrong, and what is seen after it.

use std::time::Duration;

use headroom_core::snapshot::{Coverage, Kind};

use super::Watching;
use super::objects::{BUDGETS, BUFFERS, NODES, PODS, named, pod};
use super::server::ApiServer;

async fn three_pods() -> ApiServer {
    let server = ApiServer::start().await;
    for name in ["shop/a", "shop/b", "shop/c"] {
        server.put(PODS, pod(name, "n1"));
    }
    server.put(NODES, named("n1"));
    server
}

#[tokio::test]
async fn what_went_while_history_was_lost_is_gone() {
    let mut it = Watching::start(three_pods().await);
    it.complete().await;
    // The deletion is forgotten together with all other history before any watch is told of it.
    it.server.stop().await;
    it.server.delete(PODS, "shop/b");
    it.server.put(PODS, pod("shop/d", "n1"));
    it.server.compact();
    it.server.restart().await;
    it.until("read again", |it| it.names(Kind::Pods) == ["shop/a", "shop/c", "shop/d"]).await;
    assert_eq!(it.names(Kind::Nodes), ["n1"]);
    assert_eq!(it.coverage(Kind::Pods), Coverage::Complete);
    assert_eq!(it.warnings, [""; 0]);
}

#[tokio::test]
async fn a_change_that_waits_is_dropped_when_its_object_went_while_history_was_lost() {
    let mut it = Watching::start(three_pods().await);
    it.complete().await;
    it.server.put(PODS, pod("shop/d", "n1"));
    it.server.put(PODS, pod("shop/a", "n2"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    it.server.stop().await;
    it.server.delete(PODS, "shop/d");
    it.server.delete(PODS, "shop/a");
    it.server.compact();
    let before = it.server.cluster().requests.len();
    it.server.restart().await;
    let listed = |it: &Watching| {
        let cluster = it.server.cluster();
        let again = cluster.requests[before..].iter().filter(|request| request.starts_with("/api/v1/pods"));
        again.filter(|request| !request.contains("sendInitialEvents")).count() >= 2
    };
    while !listed(&it) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    it.observe();
    assert_eq!(it.names(Kind::Pods), ["shop/b", "shop/c"]);
}

#[tokio::test]
async fn a_list_that_breaks_off_is_read_from_the_start() {
    let server = three_pods().await;
    server.cluster().streams = false;
    server.cluster().broken_page = Some(2);
    let mut it = Watching::start(server);
    // The first page flows at once, and is no complete list.
    it.until("the first page", |it| it.names(Kind::Pods) == ["shop/a", "shop/b"]).await;
    assert_eq!((it.coverage(Kind::Pods), it.age(Kind::Pods)), (Coverage::Absent, None));
    it.server.delete(PODS, "shop/a");
    it.server.cluster().broken_page = None;
    it.complete().await;
    it.until("read", |it| it.names(Kind::Pods) == ["shop/b", "shop/c"]).await;
}

#[tokio::test]
async fn a_server_that_was_away_is_found_again_and_meanwhile_nothing_is_fresh() {
    let mut it = Watching::start(three_pods().await);
    it.complete().await;
    it.until("fresh", |it| it.age(Kind::Pods).is_some_and(|age| age.is_zero())).await;
    it.server.stop().await;
    let second = Duration::from_secs(1);
    it.until("stale", |it| Kind::ALL.iter().all(|kind| it.age(*kind).is_some_and(|age| age > second))).await;
    assert_eq!(it.names(Kind::Pods).len(), 3, "what is known stays known");
    it.server.put(PODS, pod("shop/d", "n1"));
    it.server.restart().await;
    it.until("seen", |it| it.names(Kind::Pods).len() == 4).await;
    it.until("fresh", |it| Kind::ALL.iter().all(|kind| it.age(*kind).is_some_and(|age| age.is_zero()))).await;
}

#[tokio::test]
async fn a_connection_that_has_gone_silent_is_not_fresh_for_long() {
    let mut it = Watching::start(three_pods().await);
    it.complete().await;
    it.server.cluster().silent = true;
    it.until("stale", |it| it.age(Kind::Pods).is_some_and(|age| age > Duration::from_millis(1_300))).await;
    it.server.cluster().silent = false;
    it.until("fresh", |it| it.age(Kind::Pods).is_some_and(|age| age.is_zero())).await;
}

#[tokio::test]
async fn what_may_not_be_read_is_said_once_and_seen_as_soon_as_it_may() {
    let server = three_pods().await;
    server.put(BUDGETS, named("shop/web"));
    server.cluster().forbidden.insert(BUDGETS.to_owned());
    let mut it = Watching::start(server);
    let others = |it: &Watching| {
        let other = |kind: &Kind| *kind == Kind::PodDisruptionBudgets || it.coverage(*kind) == Coverage::Complete;
        Kind::ALL.iter().all(other)
    };
    it.until("all others complete", others).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    it.observe();
    assert_eq!(
        it.warnings,
        [format!(
            "poddisruptionbudgets: cannot be read: {BUDGETS} is forbidden; hint: grant get, list and watch on \
             poddisruptionbudgets in API group \"policy\" to Headroom's service account"
        )]
    );
    assert_eq!((it.coverage(Kind::PodDisruptionBudgets), it.age(Kind::PodDisruptionBudgets)), (Coverage::Absent, None));
    it.server.cluster().forbidden.clear();
    it.complete().await;
    assert_eq!(it.names(Kind::PodDisruptionBudgets), ["shop/web"]);
}

#[tokio::test]
async fn capacity_buffers_are_seen_from_when_the_cluster_has_them_until_it_has_not() {
    let mut it = Watching::start(three_pods().await);
    it.complete().await;
    assert_eq!(it.names(Kind::CapacityBuffers), [""; 0]);
    let old = BUFFERS.replace("v1beta1", "v1alpha1");
    it.server.put(&old, named("shop/spare"));
    it.server.put("api/v1/podtemplates", named("shop/spare"));
    let serve = |it: &Watching, path: &str| {
        let group = path.strip_suffix("/capacitybuffers").unwrap().to_owned();
        it.server.cluster().groups.insert(group, "capacitybuffers".to_owned());
    };
    serve(&it, &old);
    it.until("seen", |it| it.names(Kind::CapacityBuffers) == ["shop/spare"]).await;
    it.until("its template", |it| it.names(Kind::Workloads) == ["shop/PodTemplate/spare"]).await;
    // A newer version comes, and the old one goes.
    it.server.put(BUFFERS, named("shop/spare"));
    it.server.put(BUFFERS, named("shop/more"));
    it.server.cluster().groups.clear();
    serve(&it, BUFFERS);
    it.until("both", |it| it.names(Kind::CapacityBuffers) == ["shop/more", "shop/spare"]).await;
    it.server.cluster().groups.clear();
    it.until("gone", |it| it.names(Kind::CapacityBuffers).is_empty() && it.names(Kind::Workloads).is_empty()).await;
    assert_eq!(it.coverage(Kind::CapacityBuffers), Coverage::Complete);
}
