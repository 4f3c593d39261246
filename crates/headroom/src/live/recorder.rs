//! Keeps the last rounds as recordings for `headroom replay`.
//!
//! A file begins with the whole cluster, so that each can be replayed alone. It ends after some rounds, or when what is
//! wanted changes, and the oldest files are deleted.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use headroom_core::memory::Memory;
use headroom_core::plan::Plan;
use headroom_core::policy::Policy;
use headroom_core::snapshot::{Change, Snapshot};

use crate::record;

/// Files that are kept, the one that is written included.
const FILES: usize = 3;

const EXTENSION: &str = ".jsonl.zst";

/// Writes recordings into a folder.
pub(crate) struct Recorder {
    folder: PathBuf,
    /// Rounds in one file.
    length: u64,
    open: Option<Open>,
    /// Since the last round.
    changes: Vec<Change>,
}

struct Open {
    recorder: record::Recorder<zstd::Encoder<'static, File>>,
    policy: Policy,
    rounds: u64,
    /// What the last round handed over.
    memory: Memory,
}

/// A round, as far as a recording holds it.
pub(super) struct Made<'a> {
    pub(super) number: u64,
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) before: &'a Memory,
    pub(super) plan: &'a Plan,
    pub(super) after: &'a Memory,
}

impl Recorder {
    /// Keeps at least the last `rounds` in `folder`, which is made if it is not there.
    pub(crate) fn new(folder: &Path, rounds: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let length = rounds.div_ceil(FILES as u64 - 1).max(1);
        Ok(Recorder { folder: folder.to_owned(), length, open: None, changes: Vec::new() })
    }

    /// Takes in a change before it is applied.
    pub(super) fn note(&mut self, change: &Change) {
        // A new file begins with everything.
        if self.open.is_some() {
            self.changes.push(change.clone());
        }
    }

    /// Writes a round down.
    pub(super) fn round(&mut self, made: &Made<'_>) -> io::Result<()> {
        let changes = std::mem::take(&mut self.changes);
        match self.open.take() {
            Some(mut open) if open.rounds < self.length && open.policy == *made.policy => {
                let memory = (open.memory != *made.before).then_some(made.before);
                open.write(memory, &changes, made)?;
                self.open = Some(open);
            }
            full => {
                full.map_or(Ok(()), Open::finish)?;
                let name = format!("rounds-{}{EXTENSION}", made.plan.at.strftime("%Y%m%dT%H%M%S%.3fZ"));
                let out = zstd::Encoder::new(File::create(self.folder.join(name))?, 0)?;
                let recorder = record::Recorder::new(out, made.policy)?;
                let mut open = Open { recorder, policy: made.policy.clone(), rounds: 0, memory: Memory::default() };
                open.write(Some(made.before), &made.snapshot.to_changes(), made)?;
                self.open = Some(open);
                self.delete_old()?;
            }
        }
        Ok(())
    }

    fn delete_old(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("rounds-") && name.ends_with(EXTENSION) {
                files.push(name);
            }
        }
        files.sort();
        let old = files.len().saturating_sub(FILES);
        files.iter().take(old).try_for_each(|name| fs::remove_file(self.folder.join(name)))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // A file without its end can be replayed, too.
        let _ = self.open.take().map_or(Ok(()), Open::finish);
    }
}

impl Open {
    fn finish(self) -> io::Result<()> {
        self.recorder.finish()?.finish()?.sync_all()
    }

    fn write(&mut self, memory: Option<&Memory>, changes: &[Change], made: &Made<'_>) -> io::Result<()> {
        self.recorder.round(made.number, memory, changes, made.plan)?;
        // What is written can be read although the program may be killed at any time.
        self.recorder.flush()?;
        self.rounds += 1;
        self.memory = made.after.clone();
        Ok(())
    }
}
