//! A pool becomes as large as its tasks need.

use futures::future::join_all;

use crate::cluster::{Job, View};
use crate::scene::{Scene, Scenes};

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_grows_from_no_server_for_tasks_that_wait() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(from_nothing)).await;
}

async fn from_nothing(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 4", 0)]);
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &config);
    headroom.says("readyz", "ok").await;
    headroom.makes_rounds(2).await;
    assert_eq!(scene.servers(), 0, "nothing waits");
    scene.cluster.run(&Job { count: 2, ..Job::of("web", 600) }).await;
    let all = |view: &View| view.running("web") == 2 && view.usable("job") == 2;
    scene.until("two tasks run on two servers", &headroom, all).await;
    // Two have 400 each to spare, in which a third finds no place.
    scene.cluster.run(&Job { count: 3, ..Job::of("web", 600) }).await;
    let all = |view: &View| view.running("web") == 3 && view.usable("job") == 3;
    scene.until("three tasks run on three servers", &headroom, all).await;
    headroom.makes_rounds(2).await;
    assert_eq!((scene.called("create"), scene.called("delete")), (3, 0), "{:?}", scene.calls());
    headroom.stop();
}

/// The tables of the pools' documentation: two servers are wanted, and what comes is half as large. The memory is there with
/// four of these, or with a third that is as large as it should be.
#[tokio::test(flavor = "multi_thread")]
async fn smaller_hardware_is_made_up_for_until_the_memory_is_there() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(|scene| sold_out(scene, &["small"; 4]))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hardware_that_returns_is_taken_again() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(|scene| sold_out(scene, &["small", "small", "large"]))).await;
}

/// The servers come in this order.
async fn sold_out(scene: &Scene, hardware: &[&str]) {
    let memory_is_there = hardware.len();
    let pools = [scene.pool("job", "min: 0, max: 9", 2)];
    scene.put("sold-out-large", "");
    scene.put("hold", "");
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &scene.config("", &pools));
    scene.until("two servers are on their way", &headroom, |_| scene.called("create") == 2).await;
    // What is not there yet counts as the first hardware, so that nothing is short.
    let text = headroom.says("api/v1/explain/group/job", "n: 2 servers of 1.95Gi together").await;
    for line in ["D: a server of large offers 1000Mi", "error: 0 for servers smaller than D", "2 wanted, within 0 to 9"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    if hardware.contains(&"large") {
        scene.take("sold-out-large");
    }
    scene.take("hold");
    scene.until("two halves are one short, and another comes", &headroom, |view| view.usable("job") >= 2).await;
    scene.until("the memory is there", &headroom, |view| view.usable("job") == memory_is_there).await;
    let text =
        headroom.says("api/v1/explain/group/job", &format!("n: {memory_is_there} servers of 1.95Gi together")).await;
    let error = memory_is_there - 2;
    for line in ["used: 0 by tasks", "usage: 0", "margin: 2", &format!("error: {error} for servers smaller than D")] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.contains(&format!("{memory_is_there} wanted, within 0 to 9")), "{text}");
    headroom.makes_rounds(3).await;
    let creates: Vec<String> =
        scene.calls().iter().filter_map(|call| call.split(' ').nth(3).map(str::to_owned)).collect();
    assert_eq!(creates, hardware, "{:?}", scene.calls());
    headroom.stop();
}
