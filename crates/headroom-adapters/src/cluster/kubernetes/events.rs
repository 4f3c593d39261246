//! Events of Kubernetes, which `kubectl describe` shows with the object that they are about.
//!
//! They are written as `core/v1`, with a count and the first and last time, since that is what Cluster Autoscaler writes
//! and what alerts read. The API server forgets them after an hour.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Event as Written, Pod};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::Status;
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::call::Call;
use super::pauses::STATUS;
use crate::bulletin::{About, Event, Tone};
use crate::cluster::ClusterError;

/// So many are written at most each time.
const AT_ONCE: usize = 50;

/// Calls that are under way at the same time.
const CALLS: usize = 10;

/// What happens again within this time is only counted.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);

/// What lasts is written as often as this.
const LASTING: SignedDuration = SignedDuration::from_mins(5);

/// What has not been told for this long is new when it comes again.
const FORGOTTEN: SignedDuration = SignedDuration::from_mins(20);

/// So many are remembered. With more than that nothing new is told.
const KNOWN: usize = 10_000;

/// What the API takes.
const MESSAGE: usize = 1024;

/// The longest name of an object, with room for what makes it unique.
const NAME: usize = 253 - 33;

/// Events about nodes, which are in no namespace, are here.
const NAMESPACE_OF_NODES: &str = "default";

/// Writes events.
pub(super) struct Events {
    client: Client,
    namespace: String,
    told: BTreeMap<Key, Told>,
    /// Makes names unique.
    number: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    about: About,
    reason: &'static str,
    what: Arc<str>,
}

/// An event that was written.
#[derive(Clone, Debug)]
struct Told {
    name: String,
    /// How often it came, also since it was written last.
    count: u32,
    first: Timestamp,
    written: Timestamp,
    seen: Timestamp,
}

impl Events {
    pub(super) fn new(client: Client, namespace: &str) -> Self {
        Events { client, namespace: namespace.to_owned(), told: BTreeMap::new(), number: 0 }
    }

    /// Writes what is new, and what has not been written for a while, as far as it is not too much.
    pub(super) async fn tell(&mut self, events: Vec<Event>, now: Timestamp) -> Result<(), ClusterError> {
        self.told.retain(|_, told| now.duration_since(told.seen) < FORGOTTEN);
        let due = self.due(events, now);
        for some in due.chunks(CALLS) {
            let calls: Vec<_> = some.iter().map(|(_, event, told)| self.write(event, told)).collect();
            let answers = join_all(calls).await;
            let mut failure = None;
            for ((key, _, told), answer) in some.iter().zip(answers) {
                match answer {
                    Ok(()) => drop(self.told.insert(key.clone(), told.clone())),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            if let Some(error) = failure {
                return Err(error);
            }
        }
        Ok(())
    }

    /// What is to be written now, and what is known of it then.
    fn due(&mut self, events: Vec<Event>, now: Timestamp) -> Vec<(Key, Event, Told)> {
        let (mut due, mut keys) = (Vec::new(), BTreeSet::new());
        for event in events {
            let key = Key::of(&event);
            let pause = if event.lasting.is_some() { LASTING } else { AGAIN };
            if let Some(told) = self.told.get_mut(&key) {
                told.count = told.count.saturating_add(1);
                told.seen = now;
                if now.duration_since(told.written) >= pause && due.len() < AT_ONCE && keys.insert(key.clone()) {
                    let told = Told { written: now, ..told.clone() };
                    due.push((key, event, told));
                }
            } else if due.len() < AT_ONCE
                && self.told.len().saturating_add(due.len()) < KNOWN
                && keys.insert(key.clone())
            {
                self.number = self.number.wrapping_add(1);
                let name = name(&event.about, now, self.number);
                due.push((key, event, Told { name, count: 1, first: now, written: now, seen: now }));
            }
        }
        due
    }

    async fn write(&self, event: &Event, told: &Told) -> Result<(), ClusterError> {
        let namespace = match &event.about {
            About::Headroom => &*self.namespace,
            About::Node(_) => NAMESPACE_OF_NODES,
            About::Pod { namespace, .. } => namespace,
        };
        let object = format!("event {namespace}/{}", told.name);
        let events: Api<Written> = Api::namespaced(self.client.clone(), namespace);
        let (message, last) = (&event.message[..event.message.floor_char_boundary(MESSAGE)], to_second(told.written));
        if told.count > 1 {
            let patch = Patch::Merge(json!({ "count": told.count, "lastTimestamp": last, "message": message }));
            let call = Call { verb: "patch", object: &object };
            let (name, params) = (&told.name, PatchParams::default());
            match call.answer(events.patch(name, &params, &patch)).await? {
                Ok(_) => return Ok(()),
                // The API server has forgotten it.
                Err(status) if status.code == 404 => {}
                Err(status) => return Err(call.refused(status)),
            }
        }
        let body = json!({
            "metadata": { "name": told.name, "namespace": namespace },
            "involvedObject": self.involved(&event.about).await?,
            "reason": event.reason,
            "message": message,
            "type": match event.tone {
                Tone::Normal => "Normal",
                Tone::Warning => "Warning",
            },
            "count": told.count,
            "firstTimestamp": to_second(told.first),
            "lastTimestamp": last,
            "source": { "component": "headroom" },
            "reportingComponent": "headroom",
            "reportingInstance": "",
        });
        let call = Call { verb: "create", object: &object };
        let create = async {
            let new: Written = serde_json::from_value(body).map_err(kube::Error::SerdeError)?;
            events.create(&PostParams::default(), &new).await
        };
        match call.answer(create).await? {
            Ok(_) => Ok(()),
            Err(status) if namespace_goes(&status) => Ok(()),
            Err(status) => Err(call.refused(status)),
        }
    }

    /// The object as an event names it. `kubectl describe` looks for its uid, or for the name of a node in its place, as
    /// the kubelet writes it. What is gone has none.
    async fn involved(&self, about: &About) -> Result<Value, ClusterError> {
        let (kind, namespace, name, uid) = match about {
            About::Node(node) => {
                return Ok(json!({ "apiVersion": "v1", "kind": "Node", "name": &**node, "uid": &**node }));
            }
            About::Headroom => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.namespace);
                let object = format!("configmap {}/{STATUS}", self.namespace);
                let get = Call { verb: "get", object: &object }.demand(api.get_metadata_opt(STATUS));
                ("ConfigMap", &*self.namespace, STATUS, get.await?.and_then(|found| found.uid()))
            }
            About::Pod { namespace, name } => {
                let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
                let object = format!("pod {namespace}/{name}");
                let get = Call { verb: "get", object: &object }.demand(api.get_metadata_opt(name));
                ("Pod", &**namespace, &**name, get.await?.and_then(|found| found.uid()))
            }
        };
        let mut object = json!({ "apiVersion": "v1", "kind": kind, "namespace": namespace, "name": name });
        if let Some(uid) = uid {
            object["uid"] = uid.into();
        }
        Ok(object)
    }
}

impl Key {
    fn of(event: &Event) -> Self {
        let what = event.lasting.clone().unwrap_or_else(|| event.message.as_str().into());
        Key { about: event.about.clone(), reason: event.reason, what }
    }
}

/// As clients name events: by their object, the time and, here, a number.
fn name(about: &About, now: Timestamp, number: u64) -> String {
    let object = match about {
        About::Headroom => STATUS,
        About::Node(name) => name,
        About::Pod { name, .. } => name,
    };
    let object = object[..object.floor_char_boundary(NAME)].trim_end_matches(['-', '.']);
    format!("{object}.{:x}", now.as_nanosecond().saturating_add(number.into()))
}

fn to_second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// Nothing new can be made in a namespace that is gone or being deleted.
fn namespace_goes(status: &Status) -> bool {
    let mut causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 404 || causes.any(|cause| cause.reason == "NamespaceTerminating")
}
