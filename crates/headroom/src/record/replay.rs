//! Deciding the rounds of a recording again.

use std::io::BufRead;

use headroom_core::decide;
use headroom_core::memory::Memory;
use headroom_core::snapshot::Builder;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::read::{Reader, RecordingError};

/// What came of a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// Every round was decided as it was recorded.
    Same {
        /// How many.
        rounds: u64,
    },
    /// A round was not.
    Differs(Box<Difference>),
}

/// The first place where a plan comes out otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The line of the recording.
    pub line: usize,
    /// The round.
    pub round: u64,
    /// Its instant.
    pub at: Timestamp,
    /// Where in the plan, for example `actions[0].action.resize.to`.
    pub path: String,
    /// What was recorded there; None is nothing.
    pub recorded: Option<Json>,
    /// What is decided now.
    pub decided: Option<Json>,
    /// The version of the program that recorded it.
    pub program: String,
}

/// Decides every round of a recording again, up to the first difference.
///
/// # Errors
/// When the recording cannot be read.
pub fn replay(input: impl BufRead) -> Result<Replayed, RecordingError> {
    let (mut reader, header) = Reader::new(input)?;
    let mut builder = Builder::new();
    let mut memory: Option<Memory> = None;
    let mut rounds = 0;
    while let Some(recorded) = reader.next()? {
        let line = reader.line;
        let round = recorded.round;
        let damaged = |error| RecordingError::Round { line, error };
        let at = recorded.at().map_err(damaged)?;
        recorded.changes.into_iter().for_each(|change| builder.apply(change));
        let before = recorded.memory.or(memory.take()).ok_or(RecordingError::NoMemory { line })?;
        let (plan, after) = decide(builder.snapshot(), &header.policy, &before, at);
        // By way of text, since a number may be larger than a JSON value holds when it is made directly.
        let decided: Json =
            serde_json::to_string(&plan).and_then(|text| serde_json::from_str(&text)).map_err(damaged)?;
        if let Some((path, was, is)) = first_difference(&recorded.plan, &decided) {
            let (recorded, decided) = (was.cloned(), is.cloned());
            let program = header.headroom;
            let difference = Difference { line, round, at, path, recorded, decided, program };
            return Ok(Replayed::Differs(Box::new(difference)));
        }
        memory = Some(after);
        rounds += 1;
    }
    Ok(Replayed::Same { rounds })
}

/// Where two values differ first, with what is there in each.
fn first_difference<'a>(a: &'a Json, b: &'a Json) -> Option<(String, Option<&'a Json>, Option<&'a Json>)> {
    let within = |step: String, inner: (String, Option<&'a Json>, Option<&'a Json>)| {
        let (path, was, is) = inner;
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        (format!("{step}{dot}{path}"), was, is)
    };
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.filter_map(|key| match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => first_difference(a, b).map(|inner| within(key.clone(), inner)),
                (was, is) => Some((key.clone(), was, is)),
            })
            .next()
        }
        (Json::Array(a), Json::Array(b)) => (0..a.len().max(b.len())).find_map(|at| match (a.get(at), b.get(at)) {
            (Some(a), Some(b)) => first_difference(a, b).map(|inner| within(format!("[{at}]"), inner)),
            (was, is) => Some((format!("[{at}]"), was, is)),
        }),
        _ if a == b => None,
        _ => Some((String::new(), Some(a), Some(b))),
    }
}
