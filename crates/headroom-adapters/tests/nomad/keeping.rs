//! What is kept in variables, and the lock on one of them.

use std::collections::BTreeMap;
use std::time::Duration;

use fake_nomad::{Face, Fake};
use headroom_adapters::cluster::ClusterError;
use headroom_adapters::cluster::nomad::{VariableLease, Variables};
use headroom_adapters::election::{Lease, Turn};
use headroom_adapters::fence::Fence;
use headroom_adapters::notebook::{Notebook, NotebookError, Pause};
use headroom_core::memory::{GroupMemory, Memory};
use jiff::Timestamp;

use super::{client, open};

/// Of as many servers, each with a name as long as an ID.
fn memory(servers: usize) -> Memory {
    let at = Timestamp::from_second(1000).expect("an instant");
    let marked = (0..servers).map(|number| (format!("{number:036}").into(), at)).collect();
    let groups = BTreeMap::from([("jobs".into(), GroupMemory { marked, ..GroupMemory::default() })]);
    Memory { groups, ..Memory::fresh(at) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_of_any_size_is_kept_whole() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let notes = Variables::new(open(&fake), "headroom");
    assert_eq!(notes.load().await.expect("an answer"), None);
    for servers in [1, 5000, 5001, 20_000, 3] {
        notes.save(&memory(servers)).await.expect("it is kept");
        let next = Variables::new(open(&fake), "headroom");
        assert_eq!(next.load().await.expect("an answer"), Some(memory(servers)), "{servers} servers");
    }
    // Both sets have been used in turn.
    assert!(fake.variable("headroom/memory-a/4").is_some() && fake.variable("headroom/memory-b/4").is_some());
    let writes = fake.changes().len();
    notes.save(&memory(3)).await.expect("it is there");
    assert_eq!(fake.changes().len(), writes, "nothing has changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_breaks_off_leaves_the_memory_of_before() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let notes = Variables::new(open(&fake), "headroom");
    notes.save(&memory(5000)).await.expect("it is kept");
    notes.save(&memory(6000)).await.expect("it is kept");
    // The parts of the next one can be written but for one.
    fake.fail(Some(fake_nomad::Failing::At("v1/var/headroom/memory-a/2".to_owned())));
    notes.save(&memory(7000)).await.expect_err("it breaks off");
    fake.fail(None);
    let next = Variables::new(open(&fake), "headroom");
    assert_eq!(next.load().await.expect("an answer"), Some(memory(6000)));
    notes.save(&memory(7000)).await.expect("it is kept");
    assert_eq!(Variables::new(open(&fake), "headroom").load().await.expect("an answer"), Some(memory(7000)));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_never_overwrite_each_other() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let (one, two) = (Variables::new(open(&fake), "headroom"), Variables::new(open(&fake), "headroom"));
    one.save(&memory(1)).await.expect("it is kept");
    let error = two.save(&memory(2)).await.unwrap_err().to_string();
    assert!(error.contains("was written by somebody else"), "{error}");
    two.load().await.expect("an answer");
    two.save(&memory(2)).await.expect("it is kept");
    one.save(&memory(3)).await.expect_err("another is there");
}

/// What the server went back to is older than what is remembered here, which nobody has overtaken.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_kept_again_after_the_server_went_back_to_a_snapshot() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let empty = fake.save();
    // Somebody else's, who led before.
    Variables::new(open(&fake), "headroom").save(&memory(1)).await.expect("it is kept");
    let older = fake.save();
    let notes = Variables::new(open(&fake), "headroom");
    notes.load().await.expect("an answer");
    for (servers, saved) in [(10, older), (20, empty)] {
        notes.save(&memory(servers)).await.expect("it is kept");
        fake.restore(&saved);
        let error = notes.save(&memory(servers + 1)).await.unwrap_err().to_string();
        assert!(error.contains("was written by somebody else"), "{error}");
        notes.save(&memory(servers + 2)).await.expect("it is kept");
        let next = Variables::new(open(&fake), "headroom");
        assert_eq!(next.load().await.expect("an answer"), Some(memory(servers + 2)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_is_kept_beside_it() {
    let fake = Fake::start(Face::New).await.expect("a port");
    let notes = Variables::new(open(&fake), "headroom");
    assert!(notes.set_pause(Some("jobs"), Some(Pause::Open)).await.expect("it is kept"));
    assert!(!notes.set_pause(Some("jobs"), Some(Pause::Open)).await.expect("it is there"));
    let pauses = notes.pauses().await.expect("an answer");
    assert_eq!((pauses.all, pauses.groups.get("jobs")), (None, Some(&Pause::Open)));
    assert!(notes.set_pause(Some("jobs"), None).await.expect("it is kept"));
    assert_eq!(notes.pauses().await.expect("an answer"), Default::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_at_a_time_holds_the_lock() {
    let fake = Fake::start(Face::New).await.expect("a port");
    // What opens the fence does not wait for it.
    let lease =
        |name| VariableLease::new(client(&fake, None, Fence::closed()), "headroom", name, Duration::from_secs(15));
    let (mut one, mut two) = (lease("one"), lease("two"));
    assert!(matches!(one.turn().await.expect("an answer"), Turn::Ours { .. }));
    assert!(matches!(one.turn().await.expect("an answer"), Turn::Ours { .. }), "it is renewed");
    assert_eq!(two.turn().await.expect("an answer"), Turn::Of("one".to_owned()));
    one.release().await.expect("it is free");
    assert!(matches!(two.turn().await.expect("an answer"), Turn::Ours { .. }));
    fake.break_lock("headroom/lock");
    assert!(matches!(one.turn().await.expect("an answer"), Turn::Ours { .. }));
    assert_eq!(two.turn().await.expect("an answer"), Turn::Of("one".to_owned()), "it has lost it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nomad_without_variables_is_said_to_be_too_old() {
    let fake = Fake::start(Face::Old).await.expect("a port");
    let mut lease = VariableLease::new(open(&fake), "headroom", "one", Duration::from_secs(15));
    let error = lease.turn().await.unwrap_err();
    assert!(matches!(&error, ClusterError::TooOld { .. }), "{error:?}");
    assert!(error.to_string().contains("hint: set `state: { folder: { path: … } }`"), "{error}");
    let notes = Variables::new(open(&fake), "headroom");
    let error = notes.load().await.unwrap_err();
    assert!(matches!(&error, NotebookError::Cluster(ClusterError::TooOld { .. })), "{error:?}");
}
