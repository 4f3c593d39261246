//! `headroom replay`: decide every round of a recording again.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value as Json;

use super::stdout;
use crate::record::{Difference, Replayed, replay};

/// Arguments of `headroom replay`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A recording, made with --record.
    file: PathBuf,
}

/// Runs `headroom replay`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let file = File::open(&args.file).with_context(|| format!("cannot open {name}"))?;
    match replay(BufReader::new(file)).with_context(|| name.clone())? {
        Replayed::Same { rounds } => {
            stdout::print(&format!("{rounds} rounds, all decided as recorded\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Replayed::Differs(difference) => {
            stdout::print(&describe(&name, &difference))?;
            Ok(ExitCode::from(1))
        }
    }
}

fn describe(name: &str, difference: &Difference) -> String {
    let Difference { line, round, at, path, recorded, decided, program } = difference;
    let show = |value: &Option<Json>| value.as_ref().map_or_else(|| "nothing".to_owned(), Json::to_string);
    let (recorded, decided) = (show(recorded), show(decided));
    format!(
        "{name}:{line}: round {round} at {at} is decided otherwise\n  at       {path}\n  recorded {recorded}\n  decided  \
         {decided}\n  recorded by headroom {program}, decided by headroom {}\n",
        env!("CARGO_PKG_VERSION")
    )
}
