//! A program that a test starts, with its output in a file.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::guard::Guard;

/// A running program. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    ended: Option<ExitStatus>,
    guard: Arc<Guard>,
    log: PathBuf,
}

impl Process {
    /// Starts `command`; what it prints is appended to `log`.
    pub(crate) fn start(mut command: Command, log: PathBuf, guard: &Arc<Guard>) -> Self {
        let output = File::options().create(true).append(true).open(&log).expect("the log can be written");
        let errors = output.try_clone().expect("a file can be opened twice");
        let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        let child = child.unwrap_or_else(|error| panic!("{} does not start: {error}", command.get_program().display()));
        guard.started(child.id());
        Self { child, ended: None, guard: guard.clone(), log }
    }

    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        assert!(self.ended.is_none(), "the process has ended: {:?}", self.ended);
        kill_process(self.id(), signal).expect("a child can be signalled");
    }

    /// How it ended; None while it is running.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none()
            && let Some(status) = self.child.try_wait().expect("a child can be asked")
        {
            self.guard.ended(self.child.id());
            self.ended = Some(status);
        }
        self.ended
    }

    /// Waits until it has ended by itself or after a signal, and says how.
    pub(crate) fn wait(&mut self, at_most: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.exit_status() {
                return status;
            }
            assert!(start.elapsed() < at_most, "still running after {at_most:?}; it printed:\n{}", self.tail());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if self.exit_status().is_none() {
            self.signal(Signal::KILL);
            self.wait(Duration::from_secs(10));
        }
    }

    /// Everything that it has printed.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The last lines that it has printed.
    pub(crate) fn tail(&self) -> String {
        let output = self.output();
        let lines: Vec<_> = output.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.guard.ended(self.child.id());
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
