//! `headroom run`: scales a cluster until it is told to end.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use super::connection::Connection;
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

/// Runs `headroom run`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let filter = EnvFilter::try_new(&args.log)
        .map_err(|error| anyhow::anyhow!("--log {}: {error}; hint: write error, warn, info or debug", args.log))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let log = log.with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());
    match args.log_format {
        Format::Text => log.with_target(false).init(),
        Format::Json => log.json().flatten_event(true).init(),
    }
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
