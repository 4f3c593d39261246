//! Machines come from an external provider: another process of Headroom that offers kwok's, by Cluster Autoscaler's
//! protocol and with certificates on both sides.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::control_plane::{ControlPlane, Role, ports};
use crate::headroom::{Headroom, group};
use crate::process::Process;
use crate::scene::{LABEL, Scene, Workload};

const QUICK: &str = "scaleDown: { unneededTime: 3s, delayAfterAdd: 0s }";

/// A certificate or key that the tests of the protocol use too.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../headroom-adapters/tests/externalgrpc/certificates");
    folder.join(name).canonicalize().expect("a file")
}

/// A provider with these groups, and its port.
fn serve(scene: &Scene<'_>, groups: &[String]) -> (Process, u16) {
    let [port] = ports::free();
    let folder = scene.plane.directory();
    let config = folder.join(format!("{}-provider.yaml", scene.name));
    std::fs::write(&config, format!("dryRun: false\ngroups:\n{}", groups.concat())).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
    command.args(["serve-provider", "--namespace", scene.name, "--listen", &format!("127.0.0.1:{port}")]);
    command.arg("--config").arg(config).arg("--kubeconfig").arg(scene.plane.kubeconfig(Role::Headroom));
    for (option, name) in [("--cert", "provider.pem"), ("--key", "provider.key"), ("--cacert", "ca.pem")] {
        command.arg(option).arg(file(name));
    }
    (Process::start(command, folder.join(format!("{}-provider.log", scene.name)), scene.plane.guard()), port)
}

#[tokio::test]
async fn an_external_provider_gives_the_nodes_and_takes_them_back() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "external").await;
    let offered = group(&scene, "web", "{ cpu: 4, memory: 16Gi, pods: 110 }", "size: { min: 0, max: 4 }");
    let (mut provider, port) = serve(&scene, &[offered]);

    // The file is one of Cluster Autoscaler's.
    let cloud_config = plane.directory().join("external-cloud-config.yaml");
    let path = |name: &str| file(name).display().to_string();
    let (cert, key, ca) = (path("client.pem"), path("client.key"), path("ca.pem"));
    let text = format!("address: localhost:{port}\ncert: {cert}\nkey: {key}\ncacert: {ca}\ngrpc_timeout: 10s\n");
    std::fs::write(&cloud_config, text).expect("a file");
    let external = format!(
        "- name: web\n  select: {{ label: {{ {LABEL}: external, pool: web }} }}\n  strategy: {{ pending: {{}} }}\n  \
         cloud: {{ externalgrpc: {{ cloudConfig: \"{}\", nodeGroup: external-web }} }}\n",
        cloud_config.display()
    );
    let headroom = Headroom::start(&scene, Role::Headroom, QUICK, &[external]);
    scene.deploy(&Workload::named("web").replicas(10)).await;
    let view = scene.runs("web", 10, 60).await;
    assert_eq!(view.nodes.len(), 3, "10 pods of 1 cpu need three nodes of 4: {view}\n{}", headroom.log());

    // The provider's own limit holds.
    scene.scale("web", 30).await;
    scene.until("there are as many nodes as the provider gives", 60, |view| view.nodes.len() == 4).await;
    let plan = headroom.ask(&["explain", "group", "web"]);
    assert!(plan.contains("4"), "{plan}");

    scene.scale("web", 3).await;
    scene.until("one node is left", 120, |view| view.nodes.len() == 1 && view.running("web") == 3).await;
    scene.scale("web", 0).await;
    scene.until("no node is left", 120, |view| view.nodes.is_empty()).await;
    headroom.stop();
    provider.signal(Signal::TERM);
    let status = provider.wait(Duration::from_secs(20));
    assert!(status.success(), "{status}; it printed:\n{}", provider.tail());
}
