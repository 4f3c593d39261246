//! What is done to nodes.

use std::time::Duration;

use fake_nomad::{Face, Fake, JobSpec, NodeSpec, Token};
use headroom_adapters::cluster::nomad::{Nomad, node_of};
use headroom_adapters::cluster::{Cluster, ClusterError};
use headroom_adapters::fence::Fence;
use headroom_core::keys::INELIGIBLE;
use headroom_core::snapshot::{Effect, Taint};
use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, sleep};

use super::{FACES, Sight, client, open};

fn ineligible() -> Taint {
    Taint { key: INELIGIBLE.into(), value: "".into(), effect: Effect::NoSchedule }
}

fn one() -> NodeSpec {
    NodeSpec { name: "one".to_owned(), ..NodeSpec::default() }
}

fn in_seconds(seconds: i64) -> Timestamp {
    Timestamp::now() + SignedDuration::from_secs(seconds)
}

/// The eligibility and drain of the only node.
fn state(fake: &Fake) -> (bool, bool) {
    fake.nodes().first().map(|(_, _, eligible, drains)| (*eligible, *drains)).expect("a node")
}

async fn wait(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_made_ineligible_and_comes_back_also_out_of_a_drain() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let id = fake.add_node(one());
        fake.run(JobSpec { kind: "batch".to_owned(), ..JobSpec::default() });
        wait("the task runs", || fake.waiting_and_running("default", "job") == (0, 1)).await;
        let nomad = Nomad::start(open(&fake));
        nomad.taint(&id, &ineligible()).await.expect("it is done");
        nomad.taint(&id, &ineligible()).await.expect("again");
        assert_eq!(state(&fake), (false, false));
        nomad.untaint(&id, INELIGIBLE).await.expect("it is done");
        assert_eq!(state(&fake), (true, false));
        nomad.drain(&id, &[], in_seconds(600)).await.expect("it is done");
        assert_eq!(state(&fake), (false, true));
        // A node that is being drained is ineligible.
        nomad.taint(&id, &ineligible()).await.expect("it is ineligible already");
        nomad.untaint(&id, INELIGIBLE).await.expect("the drain ends");
        assert_eq!(state(&fake), (true, false));
        let error = nomad.taint("00000000-0000-4000-8000-000000000000", &ineligible()).await.unwrap_err();
        assert!(matches!(error, ClusterError::NoSuchNode { .. }), "{error}");
    }
}

/// The deadline of a drain is in nanoseconds, and a second order does not begin it anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_drain_is_one_request_with_its_deadline_in_nanoseconds() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let id = fake.add_node(one());
    fake.run(JobSpec { kind: "batch".to_owned(), ..JobSpec::default() });
    wait("the task runs", || fake.waiting_and_running("default", "job") == (0, 1)).await;
    let nomad = Nomad::start(open(&fake));
    nomad.drain(&id, &[], in_seconds(600)).await.expect("it is done");
    nomad.drain(&id, &[], in_seconds(10)).await.expect("it goes on");
    let drains: Vec<_> = fake.changes().into_iter().filter(|change| change.path.ends_with("/drain")).collect();
    assert_eq!(drains.len(), 1, "{drains:?}");
    let body: serde_json::Value = serde_json::from_str(&drains[0].body).expect("JSON");
    let deadline = body["DrainSpec"]["Deadline"].as_i64().expect("a number");
    assert!((595_000_000_000..=600_000_000_000).contains(&deadline), "{deadline}");
    assert_eq!(body["DrainSpec"]["IgnoreSystemJobs"], true);
    assert_eq!(body["MarkEligible"], false);
}

/// 0 would be no deadline at all, and below it all tasks are killed at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_that_is_over_is_short_and_not_none() {
    let fake = Fake::start(Face::Old).await.expect("a port");
    let id = fake.add_node(one());
    let nomad = Nomad::start(open(&fake));
    nomad.drain(&id, &[], in_seconds(-5)).await.expect("it is done");
    let body: serde_json::Value = serde_json::from_str(&fake.changes()[0].body).expect("JSON");
    assert_eq!(body["DrainSpec"]["Deadline"].as_i64(), Some(1_000_000_000));
}

/// Nomad 1.0 says that a drain is complete while tasks still run.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_outlive_a_complete_drain_are_still_there() {
    let fake = Fake::start(Face::Old).await.expect("a port");
    let id = fake.add_node(one());
    fake.run(JobSpec { id: "web".to_owned(), kill_ms: 1500, ..JobSpec::default() });
    fake.run(JobSpec { id: "log".to_owned(), kind: "system".to_owned(), ..JobSpec::default() });
    wait("the task runs", || fake.waiting_and_running("default", "web") == (0, 1)).await;
    let nomad = Nomad::start(open(&fake));
    nomad.drain(&id, &[], in_seconds(600)).await.expect("it is done");
    wait("the drain is complete", || state(&fake) == (false, false)).await;
    let lost = nomad.lost_with(&id).await.expect("an answer");
    assert!(matches!(lost.as_slice(), [task] if task.starts_with("default/web.g[0]@")), "{lost:?}");
    wait("the task has ended", || fake.nodes_of("web").is_empty()).await;
    assert!(nomad.lost_with(&id).await.expect("an answer").is_empty(), "what a system job has goes with the server");
}

/// Purged, a node that is alive comes back as an eligible one.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_purged_only_once_it_is_down() {
    for face in FACES {
        let fake = Fake::start(face).await.expect("a port");
        let id = fake.add_node(one());
        let nomad = Nomad::start(open(&fake));
        nomad.forget(&id).await.expect("it is remembered");
        sleep(Duration::from_millis(2500)).await;
        assert!(fake.changes().is_empty(), "{:?}", fake.changes());
        fake.stop_client(&id);
        wait("it is purged", || fake.nodes().is_empty()).await;
        nomad.forget(&id).await.expect("it is gone already");
    }
}

/// What is seen next may have been read before.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_machine_was_removed_is_going_at_once() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let id = fake.add_node(one());
    let mut sight = Sight::of(open(&fake));
    sight.until("the node", |seen, _| seen.node(&id).is_some_and(|view| !view.node.deleting)).await;
    sight.cluster.forget(&id).await.expect("it is remembered");
    let observation = sight.cluster.observe(sight.builder.snapshot()).await;
    observation.changes.into_iter().for_each(|change| sight.builder.apply(change));
    assert!(sight.builder.snapshot().node(&id).is_some_and(|view| view.node.deleting));
    let before = fake.asked(&format!("v1/node/{id}"));
    sight.until("it has been read again", |_, _| fake.asked(&format!("v1/node/{id}")) > before + 1).await;
    assert!(sight.builder.snapshot().node(&id).is_some_and(|view| view.node.deleting));
    fake.stop_client(&id);
    sight.until("it is gone", |seen, _| seen.node_count() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_through_a_closed_fence() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let id = fake.add_node(one());
    let nomad = Nomad::start(client(&fake, None, Fence::closed()));
    let refused = [
        nomad.taint(&id, &ineligible()).await,
        nomad.untaint(&id, INELIGIBLE).await,
        nomad.drain(&id, &[], in_seconds(60)).await.map(drop),
    ];
    assert!(refused.iter().all(|answer| matches!(answer, Err(ClusterError::NotLeading))), "{refused:?}");
    nomad.forget(&id).await.expect("it is remembered");
    fake.stop_client(&id);
    sleep(Duration::from_millis(2500)).await;
    assert!(fake.changes().is_empty(), "{:?}", fake.changes());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_allowed_is_said_and_a_weak_token_never_finds_a_server_empty() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let id = fake.add_node(one());
    fake.run(JobSpec::default());
    wait("the task runs", || fake.waiting_and_running("default", "job") == (0, 1)).await;
    fake.set_tokens(vec![Token::client("weak", None), Token { nodes: false, ..Token::client("reader", Some("*")) }]);
    let weak = Nomad::start(client(&fake, Some("weak"), Fence::open()));
    let error = weak.lost_with(&id).await.unwrap_err().to_string();
    assert_eq!(error, format!("not allowed to list allocations of node {id}; hint: grant it to Headroom's account"));
    // Nomad does not know whom it should look up, and says that it has failed.
    let nobody = Nomad::start(client(&fake, None, Fence::open()));
    let error = nobody.lost_with(&id).await.unwrap_err();
    assert!(matches!(error, ClusterError::Forbidden { .. }), "{error}");
    let reader = Nomad::start(client(&fake, Some("reader"), Fence::open()));
    let error = reader.taint(&id, &ineligible()).await.unwrap_err().to_string();
    assert!(error.starts_with("not allowed to read node "), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_node_of_an_allocation_is_found() {
    let fake = Fake::start(Face::Old).await.expect("a port");
    let id = fake.add_node(one());
    fake.run(JobSpec::default());
    wait("the task runs", || fake.waiting_and_running("default", "job") == (0, 1)).await;
    let client = open(&fake);
    let node_allocations = client.allocations_of(&id).await.expect("a list");
    let allocation = node_allocations.objects.first().expect("it runs").id.clone();
    assert_eq!(node_of(&client, &allocation).await.expect("an answer"), id);
}
