//! Running one command.

use std::collections::BTreeMap;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::OUT_OF_STOCK;
use crate::cloud::servers::provider::ProviderError;

/// So much of what a command writes is read.
const MOST: usize = 16 << 20;
/// How long is waited for the last of it once the command has ended. What it started may hold its streams open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A command with its environment.
pub(super) struct Command {
    words: Vec<String>,
    environment: BTreeMap<String, String>,
    timeout: Duration,
}

/// Why a command cannot even be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start {program}; hint: check the command in the group's cloud section")]
struct NotStarted {
    program: String,
    source: std::io::Error,
}

impl Command {
    pub(super) fn new(words: &[String], timeout: Duration) -> Self {
        Command { words: words.to_vec(), environment: BTreeMap::new(), timeout }
    }

    pub(super) fn with(mut self, variable: &str, value: &str) -> Self {
        self.environment.insert(variable.to_owned(), value.to_owned());
        self
    }

    /// What it writes, once it has ended well.
    pub(super) async fn run(self) -> Result<String, ProviderError> {
        let program = self.words.first().cloned().unwrap_or_default();
        let not_started =
            |source| ProviderError::Unreachable(Box::new(NotStarted { program: program.clone(), source }));
        let mut child = tokio::process::Command::new(&program)
            .args(self.words.get(1..).unwrap_or_default())
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A server that it starts does not end with Headroom's terminal.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(not_started)?;
        let (stdout, stderr) = (Output::of(child.stdout.take()), Output::of(child.stderr.take()));
        let status = match timeout(self.timeout, child.wait()).await {
            Ok(status) => status.map_err(|error| ProviderError::Broken(Box::new(error)))?,
            Err(_) => return Err(ProviderError::Timeout { seconds: self.timeout.as_secs() }),
        };
        let (written, complaint) = tokio::join!(stdout.text(), stderr.text());
        if status.success() { Ok(written) } else { Err(failure(status, &complaint)) }
    }
}

/// What a command that failed says: the last line that it wrote to its standard error.
fn failure(status: ExitStatus, complaint: &str) -> ProviderError {
    let last = complaint.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let reason = last.map_or_else(|| format!("the command ended with {status}"), str::to_owned);
    if status.code() == Some(OUT_OF_STOCK) { ProviderError::OutOfStock(reason) } else { ProviderError::Refused(reason) }
}

/// What comes out of a stream.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
}

impl Output {
    fn of(stream: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let reading = tokio::spawn(async move {
            let Some(mut stream) = stream else { return };
            let mut buffer = [0; 8 << 10];
            while let Ok(count) = stream.read(&mut buffer).await
                && count > 0
            {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MOST.saturating_sub(kept.len()).min(count);
                kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
        });
        Output { bytes, reading }
    }

    async fn text(mut self) -> String {
        // Either all has been read, or the rest is of something that outlives the command.
        let _ = timeout(LAST_WORDS, &mut self.reading).await;
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
