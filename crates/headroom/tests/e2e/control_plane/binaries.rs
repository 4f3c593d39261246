//! Where the programs of the control plane are.

use std::path::{Path, PathBuf};

/// The programs of the control plane and the stages for kwok.
pub(super) struct Binaries {
    pub(super) etcd: PathBuf,
    pub(super) api_server: PathBuf,
    pub(super) scheduler: PathBuf,
    pub(super) controller_manager: PathBuf,
    pub(super) kwok: PathBuf,
    /// What kwok does with nodes and pods.
    pub(super) stages: PathBuf,
}

impl Binaries {
    /// Those in the folder `$KUBEBUILDER_ASSETS`, and what is not there from `testenv/bin`. None where something is
    /// missing; then it has been said what.
    ///
    /// # Panics
    /// If something is missing and `HEADROOM_REQUIRE_ALL` is set: then nothing may be skipped.
    pub(super) fn find() -> Option<Self> {
        or_skip(Self::in_folders(&folders()))
    }

    fn in_folders(folders: &[PathBuf]) -> Result<Self, String> {
        let need = |name: &str| need(folders, name);
        Ok(Self {
            etcd: need("etcd")?,
            api_server: need("kube-apiserver")?,
            scheduler: need("kube-scheduler")?,
            controller_manager: need("kube-controller-manager")?,
            kwok: need("kwok")?,
            stages: need("kwok-stages.yaml")?,
        })
    }
}

/// kubectl, which only users of a control plane need; found as the others are.
pub(crate) fn kubectl() -> Option<PathBuf> {
    or_skip(need(&folders(), "kubectl"))
}

fn or_skip<T>(found: Result<T, String>) -> Option<T> {
    found
        .map_err(|missing| {
            let message = format!("there is no {missing}; hint: `make control-plane` builds it (it needs Go)");
            assert!(std::env::var_os("HEADROOM_REQUIRE_ALL").is_none(), "{message}");
            eprintln!("skipped: {message}");
        })
        .ok()
}

fn folders() -> Vec<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testenv/bin");
    std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from).into_iter().chain([built]).collect()
}

/// An absolute path: the programs run in other directories.
fn need(folders: &[PathBuf], name: &str) -> Result<PathBuf, String> {
    let mut paths = folders.iter().map(|folder| folder.join(name));
    let found = paths.find_map(|path| path.canonicalize().is_ok().then(|| std::path::absolute(path).ok())?);
    found.ok_or_else(|| format!("{name} in {}", list(folders)))
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or ")
}
