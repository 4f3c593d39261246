//! How everything is, in the layout of Cluster Autoscaler's status ConfigMap, for which people have scripts.

use std::collections::BTreeMap;

use headroom_core::plan::Counts;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use serde::Serialize;
use serde_json::json;

use super::call::Call;
use super::pauses::STATUS;
use crate::bulletin::{GroupStatus, Growth, Status};
use crate::cluster::ClusterError;

/// The key of the ConfigMap.
const KEY: &str = "status";

/// The annotation by which scripts see how old it is.
const LAST_UPDATED: &str = "cluster-autoscaler.kubernetes.io/last-updated";

/// As many bytes as Cluster Autoscaler writes of an error.
const MESSAGE: usize = 500;

/// Writes the key `status` of the ConfigMap `headroom-status`. What else is in it stays.
pub(super) struct StatusPage {
    config_maps: Api<ConfigMap>,
    object: String,
    turns: Turns,
}

impl StatusPage {
    pub(super) fn new(client: Client, namespace: &str) -> Self {
        StatusPage {
            config_maps: Api::namespaced(client, namespace),
            object: format!("configmap {namespace}/{STATUS}"),
            turns: Turns::default(),
        }
    }

    pub(super) async fn write(&mut self, status: &Status) -> Result<(), ClusterError> {
        let text = self.turns.page(status).map_err(|error| ClusterError::Unreachable(error.into()))?;
        let annotations = BTreeMap::from([(LAST_UPDATED.to_owned(), go_time(status.at))]);
        let data = BTreeMap::from([(KEY.to_owned(), text)]);
        let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations }, "data": data }));
        let call = Call { verb: "patch", object: &self.object };
        match call.answer(self.config_maps.patch(STATUS, &PatchParams::default(), &patch)).await? {
            Ok(_) => return Ok(()),
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(call.refused(status)),
        }
        let labels = BTreeMap::from([("app.kubernetes.io/name".to_owned(), "headroom".to_owned())]);
        let metadata = ObjectMeta {
            name: Some(STATUS.to_owned()),
            annotations: Some(annotations),
            labels: Some(labels),
            ..ObjectMeta::default()
        };
        let new = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
        let params = PostParams::default();
        let create = self.config_maps.create(&params, &new);
        Call { verb: "create", object: &self.object }.demand(create).await.map(drop)
    }
}

/// What each status was, and since when. The key names the group, empty for the cluster, and the aspect.
#[derive(Default)]
pub(super) struct Turns(BTreeMap<(String, &'static str), (&'static str, Timestamp)>);

impl Turns {
    /// The text of this status, which is remembered.
    pub(super) fn page(&mut self, status: &Status) -> Result<String, serde_saphyr::ser::Error> {
        let mut probe = Probe { before: std::mem::take(&mut self.0), turns: BTreeMap::new(), at: status.at };
        let page = probe.page(status);
        self.0 = probe.turns;
        serde_saphyr::to_string(&page)
    }
}

/// One look at every status.
struct Probe {
    before: BTreeMap<(String, &'static str), (&'static str, Timestamp)>,
    turns: BTreeMap<(String, &'static str), (&'static str, Timestamp)>,
    at: Timestamp,
}

impl Probe {
    fn page<'s>(&mut self, status: &'s Status) -> Page<'s> {
        let groups = &status.groups;
        let grows = groups.iter().any(|group| group.growth == Growth::InProgress);
        let candidates = groups.iter().fold(0u32, |sum, group| sum.saturating_add(group.candidates));
        let mut nodes = NodeCounts::default();
        groups.iter().for_each(|group| nodes.add(&group.nodes));
        Page {
            time: go_time(status.at),
            autoscaler_status: "Running",
            message: status.message.as_deref(),
            cluster_wide: ClusterWide {
                health: Health { status: health(status.healthy), node_counts: nodes, limits: None, times: None }
                    .at(self, ""),
                scale_up: ScaleUp { status: growing(grows), backoff_info: None, times: None }.at(self, ""),
                scale_down: ScaleDown::of(candidates).at(self, ""),
            },
            node_groups: groups.iter().map(|group| self.group(group)).collect(),
        }
    }

    fn group<'s>(&mut self, group: &'s GroupStatus) -> NodeGroup<'s> {
        let mut node_counts = NodeCounts::default();
        node_counts.add(&group.nodes);
        let GroupStatus { name, target, min, max, .. } = group;
        let limits = Some(Sizes { cloud_provider_target: *target, min_size: *min, max_size: *max });
        let (growth, backoff_info) = match &group.growth {
            Growth::None => (growing(false), None),
            Growth::InProgress => (growing(true), None),
            Growth::BackingOff { code, message } => {
                let error_message = &message[..message.floor_char_boundary(MESSAGE)];
                ("Backoff", Some(BackoffInfo { error_code: code, error_message }))
            }
        };
        NodeGroup {
            name,
            health: Health { status: health(group.healthy), node_counts, limits, times: None }.at(self, name),
            scale_up: ScaleUp { status: growth, backoff_info, times: None }.at(self, name),
            scale_down: ScaleDown::of(group.candidates).at(self, name),
        }
    }

    fn times(&mut self, group: &str, aspect: &'static str, status: &'static str) -> Option<Times> {
        let key = (group.to_owned(), aspect);
        let since = self.before.get(&key).filter(|(before, _)| *before == status).map_or(self.at, |(_, since)| *since);
        self.turns.insert(key, (status, since));
        Some(Times { last_probe_time: self.at.to_string(), last_transition_time: since.to_string() })
    }
}

fn health(healthy: bool) -> &'static str {
    if healthy { "Healthy" } else { "Unhealthy" }
}

fn growing(grows: bool) -> &'static str {
    if grows { "InProgress" } else { "NoActivity" }
}

/// As Go prints a time, which is what Cluster Autoscaler writes here.
fn go_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S%.f +0000 UTC").to_string()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'s> {
    time: String,
    autoscaler_status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'s str>,
    cluster_wide: ClusterWide<'s>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node_groups: Vec<NodeGroup<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClusterWide<'s> {
    health: Health,
    scale_up: ScaleUp<'s>,
    scale_down: ScaleDown,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeGroup<'s> {
    name: &'s str,
    health: Health,
    scale_up: ScaleUp<'s>,
    scale_down: ScaleDown,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Health {
    status: &'static str,
    node_counts: NodeCounts,
    #[serde(flatten)]
    limits: Option<Sizes>,
    #[serde(flatten)]
    times: Option<Times>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScaleUp<'s> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    backoff_info: Option<BackoffInfo<'s>>,
    #[serde(flatten)]
    times: Option<Times>,
}

#[derive(Serialize)]
struct ScaleDown {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<u32>,
    #[serde(flatten)]
    times: Option<Times>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sizes {
    cloud_provider_target: u32,
    min_size: u32,
    max_size: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BackoffInfo<'s> {
    error_code: &'s str,
    error_message: &'s str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Times {
    last_probe_time: String,
    last_transition_time: String,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeCounts {
    registered: Registered,
    long_unregistered: u32,
    unregistered: u32,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Registered {
    total: u32,
    ready: u32,
    not_started: u32,
    #[serde(skip_serializing_if = "is_zero")]
    being_deleted: u32,
    unready: Unready,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Unready {
    total: u32,
    resource_unready: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Health {
    fn at(mut self, probe: &mut Probe, group: &str) -> Self {
        self.times = probe.times(group, "health", self.status);
        self
    }
}

impl ScaleUp<'_> {
    fn at(mut self, probe: &mut Probe, group: &str) -> Self {
        self.times = probe.times(group, "scaleUp", self.status);
        self
    }
}

impl ScaleDown {
    fn of(candidates: u32) -> Self {
        let status = if candidates > 0 { "CandidatesPresent" } else { "NoCandidates" };
        ScaleDown { status, candidates: (candidates > 0).then_some(candidates), times: None }
    }

    fn at(mut self, probe: &mut Probe, group: &str) -> Self {
        self.times = probe.times(group, "scaleDown", self.status);
        self
    }
}

impl NodeCounts {
    /// A marked node is being deleted; a cordoned one is as ready as others. Whoever is on the way has not registered.
    fn add(&mut self, counts: &Counts) {
        let Counts { in_service, not_ready, upcoming, tainted, force_tainted, cordoned, never_came, disputed } =
            *counts;
        let ready = in_service.saturating_add(cordoned).saturating_add(disputed);
        let marked = tainted.saturating_add(force_tainted);
        let add = |to: &mut u32, count: u32| *to = to.saturating_add(count);
        add(&mut self.registered.total, ready.saturating_add(marked).saturating_add(not_ready));
        add(&mut self.registered.ready, ready);
        add(&mut self.registered.being_deleted, marked);
        add(&mut self.registered.unready.total, not_ready);
        add(&mut self.unregistered, upcoming);
        add(&mut self.long_unregistered, never_came);
    }
}
