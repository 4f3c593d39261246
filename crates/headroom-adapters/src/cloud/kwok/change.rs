//! What is done to a group: its state changes first, and only in the version that was read.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Mutex, MutexGuard, Notify, OnceCell, RwLock};

use super::api::Objects;
use super::error::KwokError;
use super::provider::{self, Provided};
use super::state::Group;
use super::{KwokGroup, Machines, object};
use crate::cloud::{CloudError, Stays};

/// How often a change is tried when somebody else changes the group at the same time.
const ATTEMPTS: u32 = 5;
/// How long a change waits for the one before.
const PATIENCE: Duration = Duration::from_secs(30);

/// All groups, for the calls and for the task that settles them.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) objects: Objects,
    pub(super) entries: Vec<Entry>,
    /// There may be something to settle.
    pub(super) work: Notify,
    /// No state is stored while all are read, so that they and the nodes are of one time.
    looking: RwLock<()>,
}

/// One group.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) spec: KwokGroup,
    /// One change at a time.
    pub(super) changing: Mutex<()>,
    /// What the provider's ConfigMaps say of it.
    provided: OnceCell<Provided>,
}

impl Shared {
    pub(super) fn new(client: kube::Client, namespace: &str, groups: Vec<KwokGroup>) -> Self {
        let entry = |spec| Entry { spec, changing: Mutex::new(()), provided: OnceCell::new() };
        Shared {
            objects: Objects::new(client, namespace),
            entries: groups.into_iter().map(entry).collect(),
            work: Notify::new(),
            looking: RwLock::new(()),
        }
    }

    pub(super) fn entry(&self, group: &str) -> Result<&Entry, CloudError> {
        let found = self.entries.iter().find(|entry| *entry.spec.name == *group);
        found.ok_or_else(|| CloudError::NoSuchGroup { group: group.to_owned() })
    }

    /// Every group as it is.
    pub(super) async fn look(&self) -> Result<Vec<Group<'_>>, CloudError> {
        let _all_at_once = self.looking.write().await;
        let specs = self.entries.iter().map(|entry| &entry.spec);
        self.objects.groups(specs).await.map_err(|error| error.of("any group"))
    }

    /// What a new machine of a group is like, and the limits of its size.
    pub(super) async fn machine(&self, Entry { spec, provided, .. }: &Entry) -> Result<Provided, KwokError> {
        let provided = match &spec.machines {
            Machines::Stated(template) => Provided { template: template.clone(), limits: None },
            Machines::Provider { config_map, node_group } => {
                let read = || provider::provided(&self.objects, config_map, node_group);
                provided.get_or_try_init(read).await?.clone()
            }
        };
        Ok(Provided { template: object::whole(spec, &provided.template), ..provided })
    }

    pub(super) async fn resize(&self, name: &str, from: u32, to: u32) -> Result<(), CloudError> {
        let entry = self.entry(name)?;
        let limits = self.machine(entry).await.map_err(|error| error.of(name))?.limits;
        let _turn = turn(entry).await?;
        let change = |group: &mut Group<'_>| {
            let actual = group.state.target;
            if actual != from {
                return Err(CloudError::StaleSize { group: name.to_owned(), planned: from, actual });
            }
            within(name, limits, to)?;
            group.resize(to, Timestamp::now());
            Ok(())
        };
        self.change(entry, change).await?;
        self.work.notify_one();
        Ok(())
    }

    /// Lets go of machines, in an order that can be broken off and begun again anywhere: the state says that they go, then
    /// they go.
    pub(super) async fn let_go(&self, name: &str, machines: &[&str], replace: bool) -> Result<Vec<Stays>, CloudError> {
        let entry = self.entry(name)?;
        let foreign = |machine: &str| Stays {
            machine: machine.to_owned(),
            reason: CloudError::NotInGroup { machine: machine.to_owned(), group: name.to_owned() },
        };
        let (mut named, mut stay) = (Vec::new(), Vec::new());
        for machine in machines {
            match object::name_in(machine) {
                Some(node) => named.push((*machine, node)),
                None => stay.push(foreign(machine)),
            }
        }
        // Machines can go whether or not anybody can tell what new ones are like.
        let limits = self.machine(entry).await.ok().and_then(|provided| provided.limits);
        let _turn = turn(entry).await?;
        let mut held = Vec::new();
        let change = |group: &mut Group<'_>| {
            held.clear();
            for (machine, node) in &named {
                if !group.has(node) {
                    continue;
                }
                let target = group.state.target;
                match limits {
                    Some((min, max)) if !replace && target <= min => {
                        let wanted = target.saturating_sub(1);
                        let reason = CloudError::OutsideLimits { group: name.to_owned(), wanted, min, max };
                        held.push(Stays { machine: (*machine).to_owned(), reason });
                    }
                    _ => {
                        group.let_go(node);
                        group.state.target = if replace { target } else { target.saturating_sub(1) };
                    }
                }
            }
            if replace {
                group.refill(Timestamp::now());
            }
            Ok(())
        };
        let group = self.change(entry, change).await?;
        let leaving: Vec<Box<str>> =
            named.iter().filter_map(|(_, node)| group.state.leaving.get(*node).cloned()).collect();
        self.objects.delete(leaving).await.map_err(|error| error.of(name))?;
        self.work.notify_one();
        for (machine, node) in named.iter().filter(|(_, node)| !group.nodes.contains_key(*node)) {
            if self.objects.has_node(node).await.map_err(|error| error.of(name))? {
                stay.push(foreign(machine));
            }
        }
        stay.extend(held);
        Ok(stay)
    }

    /// Stores the state of a group.
    pub(super) async fn store(&self, group: &mut Group<'_>) -> Result<(), KwokError> {
        let _between_looks = self.looking.read().await;
        self.objects.store(group).await
    }

    /// Changes a group as it is now. What it comes to is stored if it is another state.
    async fn change<'e>(
        &self,
        Entry { spec, .. }: &'e Entry,
        mut change: impl FnMut(&mut Group<'e>) -> Result<(), CloudError> + Send,
    ) -> Result<Group<'e>, CloudError> {
        let mut attempts = 0;
        loop {
            let mut group = self.objects.group(spec).await.map_err(|error| error.of(&spec.name))?;
            let before = group.state.clone();
            change(&mut group)?;
            if group.state == before {
                return Ok(group);
            }
            attempts += 1;
            match self.store(&mut group).await {
                Ok(()) => return Ok(group),
                Err(error) if error.is_conflict() && attempts < ATTEMPTS => {}
                Err(error) => return Err(error.of(&spec.name)),
            }
        }
    }
}

async fn turn(entry: &Entry) -> Result<MutexGuard<'_, ()>, CloudError> {
    let too_late = |_| CloudError::Timeout {
        seconds: PATIENCE.as_secs(),
        verb: "change".to_owned(),
        group: entry.spec.name.to_string(),
    };
    tokio::time::timeout(PATIENCE, entry.changing.lock()).await.map_err(too_late)
}

/// Whether a group may have this size.
fn within(group: &str, limits: Option<(u32, u32)>, wanted: u32) -> Result<(), CloudError> {
    match limits {
        Some((min, max)) if wanted < min || wanted > max => {
            Err(CloudError::OutsideLimits { group: group.to_owned(), wanted, min, max })
        }
        _ => Ok(()),
    }
}
