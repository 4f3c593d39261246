//! Nothing outlives the tests, also when the test program is killed.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;

/// Reads which processes are running. When the other end of its standard input is gone, whatever the reason, it kills
/// them and removes the directory.
const SCRIPT: &str = r#"
running=
while read -r what process; do
    case $what in
    started) running="$running $process" ;;
    ended)
        others=
        for other in $running; do [ "$other" = "$process" ] || others="$others $other"; done
        running=$others
        ;;
    esac
done
[ -z "$running" ] || kill -KILL $running 2>/dev/null
rm -rf -- "$1" 2>/dev/null || { sleep 1; rm -rf -- "$1"; }
"#;

/// A shell that kills the processes of a test and removes their directory once this is dropped or this program is gone.
pub(crate) struct Guard {
    shell: Child,
    pipe: Mutex<Option<ChildStdin>>,
}

impl Guard {
    /// Looks after `directory` and the processes that are told to it.
    pub(crate) fn of(directory: &Path) -> Self {
        let mut command = Command::new("sh");
        command.arg("-c").arg(SCRIPT).arg("guard").arg(directory);
        // A group of its own: Ctrl-C ends the tests, not what cleans up after them.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = command.spawn().expect("a shell starts");
        let pipe = Mutex::new(shell.stdin.take());
        Self { shell, pipe }
    }

    pub(crate) fn started(&self, process: u32) {
        self.tell("started", process);
    }

    /// To be called before the process is waited for: from then on its number may belong to another.
    pub(crate) fn ended(&self, process: u32) {
        self.tell("ended", process);
    }

    fn tell(&self, what: &str, process: u32) {
        let mut pipe = self.pipe.lock().unwrap();
        let pipe = pipe.as_mut().expect("the guard is there until it is dropped");
        writeln!(pipe, "{what} {process}").expect("the guard listens");
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Ok(mut pipe) = self.pipe.lock() {
            pipe.take();
        }
        let _ = self.shell.wait();
    }
}
