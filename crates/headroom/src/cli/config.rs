//! `headroom config`: check a configuration file, or describe its format.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::config;

/// Arguments of `headroom config`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Report every error of a configuration file with its place; the exit code is 2 if there is one.
    Check {
        /// The configuration file, usually headroom.yaml.
        file: PathBuf,
    },
    /// Print the JSON schema of the configuration file, for editors.
    Schema,
}

/// Runs `headroom config`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check { file } => {
            let groups = config::load(&file)?.policy.groups.len();
            let plural = if groups == 1 { "" } else { "s" };
            anstream::eprintln!("{}: {groups} group{plural}, no errors", file.display());
        }
        Command::Schema => super::print(&config::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}
