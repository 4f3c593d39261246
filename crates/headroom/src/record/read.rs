//! Reading a recording.

use std::io::{self, BufRead};

use headroom_core::memory::Memory;
use headroom_core::snapshot::Change;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use thiserror::Error;

use super::{Header, VERSION};

/// What is wrong with a recording.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// It cannot be read.
    #[error("line {line}: {error}")]
    Io {
        /// The line.
        line: usize,
        /// Why.
        error: io::Error,
    },
    /// There is nothing in it.
    #[error("the recording is empty; hint: make one with `headroom simulate --record FILE`")]
    Empty,
    /// The first line is none of a recording.
    #[error(
        "line 1: this is no recording: {}; hint: the first line of one is an object with `recording`, `headroom` and \
         `policy`",
        in_line(.0)
    )]
    Header(serde_json::Error),
    /// The format is another one.
    #[error(
        "line 1: this recording has format {found}, and this program reads format {VERSION}; hint: replay it with headroom {program}"
    )]
    Version {
        /// Its format.
        found: u32,
        /// The program that wrote it.
        program: String,
    },
    /// A line is damaged.
    #[error("line {line}: this is no round: {}; hint: the file is damaged or cut off there", in_line(error))]
    Round {
        /// The line.
        line: usize,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// Nothing says what was remembered.
    #[error("line {line}: the first round says nothing of what was remembered; hint: the file is cut off at its start")]
    NoMemory {
        /// The line.
        line: usize,
    },
}

/// One round as it was recorded.
#[derive(Debug, Deserialize)]
pub(super) struct RecordedRound {
    pub(super) round: u64,
    #[serde(default)]
    pub(super) memory: Option<Memory>,
    pub(super) changes: Vec<Change>,
    pub(super) plan: Json,
}

#[derive(Deserialize)]
struct At {
    at: Timestamp,
}

impl RecordedRound {
    /// When it was: the plan says it.
    pub(super) fn at(&self) -> Result<Timestamp, serde_json::Error> {
        At::deserialize(&self.plan).map(|plan| plan.at)
    }
}

/// Reads a recording line by line; empty lines are left out.
pub(super) struct Reader<R> {
    lines: io::Lines<R>,
    pub(super) line: usize,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    pub(super) fn new(input: R) -> Result<(Self, Header), RecordingError> {
        let mut reader = Reader { lines: input.lines(), line: 0 };
        let first = reader.text()?.ok_or(RecordingError::Empty)?;
        #[derive(Deserialize)]
        struct Format {
            recording: u32,
            headroom: String,
        }
        let format: Format = parse(&first).map_err(RecordingError::Header)?;
        if format.recording != VERSION {
            return Err(RecordingError::Version { found: format.recording, program: format.headroom });
        }
        Ok((reader, parse(&first).map_err(RecordingError::Header)?))
    }

    /// Reads the next round.
    pub(super) fn next(&mut self) -> Result<Option<RecordedRound>, RecordingError> {
        let Some(text) = self.text()? else { return Ok(None) };
        parse(&text).map(Some).map_err(|error| RecordingError::Round { line: self.line, error })
    }

    fn text(&mut self) -> Result<Option<String>, RecordingError> {
        loop {
            let Some(text) = self.lines.next() else { return Ok(None) };
            self.line += 1;
            let text = match text {
                // The program that wrote it was ended while it wrote: what came before is whole.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && self.line > 1 => return Ok(None),
                text => text.map_err(|error| RecordingError::Io { line: self.line, error })?,
            };
            if !text.trim().is_empty() {
                return Ok(Some(text));
            }
        }
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// The error without its line, which is always the first of the text that was parsed.
fn in_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " in column ")
}
