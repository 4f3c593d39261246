//! What nobody may be told.

use std::io::Write;
use std::sync::{Arc, Mutex};

use headroom_adapters::fence::Fence;

use super::troubles::everything;
use super::{Stage, TROUBLES, WEB, group, machines};

pub(crate) async fn nobody_is_told_a_secret<S: Stage>() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let logs = tracing::subscriber::set_default(subscriber);
    tracing::info!("the log is read");
    let fence = Fence::open();
    let stage = S::start(&[WEB.of(3)], fence.clone()).await;
    let mut told = vec![stage.shown()];
    let machine = machines(&group(&stage, "web").await).pop().unwrap();
    fence.close();
    for trouble in [None].into_iter().chain(TROUBLES.map(Some)) {
        if stage.trouble(trouble).await {
            for (_, answer) in everything(&stage, &machine).await {
                told.extend(answer.err().map(|error| whole(&error)));
            }
        }
    }
    drop(logs);
    told.push(log.text());
    let told = told.join("\n");
    assert!(told.contains("the log is read"));
    for secret in stage.secrets() {
        assert!(secret.len() > 8, "it could be anywhere by chance");
        if let Some(at) = told.find(&secret) {
            let start = (0..=at.saturating_sub(200)).rev().find(|at| told.is_char_boundary(*at)).unwrap_or_default();
            panic!("a secret is told: {}", &told[start..at + secret.len()]);
        }
    }
}

/// An error with everything that it shows of itself to people and to whoever looks for a bug.
fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts = causes.map(ToString::to_string).collect::<Vec<_>>();
    format!("{}\n{error:?}\n{error:#?}", texts.join("\n"))
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
