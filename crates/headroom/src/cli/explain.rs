//! `headroom explain`: the full reasoning for one pod, node or group.

use std::process::ExitCode;

use clap::ValueEnum;

use super::input::Input;
use super::stdout;
use crate::view::explain;

/// Arguments of `headroom explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to explain.
    #[arg(value_enum)]
    kind: Kind,

    /// Its name; a pod's may have its namespace in front: NAMESPACE/NAME.
    name: String,

    #[command(flatten)]
    input: Input,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Where it may run, which group it counts for, and what would help it.
    Pod,
    /// Which group it is in, and why it is kept or removed.
    Node,
    /// What it has, what is asked of it, what it wants and what holds it back.
    Group,
}

/// Runs `headroom explain`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let round = args.input.round()?;
    let text = match args.kind {
        Kind::Pod => explain::pod(&round, &args.name)?,
        Kind::Node => explain::node(&round, &args.name)?,
        Kind::Group => explain::group(&round, &args.name)?,
    };
    stdout::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
