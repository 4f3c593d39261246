//! The groups of external providers, as their adapter takes them.

use std::collections::BTreeMap;

use headroom_adapters::cloud::externalgrpc::{ExternalGroup, Reach, Tls};

use super::{Cloud, Config, ExternalGrpc};

impl ExternalGrpc {
    /// How the provider is reached.
    pub fn reach(&self) -> Reach {
        let own = self.cert.clone().zip(self.key.clone());
        Reach {
            address: self.address.as_deref().unwrap_or_default().into(),
            tls: self.ca.clone().map(|ca| Tls { ca, own }),
            deadline: self.timeout.unsigned_abs(),
        }
    }
}

impl Config {
    /// The groups of external providers, by how these are reached.
    pub fn external_groups(&self) -> BTreeMap<Reach, Vec<ExternalGroup>> {
        let mut providers: BTreeMap<Reach, Vec<ExternalGroup>> = BTreeMap::new();
        for group in &self.policy.groups {
            let Some(Cloud::ExternalGrpc(external)) = self.clouds.get(&group.name) else { continue };
            let id = (**external.node_group.as_ref().unwrap_or(&group.name)).into();
            providers.entry(external.reach()).or_default().push(ExternalGroup { group: group.clone(), id });
        }
        providers
    }
}
