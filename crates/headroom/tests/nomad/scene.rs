//! A cluster whose servers are processes, and the program that scales it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::time::sleep;

use crate::cluster::{Cluster, Job, View};
use crate::headroom::Headroom;

/// The most that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(90);

/// A cluster and its servers. All that was started ends when this is dropped.
pub(crate) struct Scene {
    pub(crate) cluster: Cluster,
    folder: PathBuf,
    /// Whether Headroom's state is in variables.
    variables: bool,
}

/// Scenes of all clusters that a test is about, in one folder.
pub(crate) struct Scenes {
    pub(crate) each: Vec<Scene>,
    _folder: TempDir,
}

impl Scenes {
    /// Of each Nomad.
    pub(crate) async fn of_each() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clusters = Cluster::each(&folder.path().join("nomad")).await;
        Scenes::of(clusters, folder).await
    }

    /// Of pretended ones alone; none, with `reason`, where there is a real one.
    pub(crate) async fn of_fakes(reason: &str) -> Self {
        Scenes::of(Cluster::fakes(reason).await, tempfile::tempdir().expect("a folder")).await
    }

    async fn of(clusters: Vec<Cluster>, folder: TempDir) -> Self {
        let mut each = Vec::new();
        for cluster in clusters {
            let own = folder.path().join(cluster.name());
            each.push(Scene::new(cluster, own).await);
        }
        Scenes { each, _folder: folder }
    }
}

impl Scene {
    async fn new(cluster: Cluster, folder: PathBuf) -> Self {
        fs::create_dir_all(folder.join("state")).expect("a folder");
        fs::write(folder.join("client"), cluster.client()).expect("a file");
        let variables = cluster.has_locks().await;
        Scene { cluster, folder, variables }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Headroom's configuration: `settings` are more keys at its top, and these are its groups.
    pub(crate) fn config(&self, settings: &str, groups: &[String]) -> String {
        let state = if self.variables { "variables: { path: headroom }".to_owned() } else { self.state_in_folder() };
        let dry_run = if settings.contains("dryRun") { "" } else { "dryRun: false" };
        let groups = groups.concat();
        format!(
            "cluster: {{ nomad: {{ state: {{ {state} }} }} }}\ninterval: 1s\n{dry_run}\n{settings}\ngroups:\n{groups}"
        )
    }

    fn state_in_folder(&self) -> String {
        format!("folder: {{ path: \"{}\" }}", self.folder.join("state").display())
    }

    /// A pool of servers of one class that offer 1000 MiB, or 500 where those are sold out.
    pub(crate) fn pool(&self, class: &str, size: &str, margin: u32) -> String {
        let user_data = self.folder.join(format!("{class}.user-data"));
        fs::write(&user_data, self.cluster.user_data(class, &self.folder)).expect("a file");
        let command = |verb: &str| {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nomad/shed.sh");
            format!("{verb}: [sh, {script}, {verb}, \"{}\"]", self.folder.display())
        };
        let (create, list, delete) = (command("create"), command("list"), command("delete"));
        format!(
            "- name: {class}\n  select: {{ nodeClass: {class} }}\n  size: {{ {size} }}\n  cloud:\n    process:\n      \
             {create}\n      {list}\n      {delete}\n      clusterId: test\n      parallel: 1\n      \
             retryHardwareAfter: 0s\n      userDataFile: \"{}\"\n      hardware:\n      \
             - {{ name: large, env: {{ MEMORY: \"1000\" }} }}\n      - {{ name: small, env: {{ MEMORY: \"500\" }} }}\n  \
             strategy:\n    memoryPool:\n      hardware: [{{ name: large, memory: 1000Mi }}, {{ name: small, memory: 500Mi }}]\n      \
             margin: {margin}\n",
            user_data.display()
        )
    }

    /// Starts Headroom, which reaches Nomad at `url`. What it logs and records is in a folder of this name.
    pub(crate) fn headroom(&self, name: &str, url: &str, config: &str) -> Headroom {
        self.headroom_in(name, url, &[], config)
    }

    /// The same, with variables of the environment.
    pub(crate) fn headroom_in(&self, name: &str, url: &str, more: &[(&str, &str)], config: &str) -> Headroom {
        let mut environment = vec![("POD_NAME", name)];
        environment.extend(more);
        Headroom::start(&self.folder.join(name), url, &environment, config)
    }

    /// Makes the commands behave in the way that this file stands for.
    pub(crate) fn put(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).expect("a file");
    }

    /// Ends that.
    pub(crate) fn take(&self, file: &str) {
        fs::remove_file(self.folder.join(file)).expect("it was put");
    }

    /// What the commands were told, one line each: who called, which command, the pool, the hardware, and the server.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// How often a command was called.
    pub(crate) fn called(&self, command: &str) -> usize {
        self.calls().iter().filter(|call| call.split(' ').nth(1) == Some(command)).count()
    }

    /// Whether its state is in variables, so that instances on several machines agree by a lock on one.
    pub(crate) fn has_locks(&self) -> bool {
        self.variables
    }

    /// The servers that there are.
    pub(crate) fn servers(&self) -> usize {
        self.files("server").count()
    }

    /// The most servers that there were at once.
    pub(crate) fn most_servers(&self) -> usize {
        let sizes = fs::read_to_string(self.folder.join("sizes")).unwrap_or_default();
        sizes.lines().filter_map(|size| size.parse().ok()).max().unwrap_or(0)
    }

    fn files(&self, extension: &str) -> impl Iterator<Item = PathBuf> {
        let files = fs::read_dir(&self.folder).expect("a folder").map(|file| file.expect("a file").path());
        files.filter(move |path| path.extension().is_some_and(|found| found == extension))
    }

    /// Runs the `first` task, of 600 MiB, and the small one of `other` on one server, and the `second`, of 850 MiB, on another
    /// one, on which there is room for the small one.
    pub(crate) async fn fills_two_servers(&self, headroom: &Headroom, other: &Job) {
        self.cluster.run(&Job::of("first", 600)).await;
        self.cluster.run(other).await;
        let both = |view: &View| view.running("first") == 1 && view.running(other.id) == 1;
        self.until("both run on one server", headroom, both).await;
        self.cluster.run(&Job::of("second", 850)).await;
        let three = |view: &View| view.running("second") == 1 && view.usable("job") == 2;
        self.until("another runs on another server", headroom, three).await;
    }

    /// Waits until the cluster is as `is` says.
    pub(crate) async fn until(&self, what: &str, headroom: &Headroom, is: impl Fn(&View) -> bool) -> View {
        self.until_kept(what, &mut || headroom.log(), is).await
    }

    /// The same; `keep` is called again and again, and says what has been logged.
    pub(crate) async fn until_kept(
        &self,
        what: &str,
        keep: &mut impl FnMut() -> String,
        is: impl Fn(&View) -> bool,
    ) -> View {
        let start = Instant::now();
        loop {
            let log = keep();
            let seen = match self.cluster.view().await {
                Ok(view) => {
                    self.check(&view, &log);
                    if is(&view) {
                        return view;
                    }
                    view.to_string()
                }
                Err(error) => error,
            };
            let calls = self.calls().join("\n");
            assert!(
                start.elapsed() < PATIENCE,
                "{}: never: {what}\nthere is instead: {seen}\ncalls:\n{calls}\n{log}",
                self.cluster.name()
            );
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// No server goes before all of its tasks have ended.
    fn check(&self, view: &View, log: &str) {
        assert!(view.lost().is_empty(), "{}: {:?} were lost: {view}\n{log}", self.cluster.name(), view.lost());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nomad/shed.sh");
        for path in self.files("pid") {
            let id = path.file_stem().map(|id| id.to_string_lossy().into_owned()).unwrap_or_default();
            let mut command = Command::new("sh");
            command.args([script, "delete"]).arg(&self.folder).env("HEADROOM_PROVIDER_ID", id);
            let _ = command.output();
        }
    }
}
