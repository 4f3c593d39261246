//! A file in a volume, laid out as the kubelet lays out a mounted ConfigMap.

use std::fs::{create_dir_all, rename, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const FILE: &str = "headroom.yaml";

/// A directory in which a file is replaced by turning a link: to who watches the file itself, nothing happens.
pub(crate) struct Mount {
    directory: PathBuf,
    versions: u32,
}

impl Mount {
    pub(crate) fn new(directory: PathBuf, content: &str) -> Self {
        create_dir_all(&directory).expect("a directory");
        let mut mount = Self { directory, versions: 0 };
        mount.replace(content);
        let file = mount.file();
        if !file.is_symlink() {
            symlink(Path::new("..data").join(FILE), file).expect("a link");
        }
        mount
    }

    /// The file, always under the same path.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    pub(crate) fn replace(&mut self, content: &str) {
        self.versions += 1;
        let version = format!("..version-{}", self.versions);
        create_dir_all(self.directory.join(&version)).expect("a directory");
        write(self.directory.join(&version).join(FILE), content).expect("a file");
        let next = self.directory.join("..data_tmp");
        symlink(version, &next).expect("a link");
        rename(next, self.directory.join("..data")).expect("the link is turned");
    }
}
