//! A Kubernetes control plane on loopback, with a data directory of its own, that ends with the test.

mod access;
mod binaries;
pub(crate) mod ports;
mod programs;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Client;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

use crate::audit;
use crate::guard::Guard;
use crate::process::Process;
use crate::wait::wait_until;
use access::Access;
pub(crate) use access::Role;
use binaries::Binaries;
use programs::Programs;

/// A control plane needs 700 MiB and, while it starts, a cpu and more.
static OWN: Semaphore = Semaphore::const_new(1);
static SHARED: OnceCell<ControlPlane> = OnceCell::const_new();

/// A running control plane with kwok, or what is left of it once a test has stopped a part.
pub(crate) struct ControlPlane {
    programs: Programs,
    api_server: Mutex<Option<Process>>,
    // Held until the end, and dropped in this order: the guard kills what is still running.
    _others: Vec<Process>,
    guard: Arc<Guard>,
    _permit: Option<SemaphorePermit<'static>>,
}

impl ControlPlane {
    /// The control plane that tests share. It ends with the test program. None, with a message, where there are no
    /// binaries and they are not required.
    pub(crate) async fn shared() -> Option<&'static Self> {
        let binaries = Binaries::find()?;
        Some(SHARED.get_or_init(|| Self::launch(binaries, None)).await)
    }

    /// One for the caller alone, which may stop the API server. Only a few run at once. None as with
    /// [`ControlPlane::shared`].
    pub(crate) async fn own() -> Option<Self> {
        let binaries = Binaries::find()?;
        let permit = OWN.acquire().await.expect("never closed");
        Some(Self::launch(binaries, Some(permit)).await)
    }

    async fn launch(binaries: Binaries, permit: Option<SemaphorePermit<'static>>) -> Self {
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
            _permit: permit,
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
        self.programs.access.client(Role::Admin).await.expect("the API server was ready before")
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
