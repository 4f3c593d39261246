//! The command line: one file for each subcommand.
//!
//! Standard output carries data only; errors, warnings and hints go to standard error. The exit code is 0 when all
//! went well, 1 when the answer to a question is no (a check that found something), 2 when something could not be done.

mod config;
mod connection;
mod explain;
mod failure;
mod input;
mod log;
mod migrate;
mod pause;
mod plan;
mod prices;
mod replay;
mod run;
mod serve_provider;
mod server;
mod simulate;
mod stdout;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A node autoscaler for Kubernetes and Nomad.
#[derive(Debug, Parser)]
#[command(name = "headroom", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Scale a cluster until told to end.
    Run(run::Args),
    /// Offer the groups of a configuration to Cluster Autoscaler, as one of its external providers.
    ServeProvider(serve_provider::Args),
    /// Tell the running instance to only show what it would do with a group, or with everything.
    Pause(pause::PauseArgs),
    /// Tell the running instance to go on.
    Resume(pause::ResumeArgs),
    /// Show what would be scaled and why, from a dump of a cluster or the cluster itself.
    Plan(plan::Args),
    /// Explain one pod, node or group: why it is as it is, and what would change it.
    Explain(explain::Args),
    /// Check a configuration file, or describe its format.
    Config(config::Args),
    /// Turn the configuration of another autoscaler into headroom.yaml.
    Migrate(migrate::Args),
    /// Turn a cloud's price list into the file that prices.catalogue names.
    Prices(prices::Args),
    /// Decide every round of a recording again; the exit code is 1 if one comes out otherwise.
    Replay(replay::Args),
    /// Play a simulated cluster in simulated time, and say what came of it.
    Simulate(simulate::Args),
}

/// Runs the program with the arguments of its process.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(args),
        Command::ServeProvider(args) => serve_provider::run(args),
        Command::Pause(args) => pause::pause(args),
        Command::Resume(args) => pause::resume(args),
        Command::Plan(args) => plan::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Config(args) => config::run(args),
        Command::Migrate(args) => migrate::run(args),
        Command::Prices(args) => prices::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Simulate(args) => simulate::run(args),
    };
    result.unwrap_or_else(|error| {
        failure::print(&error);
        ExitCode::from(2)
    })
}

/// Writes data to standard output. A reader that has seen enough (`| head`) is no error.
fn print(data: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(data.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
