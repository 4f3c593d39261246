//! The Lease object.

use std::time::Duration;

use async_trait::async_trait;
use http::Request;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{GetParams, PostParams};
use kube::{Client, Resource};

use super::super::call::Call;
use super::super::fenced::OfElection;
use crate::cluster::ClusterError;
use crate::election::{self, Turn};
use crate::fence::Fence;

/// How often giving the lease back is tried when a renewal that was under way comes in between.
const RELEASES: usize = 3;

/// One Lease, and what is known of it.
pub(super) struct Record {
    client: Client,
    leases: kube::core::Request,
    name: String,
    namespace: String,
    identity: String,
    duration: Duration,
    /// For its clock.
    clock: Fence,
    /// As this instance wrote it last, while nothing is known to have changed it.
    written: Option<Lease>,
    /// What it said, and since when it has said so.
    observed: Option<(LeaseSpec, Duration)>,
}

#[async_trait]
impl election::Lease for Record {
    async fn turn(&mut self) -> Result<Turn, ClusterError> {
        let since = self.clock.now();
        // Should this be interrupted, it is not known what is there.
        if let Some(lease) = self.written.take()
            && let Some(written) = self.write(self.claimed(lease)).await?
        {
            self.written = Some(written);
            return Ok(Turn::Ours { since });
        }
        let found = self.read().await?;
        if let Some(holder) = found.as_ref().and_then(|found| self.holder(found)) {
            return Ok(Turn::Of(holder));
        }
        let lease = self.claimed(found.unwrap_or_else(|| self.blank()));
        match self.write(lease).await? {
            Some(written) => {
                self.written = Some(written);
                Ok(Turn::Ours { since })
            }
            // Somebody was faster. What that means shows the next time.
            None => Err(ClusterError::Conflict { object: self.object() }),
        }
    }

    async fn release(&mut self) -> Result<(), ClusterError> {
        self.written = None;
        for _ in 0..RELEASES {
            let Some(mut lease) = self.read().await? else { return Ok(()) };
            let spec = lease.spec.get_or_insert_default();
            if spec.holder_identity.as_ref() != Some(&self.identity) {
                return Ok(());
            }
            spec.holder_identity = None;
            spec.lease_duration_seconds = Some(1);
            spec.renew_time = Some(MicroTime(Timestamp::now()));
            if self.write(lease).await?.is_some() {
                return Ok(());
            }
        }
        Err(ClusterError::Conflict { object: self.object() })
    }
}

impl Record {
    pub(super) fn new(
        client: Client,
        namespace: &str,
        name: &str,
        identity: &str,
        duration: Duration,
        clock: Fence,
    ) -> Self {
        Record {
            client,
            leases: kube::core::Request::new(Lease::url_path(&(), Some(namespace))),
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            identity: identity.to_owned(),
            duration,
            clock,
            written: None,
            observed: None,
        }
    }

    /// Who else has the lease now.
    fn holder(&mut self, lease: &Lease) -> Option<String> {
        let spec = lease.spec.clone().unwrap_or_default();
        let now = self.clock.now();
        let since = match &self.observed {
            Some((same, since)) if *same == spec => *since,
            _ => now,
        };
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let until = since + seconds.map_or(self.duration, Duration::from_secs);
        let other = spec.holder_identity.clone().filter(|holder| !holder.is_empty() && *holder != self.identity);
        self.observed = Some((spec, since));
        other.filter(|_| now < until)
    }

    /// The lease in this instance's name, renewed.
    fn claimed(&self, mut lease: Lease) -> Lease {
        let now = MicroTime(Timestamp::now());
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_ref() != Some(&self.identity) {
            spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |before| before.saturating_add(1)));
            spec.acquire_time = Some(now.clone());
            spec.holder_identity = Some(self.identity.clone());
        }
        spec.lease_duration_seconds = Some(i32::try_from(self.duration.as_secs()).unwrap_or(i32::MAX));
        spec.renew_time = Some(now);
        lease
    }

    fn blank(&self) -> Lease {
        let metadata = ObjectMeta {
            name: Some(self.name.clone()),
            namespace: Some(self.namespace.clone()),
            ..ObjectMeta::default()
        };
        Lease { metadata, spec: None }
    }

    async fn read(&self) -> Result<Option<Lease>, ClusterError> {
        let object = self.object();
        let call = Call { verb: "get", object: &object };
        let get = async {
            let request = self.leases.get(&self.name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
            self.client.request(request).await
        };
        match call.answer(get).await? {
            Ok(found) => Ok(Some(found)),
            Err(status) if status.code == 404 => Ok(None),
            Err(status) => Err(call.refused(status)),
        }
    }

    /// Writes the version that was read, or makes the Lease; None when another one is there.
    async fn write(&self, lease: Lease) -> Result<Option<Lease>, ClusterError> {
        let object = self.object();
        let call = Call { verb: "write", object: &object };
        let write = async {
            let body = serde_json::to_vec(&lease).map_err(kube::Error::SerdeError)?;
            let request = match lease.metadata.resource_version {
                Some(_) => self.leases.replace(&self.name, &PostParams::default(), body),
                None => self.leases.create(&PostParams::default(), body),
            };
            let mut request: Request<Vec<u8>> = request.map_err(kube::Error::BuildRequest)?;
            request.extensions_mut().insert(OfElection);
            self.client.request(request).await
        };
        match call.answer(write).await? {
            Ok(written) => Ok(Some(written)),
            // Deleted in between: the next try makes it.
            Err(status) if matches!(status.code, 404 | 409) => Ok(None),
            Err(status) => Err(call.refused(status)),
        }
    }

    fn object(&self) -> String {
        format!("Lease {}/{}", self.namespace, self.name)
    }
}
