//! The program, as a test runs it.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::until;

/// A running `headroom run`. It is killed when this is dropped.
pub(crate) struct Headroom {
    child: Child,
    folder: PathBuf,
    port: u16,
}

impl Headroom {
    /// Starts one with this configuration, whose `http` is added, for a server at `url`. What it logs and records is in
    /// `folder`.
    pub(crate) fn start(folder: &Path, url: &str, environment: &[(&str, &str)], configuration: &str) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let text = format!("http: {{ address: \"127.0.0.1:{port}\" }}\n{configuration}");
        fs::write(folder.join("headroom.yaml"), text).expect("a file");
        let log = File::options().create(true).append(true).open(folder.join("log")).expect("a file");
        let mut command = headroom(url);
        command.args(["run", "--log", "headroom=debug,headroom_adapters=debug,info", "--config"]);
        command.arg(folder.join("headroom.yaml")).arg("--record").arg(folder.join("rounds"));
        command.envs(environment.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        Headroom { child: command.spawn().expect("it starts"), folder: folder.to_owned(), port }
    }

    /// What its HTTP interface has at this path, when it is well.
    pub(crate) async fn get(&self, path: &str) -> Result<String, String> {
        let answer = reqwest::get(format!("http://127.0.0.1:{}/{path}", self.port)).await;
        let answer = answer.map_err(|error| format!("{error}; {}", self.log()))?;
        let well = answer.status().is_success();
        let text = answer.text().await.map_err(|error| error.to_string())?;
        if well { Ok(text) } else { Err(format!("{text}; {}", self.log())) }
    }

    /// Waits until it says this at that path.
    pub(crate) async fn says(&self, path: &str, what: &str) -> String {
        until(what, async || {
            let text = self.get(path).await?;
            if text.contains(what) { Ok(text) } else { Err(format!("{text}; {}", self.log())) }
        })
        .await
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).expect("it runs");
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Waits until it has made as many more rounds as that.
    pub(crate) async fn makes_rounds(&self, more: u64) {
        let mut first = None;
        until("more rounds", async || {
            let metrics = self.get("metrics").await?;
            let rounds =
                metrics.lines().find_map(|line| line.strip_prefix("headroom_decision_duration_seconds_count "));
            let rounds: u64 = rounds.and_then(|rounds| rounds.parse().ok()).ok_or_else(|| metrics.clone())?;
            let first = *first.get_or_insert(rounds);
            if rounds >= first + more { Ok(()) } else { Err(format!("{rounds} rounds since {first}: {}", self.log())) }
        })
        .await;
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Tells it to end, and checks that it does so well, and that what it recorded is decided again as it was.
    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "it does not end: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(status.success(), "{status}: {}", self.log());
        for recording in fs::read_dir(self.folder.join("rounds")).expect("it records") {
            let replayed =
                headroom("").arg("replay").arg(recording.expect("a file").path()).output().expect("it starts");
            assert!(replayed.status.success(), "{replayed:?}");
        }
    }
}

impl Drop for Headroom {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the program answers to these arguments.
pub(crate) fn ask(url: &str, arguments: &[&str], folder: &Path) -> Output {
    let mut command = headroom(url);
    command.args(arguments).arg("--config").arg(folder.join("headroom.yaml")).output().expect("it starts")
}

fn headroom(url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
    let ours = std::env::vars().filter(|(name, _)| name.starts_with("NOMAD_"));
    for (name, _) in ours {
        command.env_remove(name);
    }
    command.env("NOMAD_ADDR", url);
    command
}
