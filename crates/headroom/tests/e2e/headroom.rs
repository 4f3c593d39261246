//! The program itself, as a test runs it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::control_plane::{Role, ports};
use crate::mount::Mount;
use crate::process::Process;
use crate::scene::{LABEL, Scene};
use crate::wait::wait_until;

/// A running `headroom run`, which keeps its objects in the namespace of its scene.
pub(crate) struct Headroom {
    process: Process,
    config: Mount,
    recordings: PathBuf,
    /// What nobody may read anywhere.
    secrets: Vec<String>,
    port: u16,
}

/// A group whose nodes are kwok's, with the label of the scene.
pub(crate) fn group(scene: &Scene<'_>, name: &str, machine: &str, more: &str) -> String {
    let scene = scene.name;
    format!(
        "- name: {scene}-{name}\n  select: {{ label: {{ {LABEL}: {scene}, pool: {name} }} }}\n  cloud: {{ kwok: {{}} }}\n  \
         template: {machine}\n  strategy: {{ pending: {{}} }}\n{}",
        more.lines().map(|line| format!("  {line}\n")).collect::<String>()
    )
}

impl Headroom {
    /// Starts one as this user. `settings` are keys at the top of the configuration, `groups` its groups.
    pub(crate) fn start(scene: &Scene<'_>, role: Role, settings: &str, groups: &[String]) -> Self {
        Self::start_with(scene, role.name(), &scene.plane.kubeconfig(role), settings, groups)
    }

    /// The same, with variables of the environment.
    pub(crate) fn start_in(scene: &Scene<'_>, environment: &[(&str, &str)], settings: &str, groups: &[String]) -> Self {
        let kubeconfig = scene.plane.kubeconfig(Role::Headroom);
        Self::launch(scene, Role::Headroom.name(), &kubeconfig, environment, settings, groups)
    }

    /// The same, with the cluster that a kubeconfig file says.
    pub(crate) fn start_with(
        scene: &Scene<'_>,
        name: &str,
        kubeconfig: &Path,
        settings: &str,
        groups: &[String],
    ) -> Self {
        Self::launch(scene, name, kubeconfig, &[], settings, groups)
    }

    fn launch(
        scene: &Scene<'_>,
        name: &str,
        kubeconfig: &Path,
        environment: &[(&str, &str)],
        settings: &str,
        groups: &[String],
    ) -> Self {
        let plane = scene.plane;
        let name = format!("{}-{name}", scene.name);
        let [port] = ports::free();
        let config =
            Mount::new(plane.directory().join(format!("{name}.config")), &configuration(port, settings, groups));
        let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
        command.args(["run", "--log", "debug,hyper=info,kube=info,rustls=info,h2=info,tower=info", "--namespace"]);
        command.arg(scene.name).arg("--config").arg(config.file()).arg("--kubeconfig").arg(kubeconfig);
        let credentials = std::fs::read_to_string(kubeconfig).expect("a kubeconfig file");
        let secrets = credentials.lines().filter_map(|line| line.trim().strip_prefix("token: ")).map(str::to_owned);
        let keys = environment.iter().filter(|(name, _)| name.contains("SECRET")).map(|(_, key)| (*key).to_owned());
        let secrets = secrets.chain(keys).collect();
        let recordings = plane.directory().join(format!("{name}.recordings"));
        command.arg("--record").arg(&recordings).envs(environment.iter().copied());
        let log = plane.directory().join(format!("{name}.log"));
        Headroom { process: Process::start(command, log, plane.guard()), config, recordings, secrets, port }
    }

    /// Writes another configuration, which it reads by itself, in the way in which a mounted ConfigMap changes.
    pub(crate) fn configure(&mut self, settings: &str, groups: &[String]) {
        self.config.replace(&configuration(self.port, settings, groups));
    }

    /// Tells it to end, and checks that it does so well, and that what it recorded is decided again as it was.
    pub(crate) fn stop(mut self) {
        self.process.signal(Signal::TERM);
        let status = self.process.wait(Duration::from_secs(20));
        assert!(status.success(), "{status}; it printed:\n{}", self.process.tail());
        let log = self.log();
        assert!(!self.secrets.iter().any(|secret| log.contains(secret)), "the log holds a credential");
        let recordings = std::fs::read_dir(&self.recordings).expect("it records");
        let recordings: Vec<PathBuf> = recordings.map(|entry| entry.expect("a file").path()).collect();
        assert!(!recordings.is_empty(), "nothing is recorded in {}", self.recordings.display());
        for recording in recordings {
            let replayed = Command::new(env!("CARGO_BIN_EXE_headroom")).arg("replay").arg(&recording).output();
            let replayed = replayed.expect("the program starts");
            assert!(replayed.status.success(), "{}: {replayed:?}", recording.display());
            // Of an instance that was killed it has no end.
            let mut text = Vec::new();
            let _ = zstd::Decoder::new(File::open(&recording).expect("a file"))
                .expect("a recording")
                .read_to_end(&mut text);
            let text = String::from_utf8_lossy(&text);
            assert!(!self.secrets.iter().any(|secret| text.contains(secret)), "the recording holds a credential");
        }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.process.kill();
    }

    /// Waits until it makes rounds.
    pub(crate) async fn acts(&self) {
        let ready = format!("http://127.0.0.1:{}/readyz", self.port);
        wait_until("it is ready", 30, async || {
            let answer = reqwest::get(&ready).await.map_err(|error| error.to_string())?;
            if answer.status().is_success() { Ok(()) } else { Err(answer.text().await.unwrap_or_default()) }
        })
        .await;
    }

    /// Waits until somebody else has killed it.
    pub(crate) fn dies(mut self, at_most: Duration) {
        let status = self.process.wait(at_most);
        assert!(!status.success(), "it ended by itself; it printed:\n{}", self.process.tail());
    }

    pub(crate) fn id(&self) -> Pid {
        self.process.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        self.process.output()
    }

    /// What its HTTP interface has at this path.
    pub(crate) async fn get(&self, path: &str) -> String {
        let answer = reqwest::get(format!("http://127.0.0.1:{}/{path}", self.port)).await.expect("an answer");
        answer.text().await.expect("a text")
    }

    /// What `headroom` answers to these arguments, as asked of this instance.
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
        let server = format!("http://127.0.0.1:{}", self.port);
        let output = command.args(arguments).args(["--server", &server]).output().expect("the program starts");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

/// A test that fails shows what the program has logged.
impl Drop for Headroom {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the last that was logged:\n{}", self.process.tail());
        }
    }
}

fn configuration(port: u16, settings: &str, groups: &[String]) -> String {
    let groups = if groups.is_empty() { String::new() } else { format!("groups:\n{}", groups.concat()) };
    format!("dryRun: false\nhttp: {{ address: \"127.0.0.1:{port}\" }}\n{settings}\n{groups}")
}
