//! What `plan` and `explain` are about: dumps or a cluster, perhaps a configuration, perhaps an instant.

use std::path::PathBuf;

use jiff::Timestamp;

use super::connection::Connection;
use crate::config::{Cloud, Cluster};
use crate::dump::{self, Now, Round};
use crate::live;

/// Arguments that say what to decide about.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// The configuration, usually headroom.yaml; without it, one group is made up for each pool of equal nodes.
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// What `kubectl get nodes,pods -A -o json` wrote, or YAML, or what Nomad's HTTP API answers (docs/nomad.md); can be
    /// given several times, `-` is standard input. Without it the cluster that kubectl would take is read, or the one of Nomad that the configuration says; nothing is written to it.
    #[arg(short, long = "file", value_name = "FILE", conflicts_with_all = ["kubeconfig", "context"])]
    files: Vec<PathBuf>,

    #[command(flatten)]
    connection: Connection,

    /// The time to decide for, for example 2026-03-01T09:00:00Z; otherwise the latest time in the dump, or now.
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,

    /// Ask the instance that runs there about its last round, for example http://127.0.0.1:8085.
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "files", "kubeconfig", "context", "now"])]
    server: Option<String>,
}

/// Where the answer is from.
pub(super) enum Asked {
    /// This program decided.
    Here(Box<Round>),
    /// A running instance is to be asked.
    There(super::server::Server),
}

impl Input {
    /// Reads everything and decides, unless an instance is to be asked.
    pub(super) fn ask(&self) -> anyhow::Result<Asked> {
        if let Some(url) = &self.server {
            return Ok(Asked::There(super::server::Server::at(url)?));
        }
        // The configuration is small, so its errors come before a long read.
        let config = self.config.as_deref().map(crate::config::load).transpose()?;
        let (policy, cluster, discover) = match config {
            Some(config) => (Some(config.policy), config.cluster, config.discover),
            None => (None, Cluster::Kubernetes, Vec::new()),
        };
        let mut round = if self.files.is_empty() {
            let Connection { kubeconfig, context } = &self.connection;
            let dump = live::read(&cluster, policy.as_ref(), kubeconfig.as_deref(), context.as_deref())?;
            let now = self.now.map_or((Timestamp::now(), Now::Clock), |now| (now, Now::Given));
            Round::at(dump, policy, now)
        } else {
            let dump = dump::read(&self.files)?;
            if dump.nomad && policy.is_none() {
                anyhow::bail!("pools of a Nomad cluster are not made up; hint: say with --config what they are");
            }
            Round::of(dump, policy, self.now)
        };
        round.assumed.undiscovered = discover.iter().map(Cloud::search_words).collect();
        Ok(Asked::Here(Box::new(round)))
    }
}
