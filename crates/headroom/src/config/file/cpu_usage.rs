//! Who says how busy the cpus of servers are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headroom_adapters::cloud::servers::rest::Token;
use headroom_adapters::cluster::nomad::{Meter, PrometheusQuery};
use jiff::SignedDuration;
use serde_json::json;

use super::servers::address;
use crate::config::kind::{Kind, duration, one_of, text, variant};
use crate::config::record::Record;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Who is asked how busy the cpus of servers are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CpuUsage {
    /// The Nomad clients on them.
    #[default]
    Clients,
    /// Prometheus.
    Prometheus(Prometheus),
}

/// A query, and where its token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prometheus {
    address: Arc<str>,
    query: Arc<str>,
    node_label: Arc<str>,
    token_variable: Option<String>,
    token_file: Option<PathBuf>,
    max_age: SignedDuration,
    timeout: SignedDuration,
}

impl CpuUsage {
    /// As the adapter takes it.
    pub fn meter(&self) -> Meter {
        let CpuUsage::Prometheus(of) = self else { return Meter::Clients };
        let file = of.token_file.clone().map(Token::File);
        Meter::Prometheus(PrometheusQuery {
            address: Arc::clone(&of.address),
            query: Arc::clone(&of.query),
            node_label: Arc::clone(&of.node_label),
            token: file.or_else(|| of.token_variable.clone().map(Token::Environment)),
            max_age: of.max_age,
            timeout: of.timeout,
        })
    }

    /// Paths are relative to `folder`.
    pub(super) fn settle(&mut self, folder: &Path) {
        if let CpuUsage::Prometheus(of) = self {
            of.token_file = of.token_file.take().map(|file| folder.join(file));
        }
    }
}

pub(super) fn kind() -> Kind<CpuUsage> {
    let clients = Record::new(
        "cluster.nomad.cpuUsage.clients",
        "There is nothing to set: each client is asked through the agent that answers, every 10 s.",
        || CpuUsage::Clients,
    );
    let variants = vec![
        variant("clients", "The Nomad clients on them (`/v1/client/stats`).", clients.kind()),
        variant("prometheus", "A query of Prometheus.", prometheus().map(CpuUsage::Prometheus)),
    ];
    one_of(variants, |usage| (*usage == CpuUsage::Clients).then(|| json!({ "clients": {} })))
}

fn prometheus() -> Kind<Prometheus> {
    let start = || Prometheus {
        address: Arc::from(""),
        query: Arc::from(""),
        node_label: Arc::from("instance"),
        token_variable: None,
        token_file: None,
        max_age: SignedDuration::from_mins(1),
        timeout: SignedDuration::from_secs(5),
    };
    Record::new(
        "cluster.nomad.cpuUsage.prometheus",
        "A query of Prometheus, or of what answers as it does, every 10 s. A server of which it has no sample, several, or \
         one that is no share between 0 and 100 is not known to be idle: its pool keeps its size (docs/nomad.md).",
        start,
    )
    .required("address", address(), |of| &mut of.address, "Of its HTTP API, before `/api/v1/query`.")
    .required(
        "query",
        text(),
        |of| &mut of.query,
        "Its result is a vector with one sample for each server: the mean busy share of its cpus, from 0 to 100.",
    )
    .field(
        "nodeLabel",
        text(),
        |of| &mut of.node_label,
        "The label by which a server is known. Its value is the ID of a node, its name, or one of its addresses, with or \
         without a port.",
    )
    .field(
        "tokenVariable",
        text().optional(),
        |of| &mut of.token_variable,
        "The environment variable with a token, which is sent as `Authorization: Bearer`.",
    )
    .field(
        "tokenFile",
        text::<String>().map(PathBuf::from).optional(),
        |of| &mut of.token_file,
        "A file with such a token and nothing else. It counts instead of the variable, is read for every query, and its \
         path is relative to this file.",
    )
    .field(
        "maxAge",
        duration(SECOND),
        |of| &mut of.max_age,
        "A sample that is older is not known any more. Prometheus gives the time of the query to the result of functions: \
         how old what it found may be is then up to the range in the query.",
    )
    .field("timeout", duration(SECOND), |of| &mut of.timeout, "How long is waited for an answer.")
    .kind()
}
