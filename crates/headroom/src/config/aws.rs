//! The groups of AWS, as their adapter takes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_adapters::cloud::aws::{Account, AwsGroup, Fleet, FoundBy};
use headroom_core::pricing::CapacityType;

use super::{Aws, Cloud, Config};

impl Aws {
    /// The account and region that it is in.
    pub fn account(&self) -> Account {
        let region = self.region.as_deref().map(Box::from);
        let role = self.assume_role.as_deref().map(Box::from);
        Account { region, role, ..Account::default() }
    }

    /// The tags that say which Auto Scaling groups are meant.
    pub fn tags(&self) -> BTreeMap<Box<str>, Box<str>> {
        self.tags.iter().map(|(key, value)| (key.into(), value.into())).collect()
    }
}

impl Config {
    /// The groups whose machines are those of Auto Scaling groups, by the account and region that they are in.
    pub fn aws_groups(&self) -> BTreeMap<Account, Vec<AwsGroup>> {
        let mut accounts: BTreeMap<Account, Vec<AwsGroup>> = BTreeMap::new();
        for group in &self.policy.groups {
            let Some(Cloud::Aws(aws)) = self.clouds.get(&group.name) else { continue };
            let found_by = match &aws.auto_scaling_group {
                Some(name) => FoundBy::Name(Arc::clone(name)),
                None => FoundBy::Tags(aws.tags()),
            };
            let fleet = aws.fleet.as_ref().map(|fleet| Fleet {
                launch_template: (*fleet.launch_template).into(),
                version: (*fleet.version).into(),
                spot: fleet.capacity_type == CapacityType::Spot,
                instance_types: fleet.instance_types.iter().map(|kind| (**kind).into()).collect(),
                ready_timeout: fleet.ready_timeout.unsigned_abs(),
            });
            let name = Arc::clone(&group.name);
            accounts.entry(aws.account()).or_default().push(AwsGroup { name, found_by, fleet });
        }
        accounts
    }
}
