//! `headroom pause` and `headroom resume`: tell a running instance to only show what it would do.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use headroom_adapters::cluster::kubernetes::{client, set_pause};
use headroom_adapters::fence::Fence;
use headroom_adapters::notebook::Pause;
use jiff::{SignedDuration, Timestamp};

use super::connection::Connection;
use crate::config::{self, Cluster, duration};
use crate::live;

/// Arguments of `headroom pause`.
#[derive(Debug, clap::Args)]
pub(super) struct PauseArgs {
    #[command(flatten)]
    what: What,

    /// For how long, for example 2h or 30m; otherwise until it is resumed.
    #[arg(long = "for", value_name = "TIME", value_parser = parse)]
    time: Option<SignedDuration>,
}

/// Arguments of `headroom resume`.
#[derive(Debug, clap::Args)]
pub(super) struct ResumeArgs {
    #[command(flatten)]
    what: What,
}

#[derive(Debug, clap::Args)]
struct What {
    /// The group.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    group: Option<String>,

    /// Everything.
    #[arg(long)]
    all: bool,

    /// The configuration of the running instance, if its cluster is one of Nomad.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["kubeconfig", "context"])]
    config: Option<PathBuf>,

    #[command(flatten)]
    connection: Connection,

    /// The namespace of the running instance, on Kubernetes.
    #[arg(long, value_name = "NAME", default_value = "headroom")]
    namespace: String,
}

/// Runs `headroom pause`.
pub(super) fn pause(args: PauseArgs) -> anyhow::Result<ExitCode> {
    let pause = match args.time {
        None => Pause::Open,
        Some(time) => {
            let until = Timestamp::now().saturating_add(time).unwrap_or(Timestamp::MAX);
            Pause::Until(Timestamp::from_second(until.as_second()).unwrap_or(until))
        }
    };
    let changed = set(&args.what, Some(pause))?;
    let name = args.what.name();
    match pause {
        _ if !changed => eprintln!("{name} was paused already"),
        Pause::Open => eprintln!("{name} is paused until you resume it"),
        Pause::Until(until) => eprintln!("{name} is paused until {until}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `headroom resume`.
pub(super) fn resume(args: ResumeArgs) -> anyhow::Result<ExitCode> {
    let changed = set(&args.what, None)?;
    let name = args.what.name();
    if changed {
        eprintln!("{name} goes on");
    } else {
        eprintln!("{name} was not paused");
    }
    Ok(ExitCode::SUCCESS)
}

impl What {
    fn name(&self) -> String {
        self.group.as_ref().map_or_else(|| "everything".to_owned(), |group| format!("the group {group}"))
    }
}

fn set(what: &What, pause: Option<Pause>) -> anyhow::Result<bool> {
    let cluster =
        what.config.as_deref().map(config::load).transpose()?.map(|config| config.cluster).unwrap_or_default();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        if let Cluster::Nomad(nomad) = cluster {
            return live::nomad::set_pause(&nomad, what.group.as_deref(), pause).await;
        }
        let Connection { kubeconfig, context } = &what.connection;
        // A person says this, and no election is needed for it.
        let client = client::connect(kubeconfig.as_deref(), context.as_deref(), Fence::open()).await?;
        set_pause(&client, &what.namespace, what.group.as_deref(), pause)
            .await
            .with_context(|| format!("the instance in the namespace {} was not told", what.namespace))
    })
}

fn parse(text: &str) -> Result<SignedDuration, String> {
    duration::parse(text).map_err(|error| format!("{}; {}", error.problem, error.hint))
}
