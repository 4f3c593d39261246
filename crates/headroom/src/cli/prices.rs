//! `headroom prices`: turn the price list of a cloud into a catalogue.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::prices::aws::{self, Wanted};

/// Arguments of `headroom prices`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    of: Of,
}

#[derive(Debug, Subcommand)]
enum Of {
    /// Print what EC2 machines cost, for the key prices.catalogue of headroom.yaml.
    Aws(Aws),
}

#[derive(Debug, clap::Args)]
struct Aws {
    /// Offer files of AmazonEC2 in JSON, or what `aws pricing get-products`, `aws ec2 describe-spot-price-history` or
    /// `aws ec2 describe-instance-types` print. A type of the last whose price no file says is estimated.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The region, where a file tells of several.
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// What runs on the machines, as price lists call it.
    #[arg(long, value_name = "NAME", default_value = "Linux")]
    operating_system: String,
    /// Only this type; give it once for each.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
}

/// Runs `headroom prices`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Of::Aws(args) = args.of;
    let Aws { files, region, operating_system, types } = args;
    let wanted = Wanted { region, operating_system, types: types.into_iter().collect() };
    let (catalogue, from) = aws::read(&files, &wanted)?;
    super::print(&catalogue.to_yaml(&from))?;
    Ok(ExitCode::SUCCESS)
}
