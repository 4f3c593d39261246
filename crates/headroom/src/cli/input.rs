//! What `plan` and `explain` are about: dumps, perhaps a configuration, perhaps an instant.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::dump::{self, Round};

/// Arguments that say what to decide about.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The configuration, usually headroom.yaml; without it, one group is made up for each pool of equal nodes.
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// What `kubectl get nodes,pods -A -o json` wrote, or YAML; can be given several times, `-` is standard input.
    #[arg(short, long = "file", value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The time to decide for, for example 2026-03-01T09:00:00Z; otherwise the latest time in the dump.
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

impl Input {
    /// Reads everything and decides.
    pub(super) fn round(&self) -> anyhow::Result<Round> {
        // The configuration is small, so its errors come before a long read.
        let policy = self.config.as_deref().map(crate::config::load).transpose()?.map(|config| config.policy);
        Ok(Round::of(dump::read(&self.files)?, policy, self.now))
    }
}
