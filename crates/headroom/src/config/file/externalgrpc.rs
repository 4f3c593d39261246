//! A node group of a provider that speaks the protocol of Cluster Autoscaler's external providers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headroom_adapters::go_duration;
use jiff::SignedDuration;
use serde::Deserialize;

use crate::config::kind::{Kind, duration, text};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};
use crate::config::text_of;
use crate::config::tree::Place;

/// How long a call may take where nobody says it, as Cluster Autoscaler has it.
const TIMEOUT: SignedDuration = SignedDuration::from_secs(5);

/// A node group of an external provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalGrpc {
    /// Host and port of the provider; None: they stand in `cloud_config`.
    pub address: Option<Arc<str>>,
    /// The certificates that the provider's is signed by; None: no TLS.
    pub ca: Option<PathBuf>,
    /// The certificate that Headroom shows.
    pub cert: Option<PathBuf>,
    /// Its key.
    pub key: Option<PathBuf>,
    /// How long one call may take.
    pub timeout: SignedDuration,
    /// Cluster Autoscaler's file that says all this.
    pub cloud_config: Option<PathBuf>,
    /// What the provider calls the group; None is the group's own name.
    pub node_group: Option<Arc<str>>,
}

impl Default for ExternalGrpc {
    fn default() -> Self {
        ExternalGrpc {
            address: None,
            ca: None,
            cert: None,
            key: None,
            timeout: TIMEOUT,
            cloud_config: None,
            node_group: None,
        }
    }
}

pub(super) fn kind() -> Kind<ExternalGrpc> {
    let record = Record::new(
        "groups[].cloud.externalgrpc",
        "A node group of a provider that speaks the gRPC protocol of Cluster Autoscaler's external providers; \
         [externalgrpc.md](externalgrpc.md) says how it is used. Paths are relative to this file.",
        ExternalGrpc::default,
    );
    reach(record)
        .field(
            "nodeGroup",
            text().optional(),
            |group| &mut group.node_group,
            "The id of the node group at the provider. Left out: the group's own name.",
        )
        .kind()
}

/// All node groups of a provider.
pub(super) fn search() -> Kind<ExternalGrpc> {
    let record = Record::new(
        "discover[].cloud.externalgrpc",
        "All node groups of a provider that speaks the gRPC protocol of Cluster Autoscaler's external providers. Paths are \
         relative to this file.",
        ExternalGrpc::default,
    );
    reach(record).kind()
}

/// The keys that say how a provider is reached.
fn reach(record: Record<ExternalGrpc>) -> Record<ExternalGrpc> {
    let file = || text::<Box<str>>().map(|path| PathBuf::from(&*path)).optional();
    record
        .field(
            "address",
            text().optional(),
            |group| &mut group.address,
            "Host and port of the provider, such as `localhost:8086`.",
        )
        .field(
            "cacert",
            file(),
            |group| &mut group.ca,
            "A file with the certificates, in PEM, that the provider's certificate is signed by. Left out: no TLS, so \
             whoever is on the way can read and change what is said.",
        )
        .field("cert", file(), |group| &mut group.cert, "A file with the certificate, in PEM, that Headroom shows.")
        .field("key", file(), |group| &mut group.key, "A file with the key of `cert`, in PEM.")
        .field(
            "timeout",
            duration(SignedDuration::from_secs(1)),
            |group| &mut group.timeout,
            "How long one call may take.",
        )
        .field(
            "cloudConfig",
            file(),
            |group| &mut group.cloud_config,
            "The file that Cluster Autoscaler's `--cloud-config` names for this provider, in the place of all these keys.",
        )
        .check(&["address", "cloudConfig", "cacert", "cert", "key", "timeout"], says_where)
}

fn says_where(group: &ExternalGrpc, at: &Places, problems: &mut Problems) {
    match (&group.address, &group.cloud_config) {
        (None, None) => {
            let hint = "add `address: localhost:8086`, or `cloudConfig:` with Cluster Autoscaler's file";
            problems.add(Problem::at(at.of("address"), "nobody says where the provider is", hint));
        }
        (_, Some(_)) => {
            for key in ["address", "cacert", "cert", "key", "timeout"].into_iter().filter(|key| at.has(key)) {
                let message = format!("`{key}` and `cloudConfig` both say how the provider is reached");
                let problem = Problem::at(at.of(key), message, "leave one of them out");
                problems.add(problem.also(at.of("cloudConfig"), "this file says it too"));
            }
        }
        (Some(_), None) => {
            if let Some(hint) = group.incomplete() {
                problems.add(Problem::at(at.written("cert", "key"), "these are not all files that TLS needs", hint));
            }
        }
    }
}

/// What Cluster Autoscaler reads of its file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CloudConfig {
    address: Option<Arc<str>>,
    key: Option<PathBuf>,
    cert: Option<PathBuf>,
    cacert: Option<PathBuf>,
    grpc_timeout: Option<String>,
}

impl ExternalGrpc {
    /// Reads Cluster Autoscaler's file and makes all paths, which are relative to `folder`, whole. `place` is where the
    /// group stands.
    pub(super) fn load(&mut self, folder: &Path, place: &Place, problems: &mut Problems) {
        let mut folder = folder.to_owned();
        if let Some(path) = &self.cloud_config {
            let path = folder.join(path);
            match read(&path) {
                Ok(read) => {
                    let (node_group, cloud_config) = (self.node_group.take(), self.cloud_config.take());
                    *self = ExternalGrpc { node_group, cloud_config, ..read };
                    folder = path.parent().unwrap_or(Path::new("")).to_owned();
                }
                Err(problem) => problems.add(problem.placed(place.clone())),
            }
        }
        for path in [&mut self.ca, &mut self.cert, &mut self.key].into_iter().flatten() {
            *path = folder.join(&*path);
        }
    }

    /// Whether both are at the same provider.
    pub(super) fn is_at(&self, other: &ExternalGrpc) -> bool {
        (&self.address, &self.cloud_config) == (&other.address, &other.cloud_config)
    }

    /// What to do if some of the files are there that TLS needs, and others are not.
    fn incomplete(&self) -> Option<&'static str> {
        match (&self.ca, &self.cert, &self.key) {
            (_, Some(_), None) | (_, None, Some(_)) => Some("give `cert` and `key`, or neither"),
            (None, Some(_), Some(_)) => Some("give `cacert` too, so that the provider is known by its certificate"),
            _ => None,
        }
    }
}

fn read(path: &Path) -> Result<ExternalGrpc, Problem> {
    let name = path.display().to_string();
    let wrong = |message: String, hint: &str| Problem::of_file(format!("{name}: {message}"), hint);
    let text = text_of(path, &name)?;
    let keys = "write `address:`, and `cert:`, `key:` and `cacert:` for TLS";
    let config: CloudConfig =
        serde_saphyr::from_str(&text).map_err(|error| wrong(format!("it cannot be understood: {error}"), keys))?;
    let filled = |path: Option<PathBuf>| path.filter(|path| !path.as_os_str().is_empty());
    let timeout = match &config.grpc_timeout {
        None => TIMEOUT,
        Some(text) => go_duration::parse(text)
            .filter(|timeout| timeout.is_positive())
            .ok_or_else(|| wrong(format!("grpc_timeout is {text:?}"), "write a duration as Go does, such as 5s"))?,
    };
    let group = ExternalGrpc {
        address: config.address.filter(|address| !address.is_empty()),
        ca: filled(config.cacert),
        cert: filled(config.cert),
        key: filled(config.key),
        timeout,
        ..ExternalGrpc::default()
    };
    if group.address.is_none() {
        return Err(wrong("`address` is missing".to_owned(), keys));
    }
    // Cluster Autoscaler looks at no other file unless there is a certificate.
    let group = if group.cert.is_none() { ExternalGrpc { ca: None, key: None, ..group } } else { group };
    match group.incomplete() {
        Some(hint) => Err(wrong("these are not all files that TLS needs".to_owned(), hint)),
        None => Ok(group),
    }
}
