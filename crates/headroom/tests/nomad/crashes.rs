//! Headroom is killed between any two calls, and another one goes on: nothing is lost, and nothing is left behind.

use std::cell::Cell;

use futures::future::join_all;
use tokio::sync::Semaphore;

use crate::cluster::{Job, View};
use crate::scene::{Scene, Scenes};
use crate::tap::Tap;
use crate::until;

/// Cuts that are tried at the same time, each with up to two Nomads. With more of them, a slow machine lets go of tasks.
const AT_ONCE: usize = 3;

/// Places for as many, whichever test they are of.
static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

/// When Headroom is killed.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// After it has changed something in Nomad for the time of this number.
    Call(usize),
    /// After it has made or deleted a server for the time of this number.
    Command(usize),
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_any_call_to_nomad_it_converges_and_loses_nothing() {
    every(Cut::Call).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_any_server_was_made_or_deleted_it_converges_and_loses_nothing() {
    every(Cut::Command).await;
}

/// Tells the story with each cut, until one comes after its end.
async fn every(cut: impl Fn(usize) -> Cut) {
    for first in (1..).step_by(AT_ONCE) {
        let cuts: Vec<Cut> = (first..first + AT_ONCE).map(&cut).collect();
        let whole = join_all(cuts.iter().map(|cut| stories(*cut))).await;
        assert!(first > 1 || whole.first() == Some(&false), "Headroom was never killed");
        if whole.contains(&true) {
            return;
        }
    }
}

/// With each Nomad. Whether the end of the story came before the cut everywhere.
async fn stories(cut: Cut) -> bool {
    let _place = PLACES.acquire().await.expect("it stays open");
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(|scene| story(scene, cut))).await.into_iter().all(|whole| whole)
}

/// Two servers come, and one of them goes when there is less to do, after its task has moved. Whether nobody was killed.
async fn story(scene: &Scene, cut: Cut) -> bool {
    // Without an election another instance acts at once.
    let config = scene.config("leaderElection: false", &[scene.pool("job", "min: 0, max: 2", 0)]);
    let tap = Tap::on(&scene.cluster.url()).await;
    let mut headroom = scene.headroom("headroom", &tap.url(), &config);
    match cut {
        Cut::Call(number) => tap.cut_after(number, headroom.id()),
        Cut::Command(number) => scene.put(&format!("cut-{}", headroom.id().as_raw_nonzero()), &number.to_string()),
    }
    let whole = Cell::new(true);
    let mut keep = || {
        if headroom.has_ended() {
            assert!(whole.replace(false), "{cut:?}: it ended by itself: {}", headroom.log());
            headroom = scene.headroom("headroom", &tap.url(), &config);
        }
        format!("{cut:?}: {}", headroom.log())
    };
    scene.cluster.run(&Job::of("first", 600)).await;
    scene.cluster.run(&Job::of("moves", 100)).await;
    let both = |view: &View| view.running("first") == 1 && view.running("moves") == 1;
    scene.until_kept("two tasks run on one server", &mut keep, both).await;
    scene.cluster.run(&Job::of("second", 850)).await;
    let three = |view: &View| view.running("second") == 1 && view.usable("job") == 2;
    scene.until_kept("another runs on another server", &mut keep, three).await;
    scene.cluster.end("first").await;
    let over = |view: &View| {
        let run = view.running("second") == 1 && view.running("moves") == 1;
        run && view.nodes.len() == 1 && view.usable("job") == 1 && scene.servers() == 1
    };
    scene.until_kept("one server is left", &mut keep, over).await;
    // What would be killed from here on would be after the end. Whoever has been killed at the end may take a moment to go.
    if tap.cut_no_more() {
        let gone = async || {
            keep();
            if whole.get() { Err(String::new()) } else { Ok(()) }
        };
        until("another one has been started", gone).await;
    }
    keep();
    headroom.makes_rounds(2).await;
    let calls = (scene.most_servers(), scene.called("create"), scene.called("delete"));
    assert_eq!(calls, (2, 2, 1), "{cut:?}: {:?}\n{}", scene.calls(), headroom.log());
    headroom.stop();
    whole.get()
}
