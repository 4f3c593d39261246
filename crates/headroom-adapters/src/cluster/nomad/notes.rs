//! What must survive a restart, in Nomad variables (from Nomad 1.4 on).
//!
//! A variable holds 64 KiB. What is larger is in numbered ones beside it, of which there are two sets: a memory is written
//! into the one that is not in use, and then the first variable names that one. Nobody ever reads a part of one memory and a
//! part of another.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use async_trait::async_trait;
use headroom_core::memory::Memory;
use tokio::sync::Mutex;

use super::client::{CallError, Client, Variable, Written};
use crate::cluster::ClusterError;
use crate::notebook::{Notebook, NotebookError, Pause, Pauses};

/// The number of the format. It grows when an older Headroom could not read the memory any more.
const FORMAT: &str = "1";

/// Bytes of a memory in one variable. With the keys that is less than 64 KiB.
const PART: usize = 60 << 10;

/// How often a change of what is paused is tried when others change it at the same time.
const TRIES: u32 = 5;

/// Items of the variables.
const FORMAT_KEY: &str = "format";
const TEXT: &str = "memory";
const SET: &str = "set";
const PARTS: &str = "parts";
const WRITER: &str = "writer";
const PAUSED: &str = "paused";

const SETS: [&str; 2] = ["a", "b"];

type Items = BTreeMap<String, String>;

/// The variables of one instance of Headroom.
pub struct Variables {
    client: Client,
    path: String,
    /// Tells what this instance wrote from what others wrote.
    writer: String,
    known: Mutex<Known>,
}

/// What is known to be there.
#[derive(Default)]
struct Known {
    /// 0 when there is no memory.
    index: u64,
    text: Option<String>,
    /// The set that is in use.
    set: Option<String>,
    /// The answer to a write did not come: it may or may not have been done.
    unsure: bool,
}

/// Why a memory was not loaded or saved.
#[derive(Debug, thiserror::Error)]
enum NoteError {
    #[error("the memory in the variable {path} is corrupt: {reason}; hint: it counts as lost, so removals wait anew")]
    Corrupt { path: String, reason: String },
    #[error(
        "the memory in the variable {path} was written by somebody else; hint: are there two instances without an election?"
    )]
    Overtaken { path: String },
}

impl Variables {
    /// Those whose paths begin with `path`.
    pub fn new(client: Client, path: &str) -> Self {
        Variables {
            client,
            path: path.to_owned(),
            // Its keys are random.
            writer: format!("{:016x}", RandomState::new().hash_one(path)),
            known: Mutex::default(),
        }
    }

    /// Pauses a group, or everything; None resumes it. Whether that changed anything.
    pub async fn set_pause(&self, group: Option<&str>, pause: Option<Pause>) -> Result<bool, NotebookError> {
        let path = self.at("pauses");
        for _ in 0..TRIES {
            let found = self.read(&path).await?.unwrap_or_default();
            let mut pauses = paused(&found, &path)?;
            if !pauses.set(group, pause) {
                return Ok(false);
            }
            let items = Items::from([(PAUSED.to_owned(), pauses.write().unwrap_or_default())]);
            if let Written::At(_) = self.write(&path, &items, found.modify_index).await? {
                return Ok(true);
            }
        }
        Err(ClusterError::Conflict { object: object(&path) }.into())
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    async fn read(&self, path: &str) -> Result<Option<Variable>, ClusterError> {
        self.client.variable(path).await.map_err(|error| failed(error, "read", path))
    }

    async fn write(&self, path: &str, items: &Items, over: u64) -> Result<Written, ClusterError> {
        self.client.write_variable(path, items, over).await.map_err(|error| failed(error, "write", path))
    }

    /// The text of the memory that a variable names.
    async fn text(&self, path: &str, head: &Variable) -> Result<String, NotebookError> {
        let corrupt =
            |reason: String| NotebookError::Lost(Box::new(NoteError::Corrupt { path: path.to_owned(), reason }));
        match head.items.get(FORMAT_KEY) {
            Some(format) if format == FORMAT => {}
            format => {
                let format = format.map(String::as_str).unwrap_or_default();
                return Err(corrupt(format!("its format is {format:?}, and {FORMAT} is understood")));
            }
        }
        if let Some(text) = head.items.get(TEXT) {
            return Ok(text.clone());
        }
        let (set, parts) = (head.items.get(SET), head.items.get(PARTS).and_then(|parts| parts.parse::<usize>().ok()));
        let (Some(set), Some(parts)) = (set, parts) else { return Err(corrupt("it says nothing".to_owned())) };
        let mut text = String::new();
        for number in 0..parts {
            let part = self.read(&self.part(set, number)).await?;
            // A part of another memory was written by a write that has not come to its end.
            let part = part.filter(|part| part.items.get(WRITER) == head.items.get(WRITER));
            let part = part.and_then(|mut part| part.items.remove(TEXT));
            text.push_str(&part.ok_or_else(|| corrupt(format!("part {number} of {parts} is missing")))?);
        }
        Ok(text)
    }

    fn part(&self, set: &str, number: usize) -> String {
        self.at(&format!("memory-{set}/{number}"))
    }

    /// What names this memory, once its parts are written.
    async fn head(&self, text: &str, used: Option<&str>, stamp: &str) -> Result<Items, NotebookError> {
        let mut items =
            Items::from([(FORMAT_KEY.to_owned(), FORMAT.to_owned()), (WRITER.to_owned(), stamp.to_owned())]);
        if text.len() <= PART {
            items.insert(TEXT.to_owned(), text.to_owned());
            return Ok(items);
        }
        let set = SETS.into_iter().find(|set| Some(*set) != used).unwrap_or_default();
        let parts = cut(text);
        for (number, part) in parts.iter().enumerate() {
            let path = self.part(set, number);
            let items = Items::from([(TEXT.to_owned(), (*part).to_owned()), (WRITER.to_owned(), stamp.to_owned())]);
            let before = self.read(&path).await?.map_or(0, |before| before.modify_index);
            if self.write(&path, &items, before).await? == Written::Conflict {
                return Err(ClusterError::Conflict { object: object(&path) }.into());
            }
        }
        items.insert(SET.to_owned(), set.to_owned());
        items.insert(PARTS.to_owned(), parts.len().to_string());
        Ok(items)
    }
}

#[async_trait]
impl Notebook for Variables {
    async fn load(&self) -> Result<Option<Memory>, NotebookError> {
        let path = self.at("memory");
        let mut known = self.known.lock().await;
        let Some(head) = self.read(&path).await? else {
            *known = Known::default();
            return Ok(None);
        };
        let set = head.items.get(SET).cloned();
        *known = Known { index: head.modify_index, text: None, set, unsure: false };
        let text = self.text(&path, &head).await?;
        let corrupt = |error: serde_json::Error| {
            NotebookError::Lost(Box::new(NoteError::Corrupt { path: path.clone(), reason: error.to_string() }))
        };
        let memory = serde_json::from_str(&text).map_err(corrupt)?;
        known.text = Some(text);
        Ok(Some(memory))
    }

    async fn save(&self, memory: &Memory) -> Result<(), NotebookError> {
        let path = self.at("memory");
        let text = serde_json::to_string(memory).map_err(|error| NotebookError::NotKept(error.into()))?;
        let mut known = self.known.lock().await;
        if known.unsure {
            let head = self.read(&path).await?.unwrap_or_default();
            let ours = head.items.get(WRITER).is_some_and(|stamp| stamp.starts_with(&self.writer));
            // Somebody else's is later. An earlier one, or none, is there when Nomad's state went back to a snapshot of it.
            if head.modify_index > known.index && !ours {
                return Err(NotebookError::NotKept(Box::new(NoteError::Overtaken { path })));
            }
            let set = head.items.get(SET).cloned();
            *known = Known { index: head.modify_index, text: None, set, unsure: false };
        }
        if known.text.as_ref() == Some(&text) {
            return Ok(());
        }
        known.unsure = true;
        let stamp = format!("{}-{}", self.writer, known.index);
        let items = self.head(&text, known.set.as_deref(), &stamp).await?;
        match self.write(&path, &items, known.index).await? {
            Written::At(index) => {
                let set = items.get(SET).cloned();
                *known = Known { index, text: Some(text), set, unsure: false };
                Ok(())
            }
            Written::Conflict => Err(NotebookError::NotKept(Box::new(NoteError::Overtaken { path }))),
        }
    }

    async fn pauses(&self) -> Result<Pauses, NotebookError> {
        let path = self.at("pauses");
        paused(&self.read(&path).await?.unwrap_or_default(), &path)
    }
}

fn paused(found: &Variable, path: &str) -> Result<Pauses, NotebookError> {
    Pauses::read(found.items.get(PAUSED).map(String::as_str).unwrap_or_default(), &object(path))
}

fn object(path: &str) -> String {
    format!("the variable {path}")
}

fn failed(error: CallError, verb: &str, path: &str) -> ClusterError {
    error.of(verb, &object(path))
}

/// Pieces that fit, in order.
fn cut(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let end = if rest.len() <= PART { rest.len() } else { rest.floor_char_boundary(PART) };
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}
