//! `headroom replay`: decide every round of a recording again.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value as Json;

use super::stdout;
use crate::record::{Difference, Replayed, replay};

/// What every file begins with that is compressed with zstd (RFC 8878, 3.1.1).
const ZSTD: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// Arguments of `headroom replay`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A recording, made with --record; it may be compressed with zstd.
    file: PathBuf,
}

/// Runs `headroom replay`.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let file = File::open(&args.file).with_context(|| format!("cannot open {name}"))?;
    let mut input = BufReader::new(file);
    let compressed = input.fill_buf().with_context(|| format!("cannot read {name}"))?.starts_with(&ZSTD);
    let replayed = if compressed { replay(BufReader::new(zstd::Decoder::with_buffer(input)?)) } else { replay(input) };
    match replayed.with_context(|| name.clone())? {
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
