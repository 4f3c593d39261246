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
    /// Report every error of a configuration file with its place, and what can hardly be meant; the exit code is 2 if
    /// there is an error.
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
            let config = config::load(&file)?;
            if config.warnings.count() > 0 {
                anstream::eprintln!("{}\n", config.warnings.styled());
            }
            let groups = match (config.policy.groups.len(), config.discover.is_empty()) {
                (0, false) => "groups that are discovered".to_owned(),
                (groups, false) => format!("{} and others that are discovered", count(groups, "group")),
                (groups, true) => count(groups, "group"),
            };
            let warnings = match config.warnings.count() {
                0 => String::new(),
                warnings => format!(", {}", count(warnings, "warning")),
            };
            anstream::eprintln!("{}: {groups}, no errors{warnings}", file.display());
        }
        Command::Schema => super::print(&config::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
