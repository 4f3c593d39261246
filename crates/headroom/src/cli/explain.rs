//! `headroom explain`: the full reasoning for one pod, node or group, or for the room that is kept free.

use std::process::ExitCode;

use clap::ValueEnum;

use super::input::{Asked, Input};
use super::stdout;
use crate::view::explain::{self, Kind};

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

/// Runs `headroom explain`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = match args.input.ask()? {
        Asked::Here(round) => explain::explain(&round, args.kind, args.name.as_deref())?,
        Asked::There(server) => {
            let kind = args.kind.to_possible_value().map(|kind| kind.get_name().to_owned()).unwrap_or_default();
            let name = args.name.iter().flat_map(|name| name.split('/'));
            let path: Vec<&str> = ["explain", &kind].into_iter().chain(name).collect();
            server.get(&path, &[])?
        }
    };
    stdout::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
