//! `headroom config`: check a configuration file, or describe its format.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

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
}

/// Runs `headroom config`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check { file } => {
            let config = crate::config::load(&file)?;
            anstream::eprintln!("{}: {} groups, no errors", file.display(), config.policy.groups.len());
        }
    }
    Ok(ExitCode::SUCCESS)
}
