//! Two instances: one acts, and the other takes over when it cannot.

use std::time::{Duration, Instant};

use futures::future::join_all;
use rustix::process::Signal;

use crate::cluster::{Job, View};
use crate::headroom::Headroom;
use crate::scene::{Scene, Scenes};
use crate::tap::Tap;
use crate::until;

#[tokio::test(flavor = "multi_thread")]
async fn another_instance_takes_over_and_one_that_was_stopped_writes_nothing_more() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(|scene| async {
        // A lock in a folder is free only when the process that has it is gone.
        if scene.has_locks() { stopped(scene).await } else { killed(scene).await }
    }))
    .await;
}

async fn killed(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 1, max: 4", 0)]);
    let first = scene.headroom("first", &scene.cluster.url(), &config);
    scene.until("the first makes a server", &first, |view| view.usable("job") == 1).await;
    let second = scene.headroom("second", &scene.cluster.url(), &config);
    until("the second stands by", async || {
        if second.log().contains("another instance leads") { Ok(()) } else { Err(second.log()) }
    })
    .await;
    first.kill();
    grows(scene, &second, "web").await;
    assert_eq!(scene.called("create"), 2, "{:?}", scene.calls());
    second.stop();
}

async fn stopped(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 1, max: 4", 0)]);
    let (tap, other) = (Tap::on(&scene.cluster.url()).await, Tap::on(&scene.cluster.url()).await);
    let first = scene.headroom("first", &tap.url(), &config);
    scene.until("the first makes a server", &first, |view| view.usable("job") == 1).await;
    let second = scene.headroom("second", &other.url(), &config);
    until("the second stands by", async || {
        if second.log().contains("another instance leads") { Ok(()) } else { Err(second.log()) }
    })
    .await;
    assert!(other.writes().is_empty(), "{:?}", other.writes());

    first.signal(Signal::STOP);
    let since = Instant::now();
    let (before, pid) = (scene.calls().len(), first.id().as_raw_nonzero().to_string());
    grows(scene, &second, "web").await;
    first.signal(Signal::CONT);
    // It finds that it does not lead any more, and the second goes on.
    until("the first stands by", async || {
        if first.log().contains("another instance leads") { Ok(()) } else { Err(first.log()) }
    })
    .await;
    second.makes_rounds(3).await;
    // What was on its way when the process was stopped may still have arrived.
    let late: Vec<_> = tap.writes().into_iter().filter(|write| write.at > since + Duration::from_secs(5)).collect();
    assert!(late.is_empty(), "the stopped leader wrote {late:?}\n{}", first.log());
    let calls = scene.calls();
    assert!(calls[before..].iter().all(|call| !call.starts_with(&format!("{pid} "))), "{calls:?}");

    second.kill();
    grows(scene, &first, "more").await;
    assert_eq!((scene.called("create"), scene.called("delete")), (3, 0), "{:?}", scene.calls());
    first.stop();
}

/// A task that fits nowhere gets a server.
async fn grows(scene: &Scene, headroom: &Headroom, job: &'static str) {
    // The first of these runs beside nothing.
    scene.cluster.run(&Job { count: if job == "web" { 2 } else { 1 }, ..Job::of(job, 900) }).await;
    let all = |view: &View| view.running("web") == 2 && (job == "web" || view.running(job) == 1);
    scene.until("the pool grows", headroom, all).await;
}
