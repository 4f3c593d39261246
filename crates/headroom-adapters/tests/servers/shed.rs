//! Servers that are files, made by commands that are run.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use headroom_adapters::cloud::Cloud;
use headroom_adapters::cloud::servers::process::{Commands, Environment, Process};
use headroom_adapters::cloud::servers::{Hardware, ServerGroup, Servers, UserData};
use headroom_adapters::fence::Fence;
use headroom_core::snapshot::{CloudGroup, InstanceState};
use jiff::SignedDuration;
use tempfile::TempDir;

/// A folder whose files are servers.
pub(super) struct Shed(TempDir);

impl Shed {
    pub(super) fn new() -> Self {
        Shed(tempfile::tempdir().expect("a folder"))
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// Makes commands behave in the way that this file stands for.
    pub(super) fn with(self, file: &str) -> Self {
        self.put(file);
        self
    }

    pub(super) fn put(&self, file: &str) {
        std::fs::write(self.path(file), "").expect("a file");
    }

    pub(super) fn without(&self, file: &str) {
        match std::fs::remove_file(self.path(file)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
    }

    /// A server that somebody made.
    pub(super) fn server(&self, id: &str, cluster: &str, pool: &str) {
        let server = format!(
            "{{\"id\":\"{id}\",\"name\":\"{pool}-{id}\",\"cluster\":\"{cluster}\",\"pool\":\"{pool}\",\"server\":\"{id}\"}}\n"
        );
        std::fs::write(self.path(&format!("{id}.server")), server).expect("a server");
    }

    /// What was done, in order.
    pub(super) fn calls(&self) -> String {
        std::fs::read_to_string(self.path("calls")).unwrap_or_default().lines().collect::<Vec<_>>().join(", ")
    }

    /// How many commands were run.
    pub(super) fn asked(&self) -> usize {
        std::fs::read_to_string(self.path("asked")).unwrap_or_default().lines().count()
    }

    pub(super) fn commands(&self) -> Commands {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/shed.sh");
        let folder = self.0.path().display().to_string();
        let words = |verb: &str| ["sh", script, verb, &folder].map(str::to_owned).to_vec();
        let timeout = SignedDuration::from_secs(20);
        Commands { create: words("create"), list: words("list"), delete: words("delete"), timeout }
    }

    /// The groups `jobs` and `edge` of the cluster `prod`.
    pub(super) fn cloud(&self) -> Servers<Process> {
        self.cloud_of("prod", self.commands(), Fence::open())
    }

    pub(super) fn cloud_of(&self, cluster: &str, commands: Commands, fence: Fence) -> Servers<Process> {
        let process = Process::new(commands, cluster.into(), fence);
        Servers::new(process, cluster.into(), vec![group("jobs"), group("edge")])
    }
}

pub(super) fn group(name: &str) -> ServerGroup<Environment> {
    let hardware = |name: &str| Hardware { name: name.into(), at: vec![("SIZE".into(), format!(" {name} size"))] };
    ServerGroup {
        name: name.into(),
        hardware: vec![hardware("first"), hardware("second")],
        user_data: Some(UserData::new("I am ${HEADROOM_HARDWARE} of ${HEADROOM_POOL}")),
        parallel: NonZeroUsize::MIN,
        retry_hardware_after: Duration::from_secs(600),
    }
}

pub(super) async fn jobs(cloud: &Servers<Process>) -> CloudGroup {
    let groups = cloud.groups().await.expect("groups");
    groups.into_iter().find(|group| &*group.name == "jobs").expect("the group")
}

/// The size, how many machines are in which state, and the failure.
pub(super) async fn show(cloud: &Servers<Process>) -> String {
    let group = jobs(cloud).await;
    let mut text = group.target.to_string();
    for state in [InstanceState::Creating, InstanceState::Running, InstanceState::Deleting, InstanceState::Failed] {
        let count = group.instances.iter().flatten().filter(|machine| machine.state == state).count();
        if count > 0 {
            write!(text, ", {count} {state:?}").expect("text");
        }
    }
    if let Some(failure) = group.failure {
        write!(text, "; {}", failure.message).expect("text");
    }
    text
}
