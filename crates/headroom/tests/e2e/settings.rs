//! What users change while the program runs.

use std::process::Command;

use crate::control_plane::{ControlPlane, Role};
use crate::headroom::{Headroom, group};
use crate::scene::{Scene, Workload};
use crate::wait::wait_until;

const MACHINE: &str = "{ cpu: 4, memory: 16Gi, pods: 110 }";

#[tokio::test]
async fn a_larger_minimum_counts_without_a_restart_and_a_broken_configuration_changes_nothing() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "settings").await;
    let mut headroom =
        Headroom::start(&scene, Role::Headroom, "", &[group(&scene, "web", MACHINE, "size: { max: 5 }")]);
    scene.deploy(&Workload::named("web").replicas(1)).await;
    scene.until("there is one node", 60, |view| view.nodes.len() == 1).await;
    headroom.configure("interval: 1y", &[]);
    wait_until("the error is in the log", 20, async || {
        let log = headroom.log();
        if log.contains("the new configuration has errors, so the old one stays") { Ok(()) } else { Err(log) }
    })
    .await;
    headroom.configure("", &[group(&scene, "web", MACHINE, "size: { min: 3, max: 5 }")]);
    scene.until("there are three nodes", 60, |view| view.nodes.len() == 3).await;
    headroom.stop();
}

#[tokio::test]
async fn what_is_paused_is_shown_and_not_done() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "pausing").await;
    let tell = |verb: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
        command.args([verb, "--all", "--namespace", scene.name, "--kubeconfig"]).arg(plane.kubeconfig(Role::Admin));
        let output = command.output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    tell("pause");
    let headroom = Headroom::start(&scene, Role::Headroom, "", &[group(&scene, "web", MACHINE, "size: { max: 5 }")]);
    scene.deploy(&Workload::named("web").replicas(2)).await;
    wait_until("the plan shows what would be done", 40, async || {
        let plan = headroom.ask(&["plan"]);
        if plan.contains("0 -> 1") { Ok(()) } else { Err(plan) }
    })
    .await;
    assert_eq!(scene.view().await.nodes.len(), 0, "{}", headroom.log());
    tell("resume");
    scene.runs("web", 2, 60).await;
    headroom.stop();
}
