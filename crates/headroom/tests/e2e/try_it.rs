//! What docs/try-it.md says to type: the same load by the same script, without spare room and with it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::account;
use crate::control_plane::{ControlPlane, Role, kubectl};
use crate::process::Process;
use crate::scene::Scene;
use crate::wait::wait_until;

const TRY_IT: &str = include_str!("../../../../deploy/try-it.yaml");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_load_of_the_script_gets_nodes_and_with_slack_the_next_one_need_not_wait() {
    // Spare room is a share of the whole cluster, and any node has room for it.
    let (Some(plane), Some(kubectl)) = (ControlPlane::own().await, kubectl()) else { return };
    let scene = Scene::new(&plane, "try-it").await;
    let config = plane.directory().join("try-it.yaml");
    let text = configuration();
    std::fs::write(&config, &text).expect("a configuration");
    let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
    command.args(["run", "--namespace", scene.name, "--identity", "try-it-0", "--config"]).arg(&config);
    command.arg("--kubeconfig").arg(account::kubeconfig(&scene).await);
    let mut headroom = Process::start(command, plane.directory().join("try-it.log"), plane.guard());
    let admin = plane.kubeconfig(Role::Admin);
    let load = |arguments: &[&str]| load(&kubectl, &admin, scene.name, arguments);

    let cold = load(&["up", "6"]);
    assert!(cold.contains("6 pods of 1 cpu and 1Gi are wanted, and there are 0 nodes\n"), "{cold}");
    assert!(cold.contains(", and there are 2 nodes\n"), "{cold}");

    std::fs::write(&config, text.replace("# slack:", "slack:")).expect("a configuration");
    // Half as much again as 6 cpu on nodes of 4.
    wait_until("there is spare room", 60, async || match load(&["nodes"]) {
        nodes if nodes.trim() == "3" => Ok(()),
        nodes => Err(nodes),
    })
    .await;
    let warm = load(&["up", "9"]);
    assert!(warm.contains("9 pods of 1 cpu and 1Gi are wanted, and there are 3 nodes\n"), "{warm}");
    let nodes = |text: &str| text.lines().filter(|line| line.contains(" demo-")).count();
    assert_eq!((nodes(&cold), nodes(&warm)), (6, 9), "{cold}\n{warm}");
    for late in ["demo-00004", "demo-00005", "demo-00006"] {
        assert!(!warm.contains(late), "all pods are on nodes that were there:\n{warm}");
    }

    std::fs::write(&config, &text).expect("a configuration");
    let down = load(&["down"]);
    assert!(down.contains("no pod is left after ") && down.contains("no node is left after "), "{down}");
    headroom.signal(Signal::TERM);
    let status = headroom.wait(Duration::from_secs(30));
    assert!(status.success(), "{status}: {}", headroom.tail());
}

/// The configuration of the manifest, with an address that is free.
fn configuration() -> String {
    let manifest: serde_json::Value = serde_saphyr::from_str(TRY_IT).expect("valid YAML");
    let text = manifest["data"]["headroom.yaml"].as_str().expect("a configuration");
    text.replace("0.0.0.0:8085", "127.0.0.1:0")
}

/// What the script prints.
fn load(kubectl: &Path, kubeconfig: &Path, namespace: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/generate-load"));
    command.env("KUBECTL", format!("{} --kubeconfig {}", kubectl.display(), kubeconfig.display()));
    command.env("NAMESPACE", namespace).env("PATIENCE", "120").args(arguments);
    let output = command.output().expect("a shell runs it");
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{}: {text}", output.status);
    text
}
