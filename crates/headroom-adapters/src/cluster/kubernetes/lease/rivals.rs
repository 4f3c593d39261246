//! Other autoscalers that work on the same cluster.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

use super::super::call::Call;
use crate::cluster::ClusterError;

/// The Leases by which the instances of other autoscalers elect a leader, in whatever namespace they run.
const LEASES: [(&str, &str); 3] = [
    ("cluster-autoscaler", "Cluster Autoscaler"),
    ("escalator-leader-elect", "Escalator"),
    ("karpenter-leader-election", "Karpenter"),
];

/// Where most of them run.
const SYSTEM: &str = "kube-system";

/// How long a Lease lasts that does not say so.
const USUAL: SignedDuration = SignedDuration::from_secs(15);

/// Another autoscaler that is at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// For example `Karpenter`.
    pub program: &'static str,
    /// Its Lease (`namespace/name`).
    pub lease: String,
    /// The instance that leads.
    pub holder: String,
}

/// Looks out for other autoscalers.
///
/// One is at work when its Lease was renewed no longer ago than it lasts, or has been renewed since the last look; the
/// latter holds also where its clock and this one differ.
pub struct Rivals {
    leases: Api<Lease>,
    in_system: Api<Lease>,
    /// What each Lease (`namespace/name`) said the last time.
    seen: BTreeMap<String, Seen>,
}

struct Seen {
    renewed: Timestamp,
    /// When it was seen to have been renewed since the look before.
    advanced: Option<Timestamp>,
}

impl Rivals {
    /// Has not looked yet.
    pub fn new(client: Client) -> Self {
        Rivals { leases: Api::all(client.clone()), in_system: Api::namespaced(client, SYSTEM), seen: BTreeMap::new() }
    }

    /// Those that are at work at `now`, in a fixed order. Without leave to look into all namespaces, it looks into
    /// `kube-system`.
    pub async fn look(&mut self, now: Timestamp) -> Result<Vec<Rival>, ClusterError> {
        let mut rivals = Vec::new();
        for (name, program) in LEASES {
            for lease in self.find(name).await? {
                let key = format!("{}/{name}", lease.namespace().unwrap_or_default());
                let spec = lease.spec.unwrap_or_default();
                let Some(holder) = spec.holder_identity.filter(|holder| !holder.is_empty()) else { continue };
                let Some(MicroTime(renewed)) = spec.renew_time else { continue };
                let lasts = spec.lease_duration_seconds.map_or(USUAL, |it| SignedDuration::from_secs(it.into()));
                if self.is_at_work(&key, renewed, lasts, now) {
                    rivals.push(Rival { program, lease: key, holder });
                }
            }
        }
        Ok(rivals)
    }

    fn is_at_work(&mut self, lease: &str, renewed: Timestamp, lasts: SignedDuration, now: Timestamp) -> bool {
        let advanced = match self.seen.get(lease) {
            None => None,
            Some(before) if before.renewed == renewed => before.advanced,
            Some(_) => Some(now),
        };
        self.seen.insert(lease.to_owned(), Seen { renewed, advanced });
        let within = |since: Timestamp| now.duration_since(since).abs() <= lasts;
        within(renewed) || advanced.is_some_and(within)
    }

    async fn find(&self, name: &str) -> Result<Vec<Lease>, ClusterError> {
        let object = format!("Lease {name} in all namespaces");
        let call = Call { verb: "list", object: &object };
        let params = ListParams::default().fields(&format!("metadata.name={name}"));
        match call.answer(self.leases.list(&params)).await? {
            Ok(found) => return Ok(found.items),
            Err(status) if status.code == 403 => {}
            Err(status) => return Err(call.refused(status)),
        }
        let object = format!("Lease {SYSTEM}/{name}");
        let call = Call { verb: "get", object: &object };
        match call.answer(self.in_system.get_opt(name)).await? {
            Ok(found) => Ok(found.into_iter().collect()),
            Err(status) => Err(call.refused(status)),
        }
    }
}
