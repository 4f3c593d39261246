//! One session of the live program: everything that is put together around one connection to a cluster.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use headroom_adapters::cluster::Cluster;
use headroom_adapters::cluster::kubernetes::lease::Rivals;
use headroom_adapters::election::Election;
use headroom_adapters::fence::Fence;
use headroom_adapters::notebook::Notebook;
use jiff::Timestamp;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::board::Board;
use super::herald::Herald;
use super::pilot::{MakeOwners, Pilot, Ports};
use super::recorder::Recorder;
use super::source::Source;
use super::standing::{self, Standing};
use super::{Controls, Ended, fly, http, journal, kubernetes, nomad, reload};
use crate::config::{self, Config, ConfigErrors, Found};
use crate::metrics::Metrics;

/// How long the last events may take once the rounds have ended.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How `headroom run` was called.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The configuration file.
    pub(crate) config: PathBuf,
    /// The kubeconfig file; None for the one that kubectl takes, or the cluster that this program runs in.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context in it.
    pub(crate) context: Option<String>,
    /// The namespace of the objects that Headroom keeps.
    pub(crate) namespace: String,
    /// What this instance is called in the election.
    pub(crate) identity: String,
    /// The node that this program runs on.
    pub(crate) node: Option<String>,
    /// Where rounds are recorded.
    pub(crate) record: Option<PathBuf>,
    /// How many of them are kept at least.
    pub(crate) record_rounds: u64,
    /// Whatever the configuration says, nothing is written.
    pub(crate) dry_run: bool,
}

/// What a kind of cluster brings along.
pub(super) struct Reached {
    pub(super) cluster: Arc<dyn Cluster>,
    /// Where memory is kept.
    pub(super) notebook: Arc<dyn Notebook>,
    /// The node that this program runs on, if it runs on one of the cluster.
    pub(super) own_node: Option<Arc<str>>,
    /// This instance's part in the election, where there is one.
    pub(super) election: Option<Arc<Election>>,
    /// Other autoscalers that may be at work.
    pub(super) rivals: Option<Rivals>,
    pub(super) make_owners: MakeOwners,
    /// Who tells users of what is done, and the task that does so.
    pub(super) herald: (Herald, Option<JoinHandle<()>>),
}

/// Scales the cluster until SIGTERM or SIGINT.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let (told, end) = watch::channel(false);
    tokio::spawn(async move {
        terminated().await;
        told.send_replace(true);
    });
    let read = {
        let options = options.clone();
        move |found: &Found| load(&options, found)
    };
    let mut source = Source::new(read);
    let mut config = Arc::new(source.load().await?);
    let source = Arc::new(Mutex::new(source));
    while let Ended::Reconfigured(new) = session(&options, &source, config, end.clone()).await? {
        config = new;
    }
    Ok(())
}

/// What this machine is called, and which of its processes this is: no two instances have the same name.
pub(crate) fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = if name.trim().is_empty() { "headroom" } else { name.trim() };
    format!("{name}-{}", std::process::id())
}

/// The configuration, with what the command line says about it.
fn load(options: &Options, found: &Found) -> Result<Config, ConfigErrors> {
    // A few small files.
    let mut config = tokio::task::block_in_place(|| config::load_with(&options.config, found))?;
    config.policy.dry_run |= options.dry_run;
    Ok(config)
}

/// Runs with one connection, until the end or until a configuration asks for another one.
async fn session(
    options: &Options,
    source: &Arc<Mutex<Source>>,
    config: Arc<Config>,
    end: watch::Receiver<bool>,
) -> anyhow::Result<Ended> {
    let dry_run = config.policy.dry_run;
    let elects = config.live.leader_election && !dry_run;
    // In dry run it stays closed, whatever else goes wrong.
    let fence = if elects || dry_run { Fence::closed() } else { Fence::open() };
    let reached = match &config.cluster {
        config::Cluster::Kubernetes => kubernetes::reach(options, &config, fence, elects).await?,
        config::Cluster::Nomad(nomad) => nomad::reach(options, nomad, fence, elects).await?,
    };
    let Reached { cluster, notebook, own_node, election, rivals, make_owners, herald: (herald, announcing) } = reached;
    let metrics = Arc::new(Metrics::new(&config.live.compatible_metrics));
    let (board, questions) = Board::new(Arc::clone(&metrics));
    let board = Arc::new(board);
    // Everything in it ends with the session.
    let mut tasks = JoinSet::new();
    let listener = http::listen(config.live.http).await?;
    let served = http::serve(listener, Arc::clone(&board));
    tasks.spawn(async move {
        if let Err(error) = served.await {
            journal::not_served(&error);
        }
    });
    let (standing, stands) = watch::channel(Standing { leads: dry_run, hold: None });
    if !dry_run {
        tasks.spawn(standing::watch(election.clone(), rivals, standing));
    }
    let (changed, configurations) = mpsc::channel(1);
    tasks.spawn(reload::watch(Arc::clone(source), Arc::clone(&config), changed));
    // In dry run nothing is written.
    let notebook = (!dry_run).then_some(notebook);
    let ports = Ports { cluster, notebook, clock: Box::new(Timestamp::now), own_node };
    let record = options.record.as_deref();
    let recorder = record.map(|folder| Recorder::new(folder, options.record_rounds)).transpose();
    let recorder = recorder.with_context(|| "the folder of --record cannot be made")?;
    let pilot = Pilot::new(ports, Arc::clone(&config), make_owners, recorder, metrics, herald);
    let controls = Controls { standing: stands, questions, configurations, end };
    let ended = fly(pilot, controls, &board, config).await;
    if let Some(mut announcing) = announcing
        && tokio::time::timeout(LAST_WORDS, &mut announcing).await.is_err()
    {
        announcing.abort();
    }
    if let Some(election) = election
        && let Err(error) = election.release().await
    {
        journal::not_released(&error);
    }
    Ok(ended)
}

/// Waits for SIGTERM or SIGINT.
pub(super) async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
