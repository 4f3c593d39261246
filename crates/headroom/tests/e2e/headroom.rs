//! The program itself, as a test runs it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::control_plane::{Role, ports};
use crate::process::Process;
use crate::scene::{LABEL, Scene};

/// A running `headroom run`, which keeps its objects in the namespace of its scene.
pub(crate) struct Headroom {
    process: Process,
    config: PathBuf,
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
        let plane = scene.plane;
        let name = format!("{}-{}", scene.name, role.name());
        let [port] = ports::free();
        let config = plane.directory().join(format!("{name}.yaml"));
        std::fs::write(&config, configuration(port, settings, groups)).expect("the configuration can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
        command.args(["run", "--log", "debug,hyper=info,kube=info,rustls=info,h2=info,tower=info", "--namespace"]);
        command.arg(scene.name).arg("--config").arg(&config).arg("--kubeconfig").arg(plane.kubeconfig(role));
        let log = plane.directory().join(format!("{name}.log"));
        Headroom { process: Process::start(command, log, plane.guard()), config, port }
    }

    /// Writes another configuration, which it reads by itself.
    pub(crate) fn configure(&self, settings: &str, groups: &[String]) {
        std::fs::write(&self.config, configuration(self.port, settings, groups)).expect("it can be written");
    }

    /// Tells it to end, and checks that it does so well.
    pub(crate) fn stop(mut self) {
        self.process.signal(Signal::TERM);
        let status = self.process.wait(Duration::from_secs(20));
        assert!(status.success(), "{status}; it printed:\n{}", self.process.tail());
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.process.kill();
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

fn configuration(port: u16, settings: &str, groups: &[String]) -> String {
    let groups = groups.concat();
    format!("dryRun: false\nhttp: {{ address: \"127.0.0.1:{port}\" }}\n{settings}\ngroups:\n{groups}")
}
