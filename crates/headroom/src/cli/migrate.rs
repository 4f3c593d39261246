//! `headroom migrate`: turn the configuration of another autoscaler into `headroom.yaml`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use jiff::SignedDuration;

use crate::config::read_text;
use crate::migrate::escalator::{self, Flags};
use crate::migrate::parse_go_duration;

/// Arguments of `headroom migrate`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// Print the headroom.yaml that does what Escalator does; each difference is a comment in it.
    Escalator(Escalator),
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

/// Runs `headroom migrate`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let From::Escalator(args) = args.from;
    let name = args.file.display().to_string();
    let flags = Flags {
        scan_interval: args.scan_interval,
        drymode: args.drymode,
        aws_assume_role_arn: args.aws_assume_role_arn,
    };
    super::print(&escalator::migrate(&name, &read_text(&args.file, &name)?, &flags)?)?;
    Ok(ExitCode::SUCCESS)
}

fn interval(text: &str) -> Result<SignedDuration, &'static str> {
    parse_go_duration(text).filter(|interval| interval.is_positive()).ok_or("write a duration such as 60s or 1m30s")
}
