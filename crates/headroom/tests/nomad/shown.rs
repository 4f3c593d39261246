//! What users are shown of a pool: metrics, health, explanations, recordings, and what would be done in dry run.

use futures::future::join_all;

use crate::cluster::{Job, View};
use crate::headroom::ask;
use crate::scene::{Scene, Scenes};
use crate::tap::Tap;

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_what_it_would_do_and_does_nothing() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(dry_run)).await;
}

async fn dry_run(scene: &Scene) {
    let tap = Tap::on(&scene.cluster.url()).await;
    let config = scene.config("dryRun: true", &[scene.pool("job", "min: 0, max: 4", 1)]);
    scene.cluster.run(&Job { count: 2, ..Job::of("web", 600) }).await;
    let headroom = scene.headroom("headroom", &tap.url(), &config);
    headroom.says("api/v1/plan", "resize").await;
    headroom.says("readyz", "ok").await;
    headroom.says("metrics", "headroom_dry_run 1").await;
    headroom.says("metrics", "headroom_held{reason=\"dry_run\"} 1").await;
    headroom.makes_rounds(2).await;
    headroom.says("api/v1/explain/group/job", "2 waiting tasks need 2 servers beyond n").await;
    let asked = ask(&scene.cluster.url(), &["plan"], &scene.folder().join("headroom"));
    let asked = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(asked.contains("resize 0 -> 2"), "{asked}");
    assert!(tap.writes().is_empty() && scene.calls().is_empty(), "{:?} {:?}", tap.writes(), scene.calls());
    headroom.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_health_and_reasons_are_there_as_on_kubernetes() {
    let scenes = Scenes::of_each().await;
    join_all(scenes.each.iter().map(shown)).await;
}

async fn shown(scene: &Scene) {
    let config = scene.config("", &[scene.pool("job", "min: 0, max: 2", 2)]);
    let headroom = scene.headroom("headroom", &scene.cluster.url(), &config);
    scene.cluster.run(&Job::of("web", 600)).await;
    let runs = |view: &View| view.running("web") == 1 && view.usable("job") == 2;
    let view = scene.until("it runs, and the pool is as large as it may be", &headroom, runs).await;
    let text = headroom.says("api/v1/explain/group/job", "used: 600Mi by tasks, system jobs aside").await;
    let lines = [
        "n: 2 servers of 1.95Gi together",
        "D: a server of large offers 1000Mi",
        "error: 0 for servers smaller than D",
        "usage: 1 = used / D, rounded up",
        "margin: 2",
        "usage + error + margin = 3",
        "3 wanted, 2 within 0 to 2",
    ];
    for line in lines {
        assert!(text.contains(line), "{line}: {text}");
    }
    let task = view.live("web").next().expect("it runs");
    let node = headroom.says(&format!("api/v1/explain/node/{}", task.node), "default/web.g[0]@").await;
    assert!(node.contains("job: nodes with the label node.class=job"), "{node}");
    headroom.says("healthz", "ok").await;
    let metrics = headroom.says("metrics", "headroom_group_nodes{group=\"job\",state=\"ready\"} 2").await;
    let lines = [
        "headroom_group_target_nodes{group=\"job\"} 2",
        "headroom_group_used_ratio{group=\"job\",resource=\"memory\"} 0.3",
        "headroom_added_nodes_total{group=\"job\"} 2",
        "headroom_actions_total{group=\"job\",action=\"resize\",result=\"done\"}",
    ];
    for line in lines {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    // What it recorded is decided again as it was: that is checked when it stops.
    headroom.stop();
}
