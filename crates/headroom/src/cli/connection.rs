//! How a command finds the cluster.

use std::path::PathBuf;

/// Which cluster is meant; without any of these the one that kubectl would take, or the one that this program runs in.
#[derive(Debug, clap::Args)]
pub(super) struct Connection {
    /// The kubeconfig file.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// The context in the kubeconfig file.
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
}
