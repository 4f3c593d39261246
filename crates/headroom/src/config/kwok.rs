//! The groups of kwok, as its adapter takes them.

use headroom_adapters::cloud::kwok::{KwokGroup, Machines};

use super::{Cloud, Config};

impl Config {
    /// The groups whose machines kwok pretends to be.
    pub fn kwok_groups(&self) -> Vec<KwokGroup> {
        let groups = self.policy.groups.iter().filter_map(|group| {
            let Some(Cloud::Kwok(kwok)) = self.clouds.get(&group.name) else { return None };
            let provider = || Machines::Provider {
                config_map: (*kwok.config_map).into(),
                node_group: (**kwok.node_group.as_ref().unwrap_or(&group.name)).into(),
            };
            Some(KwokGroup {
                name: group.name.clone(),
                machines: group.template.clone().map_or_else(provider, Machines::Stated),
                labels: group.select.labels.clone(),
                zones: kwok.zones.clone(),
                boot: kwok.boot,
                stock: kwok.stock,
                boot_failures: kwok.boot_failures,
            })
        });
        groups.collect()
    }
}
