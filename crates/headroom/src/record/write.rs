//! Writing a recording.

use std::io::{self, Write};

use headroom_core::memory::Memory;
use headroom_core::plan::Plan;
use headroom_core::policy::Policy;
use headroom_core::snapshot::Change;
use serde::Serialize;

use super::Header;

/// Writes a recording, line by line.
#[derive(Debug)]
pub struct Recorder<W> {
    out: W,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    round: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<&'a Memory>,
    changes: &'a [Change],
    plan: &'a Plan,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording of rounds under `policy`.
    pub fn new(out: W, policy: &Policy) -> io::Result<Self> {
        let mut recorder = Recorder { out };
        recorder.line(&Header::new(policy))?;
        Ok(recorder)
    }

    /// Writes a round: `changes` are those since the round before; `memory` is what it began with, given where that is
    /// not what the round before handed over.
    pub fn round(&mut self, round: u64, memory: Option<&Memory>, changes: &[Change], plan: &Plan) -> io::Result<()> {
        self.line(&Line { round, memory, changes, plan })
    }

    /// Makes sure that everything is written so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Makes sure that everything is written, and gives back where it went.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}
