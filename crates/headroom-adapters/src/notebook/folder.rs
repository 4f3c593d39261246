//! What must survive a restart, in a folder of files: for clusters that cannot keep it themselves.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use headroom_core::memory::Memory;

use super::{Notebook, NotebookError, Pause, Pauses};
use crate::cluster::ClusterError;
use crate::election::{Lease, Turn};
use crate::fence::Fence;

const MEMORY: &str = "memory.json";
const PAUSES: &str = "pauses.json";
const LOCK: &str = "lock";

/// Files in a folder, which must be there.
pub struct Folder {
    path: PathBuf,
    fence: Fence,
}

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}; hint: the folder must be there, and Headroom must be allowed to write there")]
struct FileError {
    path: PathBuf,
    source: io::Error,
}

/// What is in the file is no memory.
#[derive(Debug, thiserror::Error)]
#[error("{path} is no memory; hint: it counts as lost, so removals wait anew")]
struct NoMemory {
    path: PathBuf,
    source: serde_json::Error,
}

impl Folder {
    /// Files in the folder at `path`. Nothing is remembered while `fence` is closed.
    pub fn new(path: &Path, fence: Fence) -> Self {
        Folder { path: path.to_owned(), fence }
    }

    /// Pauses a group, or everything; None resumes it. Whether that changed anything.
    pub fn set_pause(&self, group: Option<&str>, pause: Option<Pause>) -> Result<bool, NotebookError> {
        let mut pauses = self.read_pauses()?;
        if !pauses.set(group, pause) {
            return Ok(false);
        }
        self.write(PAUSES, &pauses.write().unwrap_or_default())?;
        Ok(true)
    }

    fn read_pauses(&self) -> Result<Pauses, NotebookError> {
        Pauses::read(&self.read(PAUSES)?.unwrap_or_default(), &self.path.join(PAUSES).display().to_string())
    }

    fn read(&self, name: &str) -> Result<Option<String>, NotebookError> {
        let path = self.path.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(NotebookError::NotKept(Box::new(FileError { path, source }))),
        }
    }

    /// Whoever reads it finds what was there before or all of `text`, also after a power cut.
    fn write(&self, name: &str, text: &str) -> Result<(), NotebookError> {
        let (path, new) = (self.path.join(name), self.path.join(format!("{name}.new")));
        let written = || {
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        written().map_err(|source| NotebookError::NotKept(Box::new(FileError { path: path.clone(), source })))
    }
}

#[async_trait]
impl Notebook for Folder {
    async fn load(&self) -> Result<Option<Memory>, NotebookError> {
        let Some(text) = self.read(MEMORY)? else { return Ok(None) };
        let lost = |source| NotebookError::Lost(Box::new(NoMemory { path: self.path.join(MEMORY), source }));
        serde_json::from_str(&text).map(Some).map_err(lost)
    }

    async fn save(&self, memory: &Memory) -> Result<(), NotebookError> {
        let text = serde_json::to_string(memory).map_err(|error| NotebookError::NotKept(error.into()))?;
        self.fence.check().map_err(|_| ClusterError::NotLeading)?;
        if self.read(MEMORY)?.as_ref() == Some(&text) {
            return Ok(());
        }
        self.write(MEMORY, &text)
    }

    async fn pauses(&self) -> Result<Pauses, NotebookError> {
        self.read_pauses()
    }
}

/// The lock on a file of the folder. The system takes it back when the process ends, however it does.
pub struct FolderLease {
    path: PathBuf,
    identity: String,
    clock: Fence,
    held: Option<File>,
}

impl FolderLease {
    /// That in the folder at `path`. `identity` is what others are told.
    pub fn new(path: &Path, identity: &str, clock: Fence) -> Self {
        FolderLease { path: path.join(LOCK), identity: identity.to_owned(), clock, held: None }
    }

    /// The file, locked; or who has locked it.
    fn take(&self) -> io::Result<Result<File, String>> {
        let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&self.path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                file.write_all(self.identity.as_bytes())?;
                Ok(Ok(file))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                Ok(Err(holder))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[async_trait]
impl Lease for FolderLease {
    async fn turn(&mut self) -> Result<Turn, ClusterError> {
        let since = self.clock.now();
        if self.held.is_none() {
            let failed = |source| ClusterError::Unreachable(Box::new(FileError { path: self.path.clone(), source }));
            match self.take().map_err(failed)? {
                Ok(file) => self.held = Some(file),
                Err(holder) => return Ok(Turn::Of(holder)),
            }
        }
        Ok(Turn::Ours { since })
    }

    async fn release(&mut self) -> Result<(), ClusterError> {
        self.held = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn memory(second: i64) -> Memory {
        Memory::fresh(Timestamp::from_second(second).unwrap())
    }

    #[tokio::test]
    async fn what_is_kept_is_there_for_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let first = Folder::new(folder.path(), Fence::open());
        assert_eq!(first.load().await.unwrap(), None);
        first.save(&memory(1)).await.unwrap();
        first.save(&memory(2)).await.unwrap();
        first.set_pause(Some("web"), Some(Pause::Open)).unwrap();
        let next = Folder::new(folder.path(), Fence::closed());
        assert_eq!(next.load().await.unwrap(), Some(memory(2)));
        assert_eq!(next.pauses().await.unwrap().groups.get("web"), Some(&Pause::Open));
        let fenced = next.save(&memory(3)).await.unwrap_err();
        assert!(matches!(fenced, NotebookError::Cluster(ClusterError::NotLeading)), "{fenced}");
    }

    #[tokio::test]
    async fn what_cannot_be_read_counts_as_lost_and_what_cannot_be_written_is_said() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MEMORY), "{").unwrap();
        let files = Folder::new(folder.path(), Fence::open());
        assert!(matches!(files.load().await, Err(NotebookError::Lost(_))));
        let nowhere = Folder::new(&folder.path().join("missing"), Fence::open());
        let error = nowhere.save(&memory(1)).await.unwrap_err().to_string();
        assert!(error.contains("missing/memory.json; hint: the folder must be there"), "{error}");
    }

    #[tokio::test]
    async fn one_at_a_time_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lease = |name| FolderLease::new(folder.path(), name, Fence::closed());
        let (mut one, mut two) = (lease("one"), lease("two"));
        assert!(matches!(one.turn().await.unwrap(), Turn::Ours { .. }));
        assert_eq!(two.turn().await.unwrap(), Turn::Of("one".to_owned()));
        assert!(matches!(one.turn().await.unwrap(), Turn::Ours { .. }));
        one.release().await.unwrap();
        assert!(matches!(two.turn().await.unwrap(), Turn::Ours { .. }));
        // As if its process had ended.
        drop(two);
        assert!(matches!(one.turn().await.unwrap(), Turn::Ours { .. }));
    }
}
