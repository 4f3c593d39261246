//! The groups of external providers, as their adapter takes them.

use std::collections::BTreeMap;

use headroom_adapters::cloud::externalgrpc::{ExternalGroup, Reach, Tls};

use super::{Cloud, Config};

impl Config {
    /// The groups of external providers, by how these are reached.
    pub fn external_groups(&self) -> BTreeMap<Reach, Vec<ExternalGroup>> {
        let mut providers: BTreeMap<Reach, Vec<ExternalGroup>> = BTreeMap::new();
        for group in &self.policy.groups {
            let Some(Cloud::ExternalGrpc(external)) = self.clouds.get(&group.name) else { continue };
            let own = external.cert.clone().zip(external.key.clone());
            let reach = Reach {
                address: external.address.as_deref().unwrap_or_default().into(),
                tls: external.ca.clone().map(|ca| Tls { ca, own }),
                deadline: external.timeout.unsigned_abs(),
            };
            let id = (**external.node_group.as_ref().unwrap_or(&group.name)).into();
            providers.entry(reach).or_default().push(ExternalGroup { group: group.clone(), id });
        }
        providers
    }
}
