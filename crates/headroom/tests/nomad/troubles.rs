//! Nomad does not answer, or not with everything.

use fake_nomad::{Failing, Token};
use futures::future::join_all;

use crate::cluster::{Job, ROOT, View};
use crate::headroom::Headroom;
use crate::scene::{Scene, Scenes};
use crate::tap::Tap;
use crate::until;

/// What a token may not see is missing from lists without a word, so that servers with tasks look idle.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_becomes_weak_drains_nothing() {
    let scenes = Scenes::of_fakes("tokens need an ACL system, which the test would have to set up").await;
    join_all(scenes.each.iter().map(weak)).await;
}

async fn weak(scene: &Scene) {
    const SECRET: &str = "5e12c0de";
    let fake = scene.cluster.pretended();
    let tokens = |reads| vec![Token::management(ROOT), Token::client(SECRET, reads)];
    fake.set_tokens(tokens(Some("*")));
    let tap = Tap::on(&scene.cluster.url()).await;
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 4", 0)]);
    let headroom = scene.headroom_in("headroom", &tap.url(), &[("NOMAD_TOKEN", SECRET)], &config);
    scene.fills_two_servers(&headroom, &Job::of("moves", 100)).await;
    // Newer ones refuse where nothing in any namespace may be read.
    let weak = if scene.cluster.name() == "old" { &[None, Some("other")][..] } else { &[Some("other")] };
    for reads in weak.iter().copied() {
        fake.set_tokens(tokens(reads));
        refuses(&headroom).await;
    }
    fake.set_tokens(tokens(Some("*")));
    // Nobody says why this list is empty.
    fake.fail(Some(Failing::NoAllocations));
    refuses(&headroom).await;
    let marks: Vec<_> = tap.writes().into_iter().filter(|write| write.call.contains("/v1/node/")).collect();
    assert!(marks.is_empty(), "{marks:?}");
    assert_eq!((scene.servers(), scene.called("delete")), (2, 0), "{:?}", scene.calls());
    fake.fail(None);
    one_goes(scene, &headroom).await;
    headroom.stop();
}

async fn refuses(headroom: &Headroom) {
    until("it knows only a part", async || {
        let plan = headroom.get("api/v1/plan").await?;
        let plan: serde_json::Value = serde_json::from_str(&plan).map_err(|error| error.to_string())?;
        let refuses = plan["refusals"].to_string().contains("pods");
        if refuses && plan["actions"] == serde_json::json!([]) { Ok(()) } else { Err(plan.to_string()) }
    })
    .await;
    headroom.makes_rounds(3).await;
}

/// The server is gone for a while in the middle of a drain. Then all goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_restarted_is_found_again() {
    let mut scenes = Scenes::of_each().await;
    join_all(scenes.each.iter_mut().map(restarted)).await;
}

async fn restarted(scene: &mut Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 4", 0)]);
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &config);
    scene.fills_two_servers(&headroom, &Job::of("moves", 100)).await;
    scene.cluster.end("first").await;
    let begun = |view: &View| view.nodes.iter().any(|node| !node.is_usable());
    scene.until("a server is to go", &headroom, begun).await;
    scene.cluster.stop();
    until("it says so", async || {
        let log = headroom.log();
        if log.contains("cannot be read") { Ok(()) } else { Err(log) }
    })
    .await;
    scene.cluster.resume().await;
    one_left(scene, &headroom).await;
    scene.cluster.run(&Job { count: 2, ..Job::of("web", 600) }).await;
    let grown = |view: &View| view.running("web") == 2;
    scene.until("it grows again", &headroom, grown).await;
    headroom.stop();
}

/// What the server knew since is gone, what Headroom kept in it included, and a server that it did not know comes back.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_went_back_to_a_snapshot_is_followed() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(restored)).await;
}

async fn restored(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 4", 0)]);
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &config);
    scene.cluster.run(&Job::of("first", 850)).await;
    scene.until("a task runs", &headroom, |view| view.running("first") == 1).await;
    let before = scene.cluster.save().await;
    scene.cluster.run(&Job::of("second", 600)).await;
    let two = |view: &View| view.running("second") == 1 && view.usable("job") == 2;
    scene.until("another runs on another server", &headroom, two).await;
    scene.cluster.restore(before).await;
    let one = |view: &View| view.nodes.len() == 1 && view.running("first") == 1 && scene.servers() == 1;
    scene.until("one server is left for what was known", &headroom, one).await;
    scene.cluster.run(&Job::of("third", 600)).await;
    let two = |view: &View| view.running("first") == 1 && view.running("third") == 1 && view.usable("job") == 2;
    scene.until("it grows again", &headroom, two).await;
    assert_eq!((scene.called("create"), scene.called("delete")), (3, 1), "{:?}", scene.calls());
    headroom.stop();
}

async fn one_goes(scene: &Scene, headroom: &Headroom) {
    scene.cluster.end("first").await;
    one_left(scene, headroom).await;
}

async fn one_left(scene: &Scene, headroom: &Headroom) {
    let over = |view: &View| view.nodes.len() == 1 && view.usable("job") == 1 && view.running("moves") == 1;
    scene.until("one server is left", headroom, over).await;
}
