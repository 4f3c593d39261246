//! What a provider says of its groups.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use futures::stream::StreamExt as _;
use headroom_core::quantity::Money;
use headroom_core::snapshot::{CloudGroup, GroupOptions, Instance, LaunchFailure, Template};
use jiff::{SignedDuration, Timestamp};
use prost_types::Timestamp as WireTime;

use super::error::READ;
use super::link::Failed;
use super::options;
use super::protocol::provider;
use super::translate::{self, LaunchTrouble};
use super::{ESTIMATED, Entry, ExternalGrpc};
use crate::cloud::{CloudError, FoundGroup};

/// How many groups are read at once.
const AT_ONCE: usize = 8;

/// What is said of all groups.
const ALL: &str = "any group";

/// A size that is none.
#[derive(Debug, thiserror::Error)]
#[error("{what} is {size}")]
struct NoSize {
    what: &'static str,
    size: i32,
}

/// The least and the most machines of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) min: u32,
    pub(super) max: u32,
}

impl ExternalGrpc {
    /// Every node group that the provider has, by its id.
    pub async fn discover(&self) -> Result<Vec<FoundGroup>, CloudError> {
        self.refresh().await?;
        let known = self.limits().await?;
        Ok(known.into_keys().map(|id| FoundGroup { id: id.into(), ..FoundGroup::default() }).collect())
    }

    /// All groups as they are. One that the provider does not have is left out, and one that it tells nothing of that can be
    /// understood, if it does of others: these are not to be lost with it.
    pub(super) async fn read_all(&self) -> Result<Vec<CloudGroup>, CloudError> {
        self.refresh().await?;
        let known = &self.limits().await?;
        let there = self.entries.iter().filter_map(|entry| {
            let limits = known.get(&*entry.id).copied();
            if limits.is_none() {
                let (group, id) = (&entry.name, &entry.id);
                tracing::warn!(%group, %id, "the provider has no such node group; hint: it has {}", names(known));
            }
            Some((entry, limits?))
        });
        let there: Vec<_> = there.collect();
        let groups = there.iter().map(|(entry, limits)| self.read_one(entry, *limits));
        let answers: Vec<_> = futures::stream::iter(groups.collect::<Vec<_>>()).buffered(AT_ONCE).collect().await;
        let some = answers.iter().any(Result::is_ok);
        let told = there.iter().zip(answers).filter_map(|((entry, _), answer)| match answer {
            Err(error) if some && is_of_one_group(&error) => {
                let (group, error): (_, &dyn std::error::Error) = (&entry.name, &error);
                tracing::warn!(%group, error, "the provider does not tell of this group");
                None
            }
            answer => Some(answer),
        });
        told.collect()
    }

    /// The limits of all groups by their ids.
    pub(super) async fn limits(&self) -> Result<BTreeMap<String, Limits>, CloudError> {
        let request = provider::NodeGroupsRequest {};
        let answer =
            self.link.call(READ, ALL, request, |mut client, request| async move { client.node_groups(request).await });
        let groups = answer.await.map_err(|failed| failed.into_error(READ, ALL))?.node_groups;
        let limits = |group: provider::NodeGroup| {
            let min = size("the minimum", group.min_size)?;
            let max = size("the maximum", group.max_size)?;
            Ok((group.id, Limits { min, max }))
        };
        groups.into_iter().map(limits).collect()
    }

    /// How many machines the provider tries to have.
    pub(super) async fn target(&self, entry: &Entry) -> Result<u32, CloudError> {
        let group = &*entry.name;
        let request = provider::NodeGroupTargetSizeRequest { id: entry.id.to_string() };
        let answer = self.link.call(READ, group, request, |mut client, request| async move {
            client.node_group_target_size(request).await
        });
        size("the size", answer.await.map_err(|failed| failed.into_error(READ, group))?.target_size)
    }

    /// The machines, and what is wrong with those that could not be made.
    pub(super) async fn machines(&self, entry: &Entry) -> Result<Vec<(Instance, Option<LaunchTrouble>)>, CloudError> {
        let group = &*entry.name;
        let request = provider::NodeGroupNodesRequest { id: entry.id.to_string() };
        let answer = self
            .link
            .call(READ, group, request, |mut client, request| async move { client.node_group_nodes(request).await });
        let instances = answer.await.map_err(|failed| failed.into_error(READ, group))?.instances;
        // One without an id counts in the size, and there is nothing to call it by.
        Ok(instances.into_iter().filter(|told| !told.id.is_empty()).map(translate::instance).collect())
    }

    /// What a new machine is like.
    pub(super) async fn read_template(&self, entry: &Entry) -> Result<Option<Template>, CloudError> {
        let group = &*entry.name;
        let request = provider::NodeGroupTemplateNodeInfoRequest { id: entry.id.to_string() };
        let answer = self.link.call(READ, group, request, |mut client, request| async move {
            client.node_group_template_node_info(request).await
        });
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(Failed::NotOffered) => return Ok(None),
            Err(failed) => return Err(failed.into_error(READ, group)),
        };
        let bytes = if answer.node_bytes.is_empty() { answer.node_info } else { answer.node_bytes };
        if bytes.is_empty() {
            return Ok(None);
        }
        let template = translate::template(&bytes).map_err(|error| CloudError::NotUnderstood(Box::new(error)))?;
        Ok(Some(template))
    }

    async fn read_one(&self, entry: &Entry, limits: Limits) -> Result<CloudGroup, CloudError> {
        let template = async { Ok(self.read_template(entry).await) };
        let (target, machines, template, options) =
            tokio::try_join!(self.target(entry), self.machines(entry), template, self.options(entry))?;
        let template = match template {
            Ok(template) => template,
            Err(error @ (CloudError::NotUnderstood(_) | CloudError::Refused { .. })) => {
                let (group, error): (_, &dyn std::error::Error) = (&entry.name, &error);
                tracing::warn!(%group, error, "the provider does not say what a machine of this group is like");
                None
            }
            Err(error) => return Err(error),
        };
        let price = match &template {
            Some(template) => self.price(entry, template).await?,
            None => None,
        };
        let failure = entry.failure(&machines, Timestamp::now());
        Ok(CloudGroup {
            name: entry.name.clone(),
            target,
            min: Some(limits.min),
            max: Some(limits.max),
            instances: Some(machines.into_iter().map(|(instance, _)| instance).collect()),
            failure,
            template,
            price,
            options,
        })
    }

    /// How the provider wants the group to be treated. While it cannot say so, what it said last holds.
    async fn options(&self, entry: &Entry) -> Result<GroupOptions, CloudError> {
        let group = &*entry.name;
        let request =
            provider::NodeGroupAutoscalingOptionsRequest { id: entry.id.to_string(), defaults: Some(entry.treated) };
        let answer = self.link.call(READ, group, request, |mut client, request| async move {
            client.node_group_get_options(request).await
        });
        let answer = answer.await;
        let mut last = entry.options.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(answer) => {
                let told = answer.node_group_autoscaling_options;
                let (options, wrong) = told.map(|told| options::said(&entry.treated, &told)).unwrap_or_default();
                wrong.iter().for_each(|wrong| tracing::warn!(group, "{wrong}"));
                *last = options;
            }
            Err(Failed::NotOffered) => *last = GroupOptions::default(),
            Err(Failed::Refused(error)) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(group, error, "the provider does not say its options of this group");
            }
            Err(Failed::Other(error)) => return Err(error),
        }
        Ok(last.clone())
    }

    /// What one machine costs in an hour.
    async fn price(&self, entry: &Entry, template: &Template) -> Result<Option<Money>, CloudError> {
        if self.priceless.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let group = &*entry.name;
        let start = Timestamp::now();
        let end = start.saturating_add(SignedDuration::from_hours(1)).unwrap_or(start);
        let (start, end) = (Some(wire(start)), Some(wire(end)));
        let labels = template.labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        let node = provider::ExternalGrpcNode {
            name: translate::name_of(&entry.id),
            labels: labels.collect(),
            ..Default::default()
        };
        let request = provider::PricingNodePriceRequest {
            node: Some(node),
            start_time: start,
            end_time: end,
            start_timestamp: start,
            end_timestamp: end,
        };
        let answer = self.link.call(READ, group, request, |mut client, request| async move {
            let answer = client.pricing_node_price(request).await?;
            let is_estimated = answer.metadata().contains_key(ESTIMATED);
            Ok(answer.map(|answer| (answer, is_estimated)))
        });
        match answer.await {
            // This side estimates too, and on one scale with all its groups.
            Ok((_, true)) => Ok(None),
            Ok((answer, false)) => {
                let price = translate::dollars(answer.price);
                if price.is_none() {
                    tracing::warn!(group, price = answer.price, "what the provider says is no price");
                }
                Ok(price)
            }
            Err(Failed::NotOffered) => {
                self.priceless.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(Failed::Refused(_)) => Ok(None),
            Err(Failed::Other(error)) => Err(error),
        }
    }

    /// Lets the provider bring what it knows up to date, as Cluster Autoscaler does before each of its rounds.
    async fn refresh(&self) -> Result<(), CloudError> {
        let answer = self.link.call(READ, ALL, provider::RefreshRequest {}, |mut client, request| async move {
            client.refresh(request).await
        });
        match answer.await {
            Ok(_) | Err(Failed::NotOffered) => Ok(()),
            Err(failed) => Err(failed.into_error(READ, ALL)),
        }
    }
}

impl Entry {
    /// The youngest failure, and since when it has been told.
    fn failure(&self, machines: &[(Instance, Option<LaunchTrouble>)], now: Timestamp) -> Option<LaunchFailure> {
        let mut seen = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = machines.iter().filter_map(|(machine, trouble)| Some((&machine.provider_id, trouble.as_ref()?)));
        let failed: BTreeMap<_, _> = failed.collect();
        seen.retain(|id, _| failed.contains_key(id));
        for id in failed.keys() {
            seen.entry((*id).clone()).or_insert(now);
        }
        let (id, trouble) = failed.into_iter().max_by_key(|(id, _)| seen.get(*id))?;
        let LaunchTrouble { error, message } = trouble;
        Some(LaunchFailure { at: *seen.get(id)?, error: *error, message: message.as_str().into() })
    }
}

/// Whether it says nothing of other groups, nor of what comes of asking again.
fn is_of_one_group(error: &CloudError) -> bool {
    matches!(error, CloudError::Refused { .. } | CloudError::NoSuchGroup { .. } | CloudError::NotUnderstood(_))
}

fn size(what: &'static str, size: i32) -> Result<u32, CloudError> {
    u32::try_from(size).map_err(|_| CloudError::NotUnderstood(Box::new(NoSize { what, size })))
}

fn names(limits: &BTreeMap<String, Limits>) -> String {
    if limits.is_empty() { "none".to_owned() } else { limits.keys().cloned().collect::<Vec<_>>().join(", ") }
}

fn wire(time: Timestamp) -> WireTime {
    WireTime { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}
