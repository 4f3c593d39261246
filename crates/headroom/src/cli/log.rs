//! How a command that goes on for long writes its log.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// What is logged, and how.
#[derive(Debug, clap::Args)]
pub(super) struct Log {
    /// How the log is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    log_format: Format,

    /// What is logged: error, warn, info, debug, or a filter such as `headroom=debug,kube=info`.
    #[arg(long, value_name = "FILTER", env = "HEADROOM_LOG", default_value = "info")]
    log: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object on each line.
    Json,
}

impl Log {
    /// Logs to standard error from now on.
    pub(super) fn start(&self) -> anyhow::Result<()> {
        let filter = EnvFilter::try_new(&self.log)
            .map_err(|error| anyhow::anyhow!("--log {}: {error}; hint: write error, warn, info or debug", self.log))?;
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        let log = log.with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
        match self.log_format {
            Format::Text => log.with_target(false).init(),
            Format::Json => log.json().flatten_event(true).init(),
        }
        Ok(())
    }
}
