//! `headroom plan`: what would be scaled and why, from a dump of a cluster.

use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::Value as Json;

use super::input::{Asked, Input};
use super::server::Server;
use super::stdout;
use crate::view;

/// Arguments of `headroom plan`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    input: Input,

    /// How to show the plan.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,

    /// Exit with 1 if something is refused; a node that is not removed is nothing refused.
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A table of the groups and one line for each action and refusal.
    Table,
    /// The same with more columns.
    Wide,
    /// For programs.
    Json,
    /// The same as YAML.
    Yaml,
}

/// Runs `headroom plan`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (text, refused) = match args.input.ask()? {
        Asked::Here(round) => {
            let text = match args.output {
                Format::Table => view::plan(&round, false),
                Format::Wide => view::plan(&round, true),
                Format::Json => serde_json::to_string_pretty(&view::Output::of(&round))? + "\n",
                Format::Yaml => serde_saphyr::to_string(&view::Output::of(&round))?,
            };
            (text, round.refusals().next().is_some())
        }
        Asked::There(server) => of_server(&server, args.output)?,
    };
    stdout::print(&text)?;
    Ok(if args.check && refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The plan of a running instance, and whether it refuses something.
fn of_server(server: &Server, format: Format) -> anyhow::Result<(String, bool)> {
    let plan: Json = serde_json::from_str(&server.get(&["plan"], &[("output", "json")])?)?;
    let refused = plan["refusals"].as_array().is_some_and(|refusals| !refusals.is_empty());
    let text = match format {
        Format::Table => server.get(&["plan"], &[("output", "table")])?,
        Format::Wide => server.get(&["plan"], &[("output", "wide")])?,
        Format::Json => serde_json::to_string_pretty(&plan)? + "\n",
        Format::Yaml => serde_saphyr::to_string(&plan)?,
    };
    Ok((text, refused))
}
