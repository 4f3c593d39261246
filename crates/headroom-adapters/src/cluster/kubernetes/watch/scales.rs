//! The scale subresource of what capacity buffers refer to, where that is of a kind which is not part of Kubernetes.
//!
//! Nobody can watch all kinds that there may be. So what buffers name is read again and again: how many replicas it has,
//! and of its pods one, for what they are like.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_core::snapshot::{Change, Kind, ObjectKey, Workload};
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIGroup;
use kube::Client;
use kube::api::{GetParams, ListParams};
use kube::core::{ObjectList, Request};
use serde::de::DeserializeOwned;

use super::follow::Shared;
use super::request::{Failure, Raw, in_time};
use super::scalables::Scalable;
use super::timing::Timing;
use crate::cluster::kubernetes::object::Pod;
use crate::cluster::kubernetes::translate::{self, Malformed, Translated};

/// Reads what capacity buffers refer to for as long as it lives.
pub(super) async fn follow(client: Client, shared: Arc<Shared>, timing: Timing) {
    let changed = Arc::clone(&shared.state().scalables.changed);
    let mut scales = Scales { client, shared, timing, places: BTreeMap::new(), known: BTreeMap::new() };
    loop {
        scales.read().await;
        tokio::time::timeout(timing.scales, changed.notified()).await.ok();
    }
}

struct Scales {
    client: Client,
    shared: Arc<Shared>,
    timing: Timing,
    /// Where the objects of a group and kind are: `apis/GROUP/VERSION` and the plural.
    places: BTreeMap<(Box<str>, Box<str>), (String, String)>,
    /// What the snapshot has been told of.
    known: BTreeMap<Scalable, Workload>,
}

/// Why nothing is known of an object's pods.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("the API server serves no such kind; hint: install it, or correct scalableRef")]
    NoSuchKind,
    #[error("it is not there or has no scale subresource; hint: correct scalableRef, or name a PodTemplate")]
    NoScale,
    #[error("its scale says no selector of pods; hint: name a PodTemplate by podTemplateRef")]
    NoSelector,
    #[error(
        "its scale cannot be read: {message}; hint: grant get on {plural}/scale in API group {group:?} to Headroom's \
         service account, as deploy/capacity-buffers.yaml does for all groups"
    )]
    Forbidden { message: String, plural: String, group: Box<str> },
    #[error("a pod of it cannot be read: {0}")]
    OddPod(String),
    /// It passes by itself.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<Malformed> for Problem {
    fn from(malformed: Malformed) -> Self {
        Problem::OddPod(malformed.to_string())
    }
}

impl Scales {
    /// Reads everything once.
    async fn read(&mut self) {
        let (wanted, complete) = {
            let state = self.shared.state();
            (state.scalables.with_buffers(), state.is_synced(Kind::CapacityBuffers))
        };
        let unwanted: Vec<Scalable> = self.known.keys().filter(|it| !wanted.contains_key(it)).cloned().collect();
        unwanted.iter().for_each(|scalable| self.forget(scalable));
        for (scalable, buffers) in wanted {
            match self.workload(&scalable).await {
                Ok(workload) => {
                    if let Some(workload) = workload {
                        self.put(&scalable, workload);
                    }
                    let mut state = self.shared.state();
                    buffers.iter().for_each(|buffer| state.warnings.over(&described(buffer, &scalable)));
                }
                Err(Problem::Failed(failure)) => {
                    tracing::debug!(object = scalable.reference(), %failure, "a scale was not read and is tried again");
                }
                Err(problem) => {
                    self.forget(&scalable);
                    let mut state = self.shared.state();
                    for buffer in &buffers {
                        state.warnings.add(&described(buffer, &scalable), &problem.to_string());
                    }
                    drop(state);
                    self.shared.changed.notify_one();
                }
            }
        }
        if complete {
            self.shared.state().scalables.asked();
            self.shared.changed.notify_one();
        }
    }

    /// The object as something that makes pods. None as long as no pod has been seen that says what these are like.
    async fn workload(&mut self, scalable: &Scalable) -> Result<Option<Workload>, Problem> {
        let Scalable { namespace, group, kind, name } = scalable;
        let (path, plural) = self.place(group, kind).await?;
        let path = format!("/{path}/namespaces/{namespace}/{plural}/{name}");
        let scale: Scale = match self.get(&path, "scale").await {
            Ok(scale) => scale,
            Err(Failure::NotServed) => {
                // Its version may not be served any more.
                self.places.remove(&(group.clone(), kind.clone()));
                return Err(Problem::NoScale);
            }
            Err(Failure::Forbidden(message)) => {
                return Err(Problem::Forbidden { message, plural, group: group.clone() });
            }
            Err(failure) => return Err(failure.into()),
        };
        let replicas = scale.spec.and_then(|spec| spec.replicas).unwrap_or(0).max(0).unsigned_abs();
        let selector = scale.status.and_then(|status| status.selector).filter(|selector| !selector.is_empty());
        let selector = selector.ok_or(Problem::NoSelector)?;
        let Some(pod) = self.pod(namespace, &selector).await? else {
            // Scaled to nothing, its pods will be what they were.
            return Ok(self.known.get(scalable).map(|known| Workload { replicas, ..known.clone() }));
        };
        let pod: Pod<'_> = serde_json::from_str(pod.get()).map_err(|error| Problem::OddPod(error.to_string()))?;
        let Translated { value: spec, .. } = translate::like(&pod, &mut self.shared.specs())?;
        let (kind, name) = (scalable.full_kind().into(), name.clone());
        Ok(Some(Workload { kind, name, replicas, spec, ..Workload::default() }))
    }

    /// One of the pods: one that runs if there is any.
    async fn pod(&self, namespace: &str, selector: &str) -> Result<Option<Raw>, Failure> {
        let request = Request::new(format!("/api/v1/namespaces/{namespace}/pods"));
        for fields in ["status.phase=Running", "status.phase=Pending"] {
            let list = ListParams::default().labels(selector).fields(fields).limit(1);
            let list = request.list(&list).map_err(kube::Error::BuildRequest)?;
            let text = in_time(self.timing.answer, self.client.request_text(list)).await?;
            let pods: ObjectList<Raw> = serde_json::from_str(&text).map_err(Failure::Unreadable)?;
            if let Some(pod) = pods.items.into_iter().next() {
                return Ok(Some(pod));
            }
        }
        Ok(None)
    }

    /// Where objects of this kind are, in the version that the API server prefers of those that have it.
    async fn place(&mut self, group: &str, kind: &str) -> Result<(String, String), Problem> {
        let key = (group.into(), kind.into());
        if let Some(place) = self.places.get(&key) {
            return Ok(place.clone());
        }
        let served: APIGroup = match self.get("/apis", group).await {
            Ok(served) => served,
            Err(Failure::NotServed) => return Err(Problem::NoSuchKind),
            Err(failure) => return Err(failure.into()),
        };
        for version in served.preferred_version.iter().chain(&served.versions) {
            let list = self.client.list_api_group_resources(&version.group_version);
            let list = match in_time(self.timing.answer, list).await {
                Ok(list) => list,
                Err(Failure::NotServed) => continue,
                Err(failure) => return Err(failure.into()),
            };
            let is_it = |served: &str, of: &str, namespaced| namespaced && of == kind && !served.contains('/');
            if let Some(found) = list.resources.iter().find(|it| is_it(&it.name, &it.kind, it.namespaced)) {
                let place = (format!("apis/{}", version.group_version), found.name.clone());
                self.places.insert(key, place.clone());
                return Ok(place);
            }
        }
        Err(Problem::NoSuchKind)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, name: &str) -> Result<T, Failure> {
        let get = Request::new(path).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        in_time(self.timing.answer, self.client.request(get)).await
    }

    fn put(&mut self, scalable: &Scalable, workload: Workload) {
        if self.known.get(scalable) != Some(&workload) {
            self.known.insert(scalable.clone(), workload.clone());
            self.tell(Change::Workload(Box::new(workload)));
        }
    }

    fn forget(&mut self, scalable: &Scalable) {
        if self.known.remove(scalable).is_some() {
            let namespace = Arc::clone(&scalable.namespace);
            self.tell(Change::WorkloadGone { namespace, reference: scalable.reference().into() });
        }
    }

    fn tell(&self, change: Change) {
        self.shared.state().put_unwatched(change);
        self.shared.changed.notify_one();
    }
}

/// Under what name a problem is said. It is not that of the buffer alone, which may have others.
fn described(buffer: &ObjectKey, scalable: &Scalable) -> String {
    format!("capacitybuffer {}/{}: {}", buffer.namespace, buffer.name, scalable.reference())
}
