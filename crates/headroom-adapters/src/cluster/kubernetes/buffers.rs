//! What is said of capacity buffers, in their status: in the words of Cluster Autoscaler, which dashboards know.

use std::collections::BTreeMap;

use headroom_core::keys::ACTIVE_CAPACITY;
use headroom_core::plan::{BufferProblem, Placeholder, Placeholders, Report, Warning};
use headroom_core::snapshot::{CapacityBuffer, Snapshot};
use jiff::Timestamp;
use kube::Client;
use kube::api::{GetParams, Patch, PatchParams};
use kube::core::Request;
use serde_json::{Value, json};

use super::call::Call;
use super::watch::buffer_groups;
use crate::cluster::ClusterError;

/// Writes what rounds decide about capacity buffers into their status, as often as it changes.
pub struct Buffers {
    client: Client,
    /// By `namespace/name`.
    said: BTreeMap<String, Verdict>,
}

/// What one round says of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    /// How many pods it stands for, if that can be told.
    replicas: Option<u32>,
    /// The PodTemplate that it refers to, with the generation that was seen, if it is there.
    template: Option<(Box<str>, Option<i64>)>,
    conditions: [Condition; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    kind: &'static str,
    status: bool,
    reason: &'static str,
    message: String,
}

impl Buffers {
    /// Writes through this client.
    pub fn new(client: Client) -> Self {
        Buffers { client, said: BTreeMap::new() }
    }

    /// Writes what the round at `now` decided. What fails is returned, and tried again the next time. A round that kept no
    /// slack says nothing.
    pub async fn report(&mut self, snapshot: &Snapshot, report: &Report, now: Timestamp) -> Vec<ClusterError> {
        let mut failures = Vec::new();
        let mut said = BTreeMap::new();
        for buffer in snapshot.capacity_buffers().filter(|buffer| report.slack.is_some() && buffer.is_for_us()) {
            let name = format!("{}/{}", buffer.namespace, buffer.name);
            let verdict = Verdict { template: template(buffer, snapshot), ..Verdict::of(&name, report) };
            if self.said.get(&name) != Some(&verdict)
                && let Err(failure) = self.write(buffer, &name, &verdict, now).await
            {
                failures.push(failure);
                continue;
            }
            said.insert(name, verdict);
        }
        self.said = said;
        failures
    }

    /// Writes one status. A buffer that is gone is no error.
    async fn write(
        &self,
        buffer: &CapacityBuffer,
        name: &str,
        verdict: &Verdict,
        now: Timestamp,
    ) -> Result<(), ClusterError> {
        let object = format!("capacitybuffer {name}");
        for group in buffer_groups() {
            let request = Request::new(format!("/{group}/namespaces/{}/capacitybuffers", buffer.namespace));
            let get = async {
                let get = request.get(&buffer.name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
                self.client.request::<Value>(get).await
            };
            let call = Call { verb: "get", object: &object };
            let found = match call.answer(get).await? {
                Ok(found) => found,
                Err(status) if status.code == 404 => continue,
                Err(status) => return Err(call.refused(status)),
            };
            let status = verdict.status(buffer, &found, now);
            if status.as_object().is_some_and(|fields| fields.iter().all(|(key, value)| found["status"][key] == *value))
            {
                return Ok(());
            }
            let version = &found["metadata"]["resourceVersion"];
            let patch = json!({ "metadata": { "resourceVersion": version }, "status": status });
            let patch = async {
                let parameters = PatchParams::default();
                let patch = request.patch_subresource("status", &buffer.name, &parameters, &Patch::Merge(&patch));
                self.client.request::<Value>(patch.map_err(kube::Error::BuildRequest)?).await
            };
            return Call { verb: "patch the status of", object: &object }.demand(patch).await.map(drop);
        }
        Ok(())
    }
}

impl Verdict {
    fn of(name: &str, report: &Report) -> Self {
        let problem = report.warnings.iter().find_map(|warning| match warning {
            Warning::BufferKeepsNothing { buffer, problem } if **buffer == *name => Some(problem),
            _ => None,
        });
        let is_of = |kept: &&Placeholders| matches!(&kept.of, Placeholder::Buffer { buffer } if **buffer == *name);
        let kept = report.slack.iter().flat_map(|slack| &slack.placeholders).find(is_of);
        let (replicas, ready, provisioning) = match (problem, kept) {
            (Some(problem), _) => {
                let reason = match problem {
                    BufferProblem::NotFound { .. } => "FailedToGetPodTemplate",
                    BufferProblem::NotOneReference | BufferProblem::NoCount => "InvalidSpec",
                };
                (None, (false, reason, problem.to_string()), (false, "NotReadyForProvisioning", String::new()))
            }
            (None, None) => {
                (Some(0), (true, "AttributesSetSuccessfully", String::new()), (true, "BufferIsEmpty", String::new()))
            }
            (None, Some(kept)) => {
                let Placeholders { wanted, kept, placed, on_upcoming, on_new, refused, .. } = kept;
                let (there, coming) = (kept.saturating_add(*placed), on_upcoming.saturating_add(*on_new));
                let message = format!(
                    "of {wanted} pods {there} have room on nodes, {coming} get it on machines to come, {refused} find none"
                );
                let ready = (true, "AttributesSetSuccessfully", String::new());
                (Some(*wanted), ready, (true, "FakePodsInjected", message))
            }
        };
        let condition = |kind, (status, reason, message)| Condition { kind, status, reason, message };
        Verdict {
            replicas,
            template: None,
            conditions: [condition("ReadyForProvisioning", ready), condition("Provisioning", provisioning)],
        }
    }

    /// The fields of the status that are ours. Conditions of others stay, and ours keep the time of their last turn.
    fn status(&self, buffer: &CapacityBuffer, found: &Value, now: Timestamp) -> Value {
        let before = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let named = |kind: &str| before.iter().find(|condition| condition["type"] == *kind);
        let ours = self.conditions.iter().map(|Condition { kind, status, reason, message }| {
            let status = if *status { "True" } else { "False" };
            let since = named(kind).filter(|known| known["status"] == status).map(|known| &known["lastTransitionTime"]);
            let now = || json!(Timestamp::from_second(now.as_second()).unwrap_or(now).to_string());
            json!({
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastTransitionTime": since.cloned().filter(Value::is_string).unwrap_or_else(now),
                "observedGeneration": found["metadata"]["generation"].as_i64().unwrap_or_default(),
            })
        });
        let is_ours = |condition: &&Value| self.conditions.iter().any(|ours| condition["type"] == *ours.kind);
        let foreign = before.iter().filter(|condition| !is_ours(condition)).cloned();
        let strategy = if buffer.strategy.is_empty() { ACTIVE_CAPACITY } else { &*buffer.strategy };
        let conditions: Vec<Value> = foreign.chain(ours).collect();
        // Null takes away what another controller may have said: of what a scalableRef names no PodTemplate is made.
        let (template, generation) = match &self.template {
            Some((name, generation)) => (json!({ "name": name }), json!(generation)),
            None => (Value::Null, Value::Null),
        };
        json!({
            "podTemplateRef": template,
            "podTemplateGeneration": generation,
            "replicas": self.replicas,
            "provisioningStrategy": strategy,
            "conditions": conditions,
        })
    }
}

/// The PodTemplate that a buffer refers to, with its generation.
fn template(buffer: &CapacityBuffer, snapshot: &Snapshot) -> Option<(Box<str>, Option<i64>)> {
    let name = buffer.pod_template.as_ref()?;
    let workload = snapshot.workload(&buffer.namespace, &format!("PodTemplate/{name}"))?;
    Some((name.clone(), workload.generation))
}
