//! `headroom run`: scales a cluster until it is told to end.

use std::path::PathBuf;
use std::process::ExitCode;

use super::connection::Connection;
use super::log::Log;
use crate::live;

/// Arguments of `headroom run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The configuration, usually headroom.yaml. It is read again when it changes.
    #[arg(short, long, value_name = "FILE")]
    config: PathBuf,

    #[command(flatten)]
    connection: Connection,

    /// The namespace of the objects that Headroom keeps: its Lease, its memory and its status.
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", default_value = "headroom")]
    namespace: String,

    /// What this instance is called in the election; otherwise the name of its pod or machine.
    #[arg(long, value_name = "NAME", env = "POD_NAME")]
    identity: Option<String>,

    /// The node that this instance runs on, which it never removes.
    #[arg(long, value_name = "NODE", env = "NODE_NAME")]
    node: Option<String>,

    /// Decide and report, and write nothing to the cluster or a cloud, whatever the configuration says.
    #[arg(long)]
    dry_run: bool,

    /// Keep the last rounds in this folder, for `headroom replay`.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// How many rounds are kept at least.
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "record")]
    record_rounds: u64,

    #[command(flatten)]
    log: Log,
}

/// Runs `headroom run`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    args.log.start()?;
    let options = live::Options {
        config: args.config,
        kubeconfig: args.connection.kubeconfig,
        context: args.connection.context,
        namespace: args.namespace,
        identity: args.identity.unwrap_or_else(live::machine_name),
        node: args.node,
        record: args.record,
        record_rounds: args.record_rounds,
        dry_run: args.dry_run,
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(live::run(options))?;
    Ok(ExitCode::SUCCESS)
}
