//! The groups that are offered, as their clouds told them last, and what is done to them.

use std::sync::Arc;
use std::time::Duration;

use headroom_core::policy::Group;
use headroom_core::snapshot::{CloudGroup, InstanceState, Labels, Template};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;
use tonic::Status;

use super::status;
use crate::cloud::Cloud;

/// How old an answer may be: a client asks for the size and the machines of every group, again and again.
const FRESH: Duration = Duration::from_secs(2);

/// A cloud and those of its groups that are offered.
pub struct Offer {
    /// The cloud.
    pub cloud: Arc<dyn Cloud>,
    /// Its groups, which go by their names. What is not said of them here is as the cloud says.
    pub groups: Vec<Group>,
}

pub(super) struct Offers {
    clouds: Vec<Told>,
    groups: Vec<Offered>,
}

/// A group and the cloud that has it.
pub(super) struct Offered {
    pub(super) group: Group,
    cloud: usize,
    changing: Mutex<()>,
}

struct Told {
    cloud: Arc<dyn Cloud>,
    last: Mutex<Option<Last>>,
}

/// What a cloud told last.
struct Last {
    groups: Vec<CloudGroup>,
    /// When; None if it is to be asked again, since something was done to it.
    at: Option<Instant>,
}

/// A group that nobody else changes meanwhile.
pub(super) struct Change<'o> {
    pub(super) group: CloudGroup,
    offered: &'o Offered,
    told: &'o Told,
    _turn: MutexGuard<'o, ()>,
}

impl Offers {
    pub(super) fn new(offers: Vec<Offer>) -> Self {
        let (mut clouds, mut groups) = (Vec::new(), Vec::new());
        for (cloud, offer) in offers.into_iter().enumerate() {
            clouds.push(Told { cloud: offer.cloud, last: Mutex::default() });
            groups.extend(offer.groups.into_iter().map(|group| Offered { group, cloud, changing: Mutex::default() }));
        }
        Offers { clouds, groups }
    }

    /// Every group, as its cloud tells it now.
    pub(super) async fn all(&self) -> Result<Vec<(&Offered, CloudGroup)>, Status> {
        let told = futures::future::try_join_all(self.clouds.iter().map(Told::groups)).await?;
        Ok(self.of(&told))
    }

    /// Every group, as its cloud told it last where it does not answer. Sizes and machines may have changed since, and which
    /// groups there are has not. And why a cloud does not answer.
    pub(super) async fn known(&self) -> (Vec<(&Offered, CloudGroup)>, Option<Status>) {
        let told = futures::future::join_all(self.clouds.iter().map(Told::known)).await;
        let (told, silent): (Vec<_>, Vec<_>) = told.into_iter().unzip();
        (self.of(&told), silent.into_iter().flatten().next())
    }

    fn of(&self, told: &[Vec<CloudGroup>]) -> Vec<(&Offered, CloudGroup)> {
        let group = |offered: &Offered| {
            let group = told.get(offered.cloud)?.iter().find(|group| group.name == offered.group.name)?;
            Some(group.clone())
        };
        self.groups.iter().filter_map(|offered| Some((offered, group(offered)?))).collect()
    }

    /// The group with this id.
    pub(super) fn named(&self, id: &str) -> Result<&Offered, Status> {
        let found = self.groups.iter().find(|offered| *offered.group.name == *id);
        found.ok_or_else(|| Status::not_found(format!("there is no node group {id:?}")))
    }

    /// The group with this id, as its cloud told it.
    pub(super) async fn one(&self, id: &str) -> Result<(&Offered, CloudGroup), Status> {
        let offered = self.named(id)?;
        let group = self.told(offered)?.groups().await?.into_iter().find(|group| group.name == offered.group.name);
        let group = group.ok_or_else(|| Status::not_found(format!("the cloud has no group for {id:?}")))?;
        Ok((offered, group))
    }

    /// The same, as it is right now, to be changed.
    pub(super) async fn change(&self, id: &str) -> Result<Change<'_>, Status> {
        let offered = self.named(id)?;
        let turn = offered.changing.lock().await;
        let told = self.told(offered)?;
        told.forget().await;
        let (_, group) = self.one(id).await?;
        Ok(Change { group, offered, told, _turn: turn })
    }

    /// Whatever is asked next, its cloud is asked.
    pub(super) async fn forget(&self) {
        for told in &self.clouds {
            told.forget().await;
        }
    }

    fn told(&self, offered: &Offered) -> Result<&Told, Status> {
        self.clouds.get(offered.cloud).ok_or_else(|| Status::internal("a group without a cloud"))
    }
}

impl Told {
    async fn groups(&self) -> Result<Vec<CloudGroup>, Status> {
        let mut last = self.last.lock().await;
        if let Some(Last { groups, at: Some(at) }) = &*last
            && at.elapsed() < FRESH
        {
            return Ok(groups.clone());
        }
        let groups = self.cloud.groups().await.map_err(|error| status::of(&error))?;
        *last = Some(Last { groups: groups.clone(), at: Some(Instant::now()) });
        Ok(groups)
    }

    /// The same, or what it told last, and why it does not tell it now.
    async fn known(&self) -> (Vec<CloudGroup>, Option<Status>) {
        match self.groups().await {
            Ok(groups) => (groups, None),
            Err(status) => {
                let last = self.last.lock().await;
                (last.as_ref().map(|last| last.groups.clone()).unwrap_or_default(), Some(status))
            }
        }
    }

    async fn forget(&self) {
        if let Some(last) = &mut *self.last.lock().await {
            last.at = None;
        }
    }
}

impl Offered {
    /// How many machines it may have.
    pub(super) fn limits(&self, group: &CloudGroup) -> (u32, u32) {
        let min = self.group.size.min.or(group.min).unwrap_or_default();
        let max = self.group.size.max.or(group.max).unwrap_or(i32::MAX.unsigned_abs());
        (min, max)
    }

    /// What a new machine is like, if anybody says so. What the configuration leaves out the cloud may know, and a node of
    /// the group carries the labels by which the group is told apart.
    pub(super) fn template(&self, group: &CloudGroup) -> Option<Template> {
        let from_cloud = group.template.as_ref();
        let template = self.group.template.as_ref().or(from_cloud)?;
        let labels = from_cloud.into_iter().chain([template]).map(|template| &template.labels);
        let labels = labels.chain([&self.group.select.labels]).flat_map(Labels::iter).collect();
        Some(Template { labels, ..template.clone() })
    }
}

impl Change<'_> {
    /// Sets the size, within the limits that were offered.
    pub(super) async fn resize(&self, to: u32) -> Result<(), Status> {
        let (_, max) = self.offered.limits(&self.group);
        if to > max {
            return Err(Status::out_of_range(format!("{} cannot have size {to}: {max} is the most", self.group.name)));
        }
        let done = self.told.cloud.resize(&self.group.name, self.group.target, to).await;
        self.told.forget().await;
        done.map_err(|error| status::of(&error))
    }

    /// Removes machines and lowers the size by as many.
    pub(super) async fn remove(&self, machines: &[&str]) -> Result<(), Status> {
        let stay = self.told.cloud.remove(&self.group.name, machines).await;
        self.told.forget().await;
        let stay = stay.map_err(|error| status::of(&error))?;
        if stay.is_empty() {
            return Ok(());
        }
        let reasons: Vec<String> = stay.iter().map(|stays| format!("{}: {}", stays.machine, stays.reason)).collect();
        Err(Status::failed_precondition(reasons.join("; ")))
    }

    /// Lowers the size by machines that were asked for and are not there: those that could not be made, then those that are
    /// being made. No machine that runs goes.
    pub(super) async fn withdraw(&self, by: u32) -> Result<(), Status> {
        let of = |state| self.group.instances.iter().flatten().filter(move |machine| machine.state == state);
        let coming = of(InstanceState::Failed).chain(of(InstanceState::Creating)).map(|machine| &*machine.provider_id);
        let coming: Vec<&str> = coming.collect();
        let running = of(InstanceState::Running).count();
        let listed = u32::try_from(coming.len() + running).unwrap_or(u32::MAX);
        // Machines that the cloud does not even list yet.
        let unlisted = self.group.target.saturating_sub(listed);
        let named = usize::try_from(by.saturating_sub(unlisted)).unwrap_or(usize::MAX);
        let Some(named) = coming.get(..named) else {
            let (name, target) = (&self.group.name, self.group.target);
            let to = target.saturating_sub(by);
            return Err(Status::failed_precondition(format!(
                "{name} cannot be made smaller than the {running} machines that run, from {target} to {to}"
            )));
        };
        let left = self.group.target.saturating_sub(by.min(unlisted));
        if left < self.group.target {
            let done = self.told.cloud.resize(&self.group.name, self.group.target, left).await;
            self.told.forget().await;
            done.map_err(|error| status::of(&error))?;
        }
        if named.is_empty() { Ok(()) } else { self.remove(named).await }
    }
}
