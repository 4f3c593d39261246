//! Headroom as the manifests install it: their rights suffice for everything that it does.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::account;
use crate::control_plane::ControlPlane;
use crate::process::Process;
use crate::scene::{Scene, Workload};

const CONFIG: &str = "
cluster: { kubernetes: {} }
dryRun: false
interval: 2s
http: { address: 127.0.0.1:0 }
otherAutoscalers: ignore
cordon: true
scaleDown: { unneededTime: 3s, delayAfterAdd: 0s }
groups:
  - name: install
    select: { label: { scene: install } }
    cloud: { kwok: {} }
    size: { min: 0, max: 3 }
    template:
      cpu: 2
      memory: 8Gi
      labels: { scene: install }
    strategy: { pending: {} }
";

#[tokio::test]
async fn a_group_grows_and_shrinks_with_the_rights_of_the_manifests() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let scene = Scene::new(&plane, "install").await;
    let kubeconfig = account::kubeconfig(&scene).await;
    let config = plane.directory().join("install.yaml");
    std::fs::write(&config, CONFIG).expect("a configuration");
    let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
    command.args(["run", "--namespace", "install", "--identity", "install-0", "--config"]).arg(&config);
    command.arg("--kubeconfig").arg(&kubeconfig);
    let mut headroom = Process::start(command, plane.directory().join("install.log"), plane.guard());

    scene.deploy(&Workload::named("web").replicas(3)).await;
    let view = scene.runs("web", 3, 90).await;
    assert!((2..=3).contains(&view.nodes.len()), "{view}");
    // One of them is drained.
    scene.scale("web", 1).await;
    scene.until("one node is left", 120, |view| view.nodes.len() == 1 && view.running("web") == 1).await;
    scene.scale("web", 0).await;
    scene.until("no node is left", 120, |view| view.nodes.is_empty()).await;

    headroom.signal(Signal::TERM);
    let status = headroom.wait(Duration::from_secs(30));
    assert!(status.success(), "{status}: {}", headroom.tail());
    let output = headroom.output();
    assert!(!output.contains("not allowed"), "{output}");
    let page = scene.status().await;
    assert!(page.contains("- name: install"), "{page}");
    let mut told: Vec<String> = [scene.told("install", "Pod").await, scene.told("default", "Node").await].concat();
    // Other instances tell of their nodes, too.
    told.retain(|line| line.starts_with("install") || line.starts_with("web"));
    for reason in ["TriggeredScaleUp", "ScaleDown: marked", "ScaleDown: removed"] {
        assert!(told.iter().any(|line| line.contains(reason)), "{reason} is not among {told:#?}");
    }
    let refused = plane.audit().into_iter().filter(|write| write.user().ends_with(":install:headroom"));
    let refused: Vec<_> = refused.filter(|write| !write.succeeded()).map(|write| format!("{write:?}")).collect();
    assert!(refused.iter().all(|write| !write.contains("code: 403")), "{refused:#?}");
}
