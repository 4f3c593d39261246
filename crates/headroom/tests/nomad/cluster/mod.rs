//! The Nomad under test: a pretended one with either of its faces, or a real one where `HEADROOM_NOMAD_BIN` names its
//! program. Tests speak with each in the same words, those of its HTTP API.

mod api;
mod real;

use std::path::Path;

use fake_nomad::{Face, Fake, Saved};
use serde_json::json;

pub(crate) use api::{Job, View};
use real::Real;

/// Says where a real Nomad is.
const PROGRAM: &str = "HEADROOM_NOMAD_BIN";

/// A cluster without servers that run tasks.
pub(crate) struct Cluster {
    kind: Kind,
    api: api::Api,
}

enum Kind {
    Fake(Face, Fake),
    Real(Real),
}

/// What a server knew at some time.
pub(crate) enum Snapshot {
    Fake(Saved),
    Real(Vec<u8>),
}

/// The token with which tests themselves ask a pretended Nomad that has an ACL system.
pub(crate) const ROOT: &str = "root";

impl Cluster {
    /// Each Nomad that a test is about. What a real server writes is in `folder`.
    pub(crate) async fn each(folder: &Path) -> Vec<Cluster> {
        match std::env::var_os(PROGRAM) {
            Some(program) => vec![Cluster::of(Kind::Real(Real::start(Path::new(&program), folder).await))],
            None => vec![Cluster::fake(Face::Old).await, Cluster::fake(Face::New).await],
        }
    }

    /// The same for tests of what only a pretended one can be told to do; None, with `reason`, where there is a real one.
    pub(crate) async fn fakes(reason: &str) -> Vec<Cluster> {
        if std::env::var_os(PROGRAM).is_some() {
            eprintln!("skipped with a real Nomad: {reason}");
            return Vec::new();
        }
        vec![Cluster::fake(Face::Old).await, Cluster::fake(Face::New).await]
    }

    async fn fake(face: Face) -> Self {
        Cluster::of(Kind::Fake(face, Fake::start(face).await.expect("a port")))
    }

    fn of(kind: Kind) -> Self {
        let api = match &kind {
            Kind::Fake(_, fake) => api::Api::new(fake.url(), Some(ROOT)),
            Kind::Real(real) => api::Api::new(real.url(), None),
        };
        Cluster { kind, api }
    }

    /// What tells this one from the others.
    pub(crate) fn name(&self) -> &'static str {
        match &self.kind {
            Kind::Fake(Face::Old, _) => "old",
            Kind::Fake(Face::New, _) => "new",
            Kind::Real(_) => "real",
        }
    }

    pub(crate) fn url(&self) -> String {
        self.api.url().to_owned()
    }

    /// The pretended one, for what only such a one can be told.
    pub(crate) fn pretended(&self) -> &Fake {
        match &self.kind {
            Kind::Fake(_, fake) => fake,
            Kind::Real(_) => panic!("only a pretended Nomad can be told that"),
        }
    }

    /// Whether it has variables and locks on them.
    pub(crate) async fn has_locks(&self) -> bool {
        self.api.has_locks().await
    }

    /// The command that is a client, where `$1` is the file with what it is.
    pub(crate) fn client(&self) -> String {
        match &self.kind {
            Kind::Fake(..) => {
                let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nomad/client.py");
                format!("exec python3 {script} {} \"$1\"\n", self.url())
            }
            Kind::Real(real) => real.client(),
        }
    }

    /// What a server is told at its first start: what its client is.
    pub(crate) fn user_data(&self, class: &str, folder: &Path) -> String {
        let meta = json!({ "server_id": "${HEADROOM_SERVER_ID}", "hardware": "${HEADROOM_HARDWARE}" });
        let name = "${HEADROOM_SERVER_NAME}";
        match &self.kind {
            Kind::Fake(..) => json!({ "name": name, "class": class, "memory": "@MEMORY@", "meta": meta }).to_string(),
            Kind::Real(real) => real.user_data(name, class, &meta, folder),
        }
        .replace("\"@MEMORY@\"", "@MEMORY@")
    }

    /// Its server stops at once.
    pub(crate) fn stop(&mut self) {
        match &mut self.kind {
            Kind::Fake(_, fake) => fake.stop(),
            Kind::Real(real) => real.stop(),
        }
    }

    /// Its server starts again, with what it knew.
    pub(crate) async fn resume(&mut self) {
        match &mut self.kind {
            Kind::Fake(_, fake) => fake.resume().expect("its port is free"),
            Kind::Real(real) => real.resume().await,
        }
    }

    /// Keeps what its server knows.
    pub(crate) async fn save(&self) -> Snapshot {
        match &self.kind {
            Kind::Fake(_, fake) => Snapshot::Fake(fake.save()),
            Kind::Real(_) => Snapshot::Real(self.api.save().await),
        }
    }

    /// Its server goes back to what it knew then.
    pub(crate) async fn restore(&self, snapshot: Snapshot) {
        match (&self.kind, snapshot) {
            (Kind::Fake(_, fake), Snapshot::Fake(saved)) => fake.restore(&saved),
            (_, Snapshot::Real(saved)) => self.api.restore(saved).await,
            (Kind::Real(_), Snapshot::Fake(_)) => panic!("it is that of another one"),
        }
    }

    /// Registers a job, or changes the one that is there.
    pub(crate) async fn run(&self, job: &Job) {
        self.api.run(job).await;
    }

    /// Stops a job.
    pub(crate) async fn end(&self, job: &str) {
        self.api.end(job).await;
    }

    /// What there is; an error while it does not answer.
    pub(crate) async fn view(&self) -> Result<View, String> {
        self.api.view().await
    }
}
