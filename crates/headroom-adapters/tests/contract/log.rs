//! What is written to the log.

use std::io::Write;
use std::sync::{Arc, Mutex};

/// Everything, down to traces, that is written while `work` is done on this thread.
pub(crate) async fn log_of(work: impl Future<Output = ()>) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let logs = tracing::subscriber::set_default(subscriber);
    tracing::info!("the log is read");
    work.await;
    drop(logs);
    let text = log.text();
    assert!(text.contains("the log is read"));
    text
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
