//! `headroom explain`: the full reasoning for one pod, node or group, or for the room that is kept free.

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

    /// Its name; a pod's may have its namespace in front: NAMESPACE/NAME. Of spare room it is a part of what a placeholder
    /// is called, and may be left out.
    #[arg(required_if_eq_any([("kind", "pod"), ("kind", "node"), ("kind", "group")]))]
    name: Option<String>,

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
    /// The room that is kept free for pods to come: every placeholder, why it is wanted and where it is.
    Slack,
}

/// Runs `headroom explain`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let round = args.input.round()?;
    let name = args.name.as_deref();
    let text = match args.kind {
        Kind::Pod => explain::pod(&round, name.unwrap_or_default())?,
        Kind::Node => explain::node(&round, name.unwrap_or_default())?,
        Kind::Group => explain::group(&round, name.unwrap_or_default())?,
        Kind::Slack => explain::slack(&round, name)?,
    };
    stdout::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
