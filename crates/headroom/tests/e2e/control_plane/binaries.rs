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
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testenv/bin");
        let folders = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from).into_iter().chain([built]);
        let folders: Vec<_> = folders.collect();
        match Self::in_folders(&folders) {
            Ok(binaries) => Some(binaries),
            Err(missing) => {
                let message = format!("there is no {missing}; hint: `make control-plane` builds it (it needs Go)");
                assert!(std::env::var_os("HEADROOM_REQUIRE_ALL").is_none(), "{message}");
                eprintln!("skipped: {message}");
                None
            }
        }
    }

    fn in_folders(folders: &[PathBuf]) -> Result<Self, String> {
        let find = |name: &str| {
            let paths = folders.iter().map(|folder| folder.join(name));
            // An absolute path: the programs run in other directories.
            paths.filter_map(|path| path.canonicalize().is_ok().then(|| std::path::absolute(path).ok())?).next()
        };
        let need = |name: &str| find(name).ok_or_else(|| format!("{name} in {}", list(folders)));
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

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or ")
}
