//! Reads the configuration again when it changes, also where a ConfigMap is mounted or where clouds have other groups, and on
//! SIGHUP.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};

use super::journal;
use super::source::Source;
use crate::config::Config;

/// How often the files are looked at. Notifications do not tell of all changes of a mounted ConfigMap.
const EVERY: Duration = Duration::from_secs(2);

/// Sends every configuration that differs from the one before. Of one with errors the errors are sent once, and the old one
/// stays.
pub(super) async fn watch(
    source: Arc<Mutex<Source>>,
    mut current: Arc<Config>,
    changed: mpsc::Sender<Result<Arc<Config>, String>>,
) {
    let mut told: Option<String> = None;
    let mut ticks = tokio::time::interval(EVERY);
    let Ok(mut hangup) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) else { return };
    loop {
        let asked = tokio::select! {
            _ = ticks.tick() => false,
            Some(()) = hangup.recv() => true,
        };
        match source.lock().await.load().await {
            Ok(config) if config == *current => {
                told = None;
                if asked {
                    journal::config_unchanged();
                }
            }
            Ok(config) => {
                told = None;
                current = Arc::new(config);
                journal::config_changed();
                if changed.send(Ok(Arc::clone(&current))).await.is_err() {
                    return;
                }
            }
            Err(errors) => {
                let text = format!("{errors:#}");
                if asked || told.as_deref() != Some(&text) {
                    journal::config_broken(&text);
                    told = Some(text.clone());
                    if changed.send(Err(text)).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
