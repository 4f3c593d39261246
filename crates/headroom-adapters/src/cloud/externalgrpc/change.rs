//! What is asked of a provider.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use headroom_core::snapshot::InstanceState;

use super::error::{GROW, READ, REMOVE, SHRINK};
use super::link::Failed;
use super::protocol::provider;
use super::read::Limits;
use super::{Entry, ExternalGrpc, translate};
use crate::cloud::{CloudError, Stays};

/// A group right before a change.
struct Now {
    target: u32,
    limits: Limits,
    /// The machines that are there, those on their way out left out.
    here: BTreeSet<Box<str>>,
    /// Those.
    leaving: BTreeSet<Box<str>>,
}

impl ExternalGrpc {
    /// Sets the size of a group to `to`, if it is `from`.
    pub(super) async fn set_size(&self, entry: &Entry, from: u32, to: u32) -> Result<(), CloudError> {
        let _turn = entry.changing.lock().await;
        let group = entry.name();
        // The limits first, so that nothing comes between the size and the change.
        let Limits { min, max } = self.limits_of(entry).await?;
        let actual = self.target(entry).await?;
        if actual != from {
            return Err(CloudError::StaleSize { group, planned: from, actual });
        }
        if to == from {
            return Ok(());
        }
        if to < min || to > max {
            return Err(CloudError::OutsideLimits { group, wanted: to, min, max });
        }
        if to > from {
            self.grow(entry, to - from).await.map_err(|failed| failed.into_error(GROW, &group))
        } else {
            self.shrink(entry, from - to).await.map_err(|failed| failed.into_error(SHRINK, &group))
        }
    }

    /// Lets go of machines; with `replace`, others come in their place.
    pub(super) async fn let_go(
        &self,
        entry: &Entry,
        machines: &[&str],
        replace: bool,
    ) -> Result<Vec<Stays>, CloudError> {
        let _turn = entry.changing.lock().await;
        let now = self.now(entry).await?;
        let (mut going, mut stay) = (Vec::new(), Vec::new());
        for machine in machines.iter().copied().collect::<BTreeSet<_>>() {
            if now.here.contains(machine) {
                going.push(machine);
            } else if !now.leaving.contains(machine)
                && let Some(reason) = self.why_not_gone(entry, machine).await?
            {
                stay.push(Stays { machine: machine.to_owned(), reason });
            }
        }
        let Limits { min, max } = now.limits;
        let room = usize::try_from(now.target.saturating_sub(min)).unwrap_or(usize::MAX);
        if replace {
            stay.extend(self.exchange(entry, &going, &now).await?);
        } else {
            let held = going.split_off(room.min(going.len()));
            stay.extend(self.delete(entry, &going, now.target).await?);
            stay.extend(held.into_iter().map(|machine| {
                let wanted = min.saturating_sub(1);
                let reason = CloudError::OutsideLimits { group: entry.name(), wanted, min, max };
                Stays { machine: machine.to_owned(), reason }
            }));
        }
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        machines.iter().for_each(|machine| drop(nodes.remove(*machine)));
        Ok(stay)
    }

    /// Deletes machines and asks for as many. Where the minimum is in the way, others are asked for first.
    async fn exchange(&self, entry: &Entry, going: &[&str], now: &Now) -> Result<Vec<Stays>, CloudError> {
        let group = &*entry.name;
        let grow = async |by| match by {
            0 => Ok(()),
            by => self.grow(entry, by).await.map_err(|failed| failed.into_error(GROW, group)),
        };
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        let all = count(going.len());
        let grown = now.target.saturating_add(all);
        if now.target.saturating_sub(all) >= now.limits.min || grown > now.limits.max {
            let stay = self.delete(entry, going, now.target).await?;
            grow(all - count(stay.len())).await?;
            return Ok(stay);
        }
        grow(all).await?;
        let stay = self.delete(entry, going, grown).await?;
        if !stay.is_empty()
            && let Err(failed) = self.shrink(entry, count(stay.len())).await
        {
            // The next round sees a group that is larger than it need be.
            let error = failed.into_error(SHRINK, group);
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                group,
                error,
                "machines that were to be replaced stay, and so do those that were to come for them"
            );
        }
        Ok(stay)
    }

    /// Deletes machines of a group that has `target`. A batch that the provider refuses is tried one by one, so that one
    /// machine does not hold the others.
    async fn delete(&self, entry: &Entry, going: &[&str], target: u32) -> Result<Vec<Stays>, CloudError> {
        if going.is_empty() {
            return Ok(Vec::new());
        }
        let refused = match self.delete_nodes(entry, going).await {
            Ok(()) => return Ok(Vec::new()),
            Err(Failed::Refused(error)) => error,
            Err(failed) => return Err(failed.into_error(REMOVE, &entry.name)),
        };
        if let [only] = going {
            return Ok(vec![Stays { machine: (*only).to_owned(), reason: refused }]);
        }
        // Which of them went? A machine must not be deleted twice: that lowers the size twice.
        let now = self.now(entry).await?;
        let left: Vec<&str> = going.iter().copied().filter(|machine| now.here.contains(*machine)).collect();
        let certain =
            usize::try_from(target.saturating_sub(now.target)).is_ok_and(|fewer| fewer == going.len() - left.len());
        let mut stay = Vec::new();
        let mut reason = (!certain).then(|| refused.to_string());
        for machine in left {
            let error = match &reason {
                Some(reason) => entry.refused(reason),
                None => match self.delete_nodes(entry, &[machine]).await {
                    Ok(()) => continue,
                    Err(Failed::Refused(error)) => error,
                    Err(failed) => {
                        let error = failed.into_error(REMOVE, &entry.name);
                        reason = Some(format!("it was not tried after another failed: {error}"));
                        error
                    }
                },
            };
            stay.push(Stays { machine: machine.to_owned(), reason: error });
        }
        Ok(stay)
    }

    /// Why a machine that the provider does not list in the group is not simply gone.
    async fn why_not_gone(&self, entry: &Entry, machine: &str) -> Result<Option<CloudError>, CloudError> {
        let request = provider::NodeGroupForNodeRequest { node: Some(self.named(machine)) };
        let answer = self.link.call(READ, &entry.name, request, |mut client, request| async move {
            client.node_group_for_node(request).await
        });
        let of = match answer.await {
            Ok(answer) => answer.node_group.unwrap_or_default().id,
            // It does not know such a node.
            Err(Failed::Refused(_) | Failed::NotOffered) => return Ok(None),
            Err(Failed::Other(error)) => return Err(error),
        };
        Ok(if of.is_empty() {
            None
        } else if *of == *entry.id {
            Some(entry.refused("the provider counts it to the group and does not list it"))
        } else {
            Some(CloudError::NotInGroup { machine: machine.to_owned(), group: entry.name() })
        })
    }

    async fn now(&self, entry: &Entry) -> Result<Now, CloudError> {
        let limits = self.limits_of(entry).await?;
        let machines = self.machines(entry).await?;
        let target = self.target(entry).await?;
        let leaves = |state| state == InstanceState::Deleting;
        let (leaving, here): (Vec<_>, Vec<_>) =
            machines.into_iter().map(|(machine, _)| machine).partition(|machine| leaves(machine.state));
        let ids = |machines: Vec<headroom_core::snapshot::Instance>| {
            machines.into_iter().map(|machine| machine.provider_id).collect()
        };
        Ok(Now { target, limits, here: ids(here), leaving: ids(leaving) })
    }

    async fn limits_of(&self, entry: &Entry) -> Result<Limits, CloudError> {
        let known = self.limits().await?.get(&*entry.id).copied();
        known.ok_or_else(|| CloudError::NoSuchGroup { group: entry.name() })
    }

    async fn grow(&self, entry: &Entry, by: u32) -> Result<(), Failed> {
        let delta = i32::try_from(by).unwrap_or(i32::MAX);
        let request = provider::NodeGroupIncreaseSizeRequest { delta, id: entry.id.to_string() };
        let answer = self.link.call(GROW, &entry.name, request, |mut client, request| async move {
            client.node_group_increase_size(request).await
        });
        answer.await.map(drop)
    }

    async fn shrink(&self, entry: &Entry, by: u32) -> Result<(), Failed> {
        let delta = i32::try_from(by).map_or(i32::MIN, |by| -by);
        let request = provider::NodeGroupDecreaseTargetSizeRequest { delta, id: entry.id.to_string() };
        let answer = self.link.call(SHRINK, &entry.name, request, |mut client, request| async move {
            client.node_group_decrease_target_size(request).await
        });
        answer.await.map(drop)
    }

    async fn delete_nodes(&self, entry: &Entry, machines: &[&str]) -> Result<(), Failed> {
        let nodes = machines.iter().map(|machine| self.named(machine)).collect();
        let request = provider::NodeGroupDeleteNodesRequest { nodes, id: entry.id.to_string() };
        let answer = self.link.call(REMOVE, &entry.name, request, |mut client, request| async move {
            client.node_group_delete_nodes(request).await
        });
        answer.await.map(drop)
    }

    fn named(&self, machine: &str) -> provider::ExternalGrpcNode {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        translate::named(machine, nodes.get(machine).map(|node| &**node))
    }
}

impl Entry {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn refused(&self, reason: &str) -> CloudError {
        CloudError::Refused { verb: REMOVE.to_owned(), group: self.name(), reason: reason.to_owned() }
    }
}
