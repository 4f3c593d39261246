//! Servers go when there are too many, once nothing is on them any more.

use std::time::Duration;

use futures::future::join_all;

use crate::cluster::{Job, View};
use crate::scene::{Scene, Scenes};
use crate::tap::Tap;

/// One that goes on for so many seconds when it is told to end.
fn slow(seconds: u64) -> Job {
    Job { lingers: Duration::from_secs(seconds), ..Job::of("slow", 100) }
}

/// The server of a task that takes long to end is drained. Meanwhile another server of its pool goes, and one comes for
/// another pool. It goes itself only when the task has ended, also where Nomad calls a drain complete before that.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_drain_holds_up_nothing_else() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(slow_drain)).await;
}

async fn slow_drain(scene: &Scene) {
    let pools = [scene.pool("job", "min: 0, max: 4", 0), scene.pool("edge", "min: 0, max: 4", 0)];
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &scene.config("", &pools));
    scene.fills_two_servers(&headroom, &slow(12)).await;
    // It leaves no room for the slow one.
    scene.cluster.run(&Job::of("third", 950)).await;
    let three = |view: &View| view.running("third") == 1 && view.usable("job") == 3;
    scene.until("another runs on a third server", &headroom, three).await;
    scene.cluster.end("first").await;
    scene.until("the slow task is told to end", &headroom, |view| view.lingers("slow")).await;
    scene.cluster.end("third").await;
    scene.cluster.run(&Job { class: "edge", ..Job::of("edge", 600) }).await;
    let meanwhile = |view: &View| view.lingers("slow") && scene.called("delete") == 1 && view.running("edge") == 1;
    scene.until("one server goes and another comes during the drain", &headroom, meanwhile).await;
    let over = |view: &View| {
        let runs = ["slow", "second", "edge"].iter().all(|job| view.running(job) == 1 && !view.lingers(job));
        runs && view.nodes.len() == 2 && view.usable("job") == 1 && view.usable("edge") == 1
    };
    scene.until("two servers are left", &headroom, over).await;
    headroom.makes_rounds(2).await;
    assert_eq!((scene.servers(), scene.called("delete")), (2, 2), "{:?}", scene.calls());
    // Servers are called by their names.
    let log = headroom.log();
    assert!(log.lines().any(|line| line.contains("make job-") && line.contains(" ineligible: ")), "{log}");
    headroom.stop();
}

/// A server that comes late, when the pool is shrinking, is like any other one.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_registers_during_a_drain_is_put_to_work() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(late)).await;
}

async fn late(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 4", 0)]);
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &config);
    scene.fills_two_servers(&headroom, &slow(4)).await;
    scene.put("hold", "");
    scene.cluster.run(&Job::of("third", 950)).await;
    scene.until("a third server is on its way", &headroom, |_| scene.servers() == 3).await;
    scene.cluster.end("first").await;
    scene.until("the slow task is told to end", &headroom, |view| view.lingers("slow")).await;
    scene.take("hold");
    let over = |view: &View| {
        let runs = ["slow", "second", "third"].iter().all(|job| view.running(job) == 1 && !view.lingers(job));
        runs && view.nodes.len() == 2 && view.usable("job") == 2
    };
    scene.until("the third is in the place of the first", &headroom, over).await;
    headroom.makes_rounds(2).await;
    let calls = (scene.servers(), scene.called("create"), scene.called("delete"));
    assert_eq!(calls, (2, 3, 1), "{:?}", scene.calls());
    headroom.stop();
}

/// The server on which Headroom itself runs stays, although another one has more work.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_that_headroom_runs_on_never_goes() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(own_server)).await;
}

async fn own_server(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 4", 0)]);
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &config);
    scene.fills_two_servers(&headroom, &slow(4)).await;
    headroom.stop();
    let view = scene.cluster.view().await.expect("an answer");
    let task = view.live("slow").next().expect("it runs");
    let tap = Tap::on(&scene.cluster.url()).await;
    let headroom = scene.headroom_in("task", &tap.url(), &[("NOMAD_ALLOC_ID", &task.id)], &config);
    headroom.says("readyz", "ok").await;
    scene.cluster.end("first").await;
    let moved = |view: &View| view.running("second") == 1 && view.nodes.len() == 1 && view.usable("job") == 1;
    let after = scene.until("the other one goes", &headroom, moved).await;
    assert_eq!(after.nodes[0].id, task.node, "{after}");
    let touched: Vec<_> = tap.writes().into_iter().filter(|write| write.call.contains(&task.node)).collect();
    assert!(touched.is_empty(), "{touched:?}");
    headroom.stop();
}
