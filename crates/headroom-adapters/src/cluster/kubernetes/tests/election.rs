//! Two candidates in paused time. Their machines can be put to sleep, and the way to the API server can be cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, sleep, timeout};

use super::{Api, Reaction};
use crate::cluster::kubernetes::lease::election;
use crate::election::{Election, Timing};
use crate::fence::Fence;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/headroom/leases/headroom";

struct Candidate {
    election: Election,
    fence: Fence,
    /// How long its machine has slept, in seconds: the clock of its tasks stood still meanwhile.
    slept: Arc<AtomicU64>,
}

fn candidate(api: &Api, identity: &str) -> Candidate {
    let started = Instant::now();
    let slept = Arc::new(AtomicU64::new(0));
    let asleep = Arc::clone(&slept);
    let fence = Fence::closed_by(move || started.elapsed() + Duration::from_secs(asleep.load(Ordering::SeqCst)));
    let client = api.client_of(identity, fence.clone());
    let election = election(client, "headroom", "headroom", identity, Timing::default(), fence.clone());
    Candidate { election, fence, slept }
}

async fn seconds(future: impl Future<Output = ()>) -> u64 {
    let started = Instant::now();
    timeout(Duration::from_secs(600), future).await.expect("within 600 s");
    started.elapsed().as_secs()
}

fn holder(api: &Api) -> String {
    api.object(LEASE).unwrap()["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_first_leads_and_goes_on_leading() {
    let api = Api::default();
    let (first, second) = (candidate(&api, "first"), candidate(&api, "second"));
    assert!(first.fence.check().is_err());
    assert_eq!(seconds(first.election.leading()).await, 0);
    assert!(timeout(Duration::from_secs(120), second.election.leading()).await.is_err());
    assert!(timeout(Duration::from_secs(120), first.election.lost()).await.is_err());
    assert!(first.fence.check().is_ok());
    assert!(second.fence.check().is_err());
    let lease = api.object(LEASE).unwrap();
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 15);
    assert_eq!(lease["spec"]["leaseTransitions"], 0);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_taken_at_the_next_try() {
    let api = Api::default();
    let (first, second) = (candidate(&api, "first"), candidate(&api, "second"));
    first.election.leading().await;
    let next = async {
        tokio::join!(second.election.leading(), async {
            sleep(Duration::from_secs(5)).await;
            first.election.release().await.unwrap();
            assert!(first.fence.check().is_err());
            first.election.lost().await;
        });
    };
    let waited = seconds(next).await;
    assert!(waited <= 7, "{waited} s");
    assert_eq!(holder(&api), "second");
    assert_eq!(api.object(LEASE).unwrap()["spec"]["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_killed_is_followed_once_its_lease_is_over() {
    let api = Api::default();
    let (first, second) = (candidate(&api, "first"), candidate(&api, "second"));
    first.election.leading().await;
    drop(first);
    let waited = seconds(second.election.leading()).await;
    assert!((15..=18).contains(&waited), "{waited} s");
}

/// The clocks of two machines are never compared.
#[tokio::test(start_paused = true)]
async fn what_the_lease_says_about_times_does_not_matter() {
    let api = Api::default();
    let spec = json!({
        "holderIdentity": "other", "leaseDurationSeconds": 15, "leaseTransitions": 4,
        "renewTime": "1999-01-01T00:00:00.000000Z", "acquireTime": "1999-01-01T00:00:00.000000Z",
    });
    api.put(LEASE, json!({ "spec": spec }));
    let waited = seconds(candidate(&api, "first").election.leading()).await;
    assert!((15..=18).contains(&waited), "{waited} s");
    assert_eq!(api.object(LEASE).unwrap()["spec"]["leaseTransitions"], 5);
}

#[tokio::test(start_paused = true)]
async fn a_leader_without_a_way_to_the_server_closes_its_fence_before_another_can_lead() {
    let api = Api::default();
    let (first, second) = (candidate(&api, "first"), candidate(&api, "second"));
    first.election.leading().await;
    api.cut(&["first"]);
    let started = Instant::now();
    let (lost, led) = tokio::join!(
        async {
            first.election.lost().await;
            assert!(first.fence.check().is_err());
            started.elapsed()
        },
        async {
            second.election.leading().await;
            assert!(first.fence.check().is_err());
            started.elapsed()
        }
    );
    assert_eq!(lost.as_secs(), 10);
    assert!(led.as_secs() >= 15, "{led:?}");
    assert_eq!(holder(&api), "second");
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_has_slept_finds_its_fence_closed_at_once() {
    let api = Api::default();
    let first = candidate(&api, "first");
    first.election.leading().await;
    first.slept.store(12, Ordering::SeqCst);
    assert!(first.fence.check().is_err(), "before any task of it has run");
    first.election.lost().await;
    // Nobody else has come: it may lead again, once no call of before is under way any more.
    assert!(first.fence.check().is_err());
    assert_eq!(seconds(first.election.leading()).await, 10);
    assert!(first.fence.check().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_has_slept_does_not_renew_what_another_has_taken() {
    let api = Api::default();
    let (first, second) = (candidate(&api, "first"), candidate(&api, "second"));
    first.election.leading().await;
    api.cut(&["first"]);
    second.election.leading().await;
    api.cut(&[]);
    first.election.lost().await;
    assert!(timeout(Duration::from_secs(60), first.election.leading()).await.is_err());
    assert!(first.fence.check().is_err());
    assert!(second.fence.check().is_ok());
}

#[tokio::test(start_paused = true)]
async fn one_renewal_that_fails_is_no_loss() {
    let api = Api::default();
    let first = candidate(&api, "first");
    first.election.leading().await;
    api.next(Method::PUT, "/headroom", Reaction::Lost);
    assert!(timeout(Duration::from_secs(60), first.election.lost()).await.is_err());
    assert!(first.fence.check().is_ok());
}

#[tokio::test(start_paused = true)]
async fn somebody_who_annotates_the_lease_again_and_again_takes_nothing() {
    let api = Api::default();
    let first = candidate(&api, "first");
    first.election.leading().await;
    for round in 0..3 {
        let note = move |lease: &mut Value| lease["metadata"]["annotations"] = json!({ "round": round.to_string() });
        api.next(Method::PUT, "/headroom", Reaction::Before(Box::new(move |objects| objects.edit(LEASE, note))));
    }
    assert!(timeout(Duration::from_secs(60), first.election.lost()).await.is_err());
    assert_eq!(api.object(LEASE).unwrap()["metadata"]["annotations"]["round"], "2");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_deletes_is_made_anew() {
    let api = Api::default();
    let first = candidate(&api, "first");
    first.election.leading().await;
    api.remove(LEASE);
    assert!(timeout(Duration::from_secs(60), first.election.lost()).await.is_err());
    assert_eq!(holder(&api), "first");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_takes_by_force_is_lost_at_once() {
    let api = Api::default();
    let first = candidate(&api, "first");
    first.election.leading().await;
    api.edit(LEASE, |lease| lease["spec"]["holderIdentity"] = json!("other"));
    let waited = seconds(first.election.lost()).await;
    assert!(waited <= 2, "{waited} s");
    assert!(first.fence.check().is_err());
}

#[tokio::test(start_paused = true)]
async fn of_two_that_begin_together_one_leads() {
    for _ in 0..20 {
        let api = Api::default();
        let both = [candidate(&api, "first"), candidate(&api, "second")];
        let [a, b] = &both;
        tokio::select! {
            () = a.election.leading() => {}
            () = b.election.leading() => {}
        }
        advance(Duration::from_millis(1)).await;
        let open = both.iter().filter(|candidate| candidate.fence.check().is_ok()).count();
        assert_eq!(open, 1);
    }
}
