//! `headroom migrate`: turn the configuration of another autoscaler into `headroom.yaml`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use headroom_adapters::go_duration;
use jiff::SignedDuration;

use crate::config::{ConfigErrors, read_text};
use crate::dump;
use crate::migrate::cluster_autoscaler::{self, Priorities};
use crate::migrate::escalator::{self, Flags};
use crate::migrate::{CommandLine, manifest};

/// Arguments of `headroom migrate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// Print the headroom.yaml that does what Cluster Autoscaler does; each difference is a comment in it.
    ClusterAutoscaler(ClusterAutoscaler),
    /// Print the headroom.yaml that does what Escalator does; each difference is a comment in it.
    Escalator(Escalator),
    /// The same for the manifest of a Deployment of Cluster Autoscaler or Escalator.
    Manifest(Manifest),
}

#[derive(Debug, clap::Args)]
struct Escalator {
    /// The file of Escalator's --nodegroups, or a ConfigMap with it.
    file: PathBuf,
    /// Escalator's --scaninterval.
    #[arg(long, alias = "scaninterval", value_name = "DURATION", default_value = "60s", value_parser = interval)]
    scan_interval: SignedDuration,
    /// Escalator ran with --drymode.
    #[arg(long)]
    drymode: bool,
    /// Escalator's --aws-assume-role-arn.
    #[arg(long, value_name = "ARN")]
    aws_assume_role_arn: Option<String>,
}

#[derive(Debug, clap::Args)]
struct ClusterAutoscaler {
    /// The ConfigMap of its expander `priority`, or what stands in it under `priorities`.
    #[arg(long, value_name = "FILE")]
    priorities: Option<PathBuf>,
    /// Its command line, for example `-- --nodes=1:10:web --expander=least-waste`.
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Manifest {
    /// The manifest, in YAML or JSON, also with several documents or a List; `-` is standard input. ConfigMaps in it are
    /// used: the node groups of Escalator, and the priorities of Cluster Autoscaler.
    file: PathBuf,
}

/// Runs `headroom migrate`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let yaml = match args.from {
        From::ClusterAutoscaler(args) => of_cluster_autoscaler(args)?,
        From::Escalator(args) => of_escalator(args)?,
        From::Manifest(args) => manifest::migrate(&args.file.display().to_string(), &dump::read_text(&args.file)?)?,
    };
    super::print(&yaml)?;
    Ok(ExitCode::SUCCESS)
}

fn of_cluster_autoscaler(args: ClusterAutoscaler) -> Result<String, ConfigErrors> {
    let priorities = args.priorities.map(|path| {
        let name = path.display().to_string();
        Priorities::read(&name, &read_text(&path, &name)?)
    });
    cluster_autoscaler::migrate(&CommandLine::of_words(&args.flags), priorities.transpose()?.as_ref())
}

fn of_escalator(args: Escalator) -> Result<String, ConfigErrors> {
    let name = args.file.display().to_string();
    let flags = Flags {
        scan_interval: args.scan_interval,
        drymode: args.drymode,
        aws_assume_role_arn: args.aws_assume_role_arn,
        others: Vec::new(),
    };
    escalator::migrate(&name, &read_text(&args.file, &name)?, &flags)
}

fn interval(text: &str) -> Result<SignedDuration, &'static str> {
    go_duration::parse(text).filter(|interval| interval.is_positive()).ok_or("write a duration such as 60s or 1m30s")
}
