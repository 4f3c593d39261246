//! A Kubernetes control plane on loopback, with a data directory of its own, that ends with the test.

mod access;
mod binaries;
pub(crate) mod ports;
mod programs;
mod turn;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Client;
use tokio::sync::OnceCell;

use crate::audit;
use crate::guard::Guard;
use crate::process::Process;
use crate::wait::wait_until;
use access::Access;
pub(crate) use access::Role;
use binaries::Binaries;
pub(crate) use binaries::kubectl;
use programs::Programs;
use turn::Turn;

static SHARED: OnceCell<ControlPlane> = OnceCell::const_new();

/// A running control plane with kwok, or what is left of it once a test has stopped a part.
pub(crate) struct ControlPlane {
    programs: Programs,
    api_server: Mutex<Option<Process>>,
    // Held until the end, and dropped in this order: the guard kills what is still running.
    _others: Vec<Process>,
    guard: Arc<Guard>,
    _turn: Option<Turn>,
}

/// The control plane that tests share, while one of them runs.
pub(crate) struct Shared {
    plane: &'static ControlPlane,
    _turn: Turn,
}

impl Deref for Shared {
    type Target = ControlPlane;

    fn deref(&self) -> &ControlPlane {
        self.plane
    }
}

impl ControlPlane {
    /// The control plane that tests share. It ends with the test program. None, with a message, where there are no
    /// binaries and they are not required.
    pub(crate) async fn shared() -> Option<Shared> {
        let binaries = Binaries::find()?;
        let turn = Turn::beside_others().await;
        let plane = SHARED.get_or_init(|| Self::launch(binaries, None)).await;
        Some(Shared { plane, _turn: turn })
    }

    /// One for the caller alone, which may stop the API server. Only a few run at once. None as with
    /// [`ControlPlane::shared`].
    pub(crate) async fn own() -> Option<Self> {
        let binaries = Binaries::find()?;
        Some(Self::launch(binaries, Some(Turn::with_a_control_plane().await)).await)
    }

    /// One for the caller, for whom all other tests wait, since it needs the whole machine. None as with
    /// [`ControlPlane::shared`].
    pub(crate) async fn alone() -> Option<Self> {
        let binaries = Binaries::find()?;
        Some(Self::launch(binaries, Some(Turn::alone().await)).await)
    }

    async fn launch(binaries: Binaries, turn: Option<Turn>) -> Self {
        let directory = tempfile::Builder::new().prefix("headroom-e2e-").tempdir().expect("a directory").keep();
        let guard = Arc::new(Guard::of(&directory));
        let [etcd_port, peer_port, port] = ports::free();
        let programs = Programs { access: Access::create(&directory, port), binaries, directory, etcd_port, peer_port };
        let start = |(name, command)| Process::start(command, programs.log(name), &guard);
        let etcd = start(programs.etcd());
        let api_server = start(programs.api_server());
        let mut plane = Self {
            api_server: Mutex::new(Some(api_server)),
            _others: vec![etcd],
            guard: guard.clone(),
            programs,
            _turn: turn,
        };
        plane.ready().await;
        let programs = &plane.programs;
        let start = |(name, command)| Process::start(command, programs.log(name), &guard);
        let rest = [programs.scheduler(), programs.controller_manager(), programs.kwok()].map(start);
        plane._others.extend(rest);
        plane
    }

    /// A client for everything.
    pub(crate) async fn client(&self) -> Client {
        self.client_of(Role::Admin).await
    }

    /// A client for what one of its users may do.
    pub(crate) async fn client_of(&self, role: Role) -> Client {
        self.programs.access.client(role).await.expect("the API server was ready before")
    }

    /// The kubeconfig file of one of its users.
    pub(crate) fn kubeconfig(&self, role: Role) -> PathBuf {
        self.programs.access.kubeconfig_of(role)
    }

    /// Writes a kubeconfig file for the holder of a token that somebody else has given out.
    pub(crate) fn kubeconfig_for(&self, name: &str, token: &str) -> PathBuf {
        self.programs.access.kubeconfig(&self.programs.directory, name, token)
    }

    /// A directory that goes with the control plane.
    pub(crate) fn directory(&self) -> &Path {
        &self.programs.directory
    }

    /// What ends programs that a test starts besides.
    pub(crate) fn guard(&self) -> &Arc<Guard> {
        &self.guard
    }

    /// All writes until now.
    pub(crate) fn audit(&self) -> Vec<audit::Write> {
        audit::read(&self.programs.audit_log())
    }

    /// Kills the API server. Nobody can read or write until [`ControlPlane::start_api_server`].
    pub(crate) fn stop_api_server(&self) {
        self.api_server.lock().unwrap().take();
    }

    /// Starts the API server again, on the same data and the same port, and waits until it is ready.
    pub(crate) async fn start_api_server(&self) {
        let (name, command) = self.programs.api_server();
        *self.api_server.lock().unwrap() = Some(Process::start(command, self.programs.log(name), &self.guard));
        self.ready().await;
    }

    async fn ready(&self) {
        wait_until("the API server is ready", 60, async || {
            if let Some(api_server) = self.api_server.lock().unwrap().as_mut()
                && let Some(status) = api_server.exit_status()
            {
                panic!("the API server has ended ({status}):\n{}", api_server.tail());
            }
            let client = self.programs.access.client(Role::Admin).await.map_err(|error| error.to_string())?;
            let request = http::Request::get("/readyz").body(Vec::new()).expect("a request");
            let answer = tokio::time::timeout(Duration::from_secs(5), client.request_text(request)).await;
            answer.map_err(|_| "no answer in 5 s".to_owned())?.map_err(|error| format!("{error:?}"))
        })
        .await;
    }
}
