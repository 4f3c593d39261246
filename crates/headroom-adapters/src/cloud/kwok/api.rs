//! The calls to the API server, each with a deadline.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use headroom_core::snapshot::Template;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};

use super::error::KwokError;
use super::state::{Group, Machine, Seen};
use super::{KwokGroup, object};

/// How long one call may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// How many nodes are made or deleted at once. The API server's own limit for one client is several times that.
const AT_ONCE: usize = 32;
/// How many objects one page of a list has.
const PAGE: u32 = 1000;

/// The part of the API server that the cloud uses.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    config_maps: Api<ConfigMap>,
    nodes: Api<Node>,
}

/// What became of an attempt to make a node.
pub(super) enum Made {
    /// It is there.
    Node,
    /// The API server will never take it, or another node has its name.
    Refused(String),
}

impl Objects {
    pub(super) fn new(client: kube::Client, namespace: &str) -> Self {
        Objects { config_maps: Api::namespaced(client.clone(), namespace), nodes: Api::all(client) }
    }

    /// Every group as it is.
    pub(super) async fn groups<'a>(
        &self,
        specs: impl Iterator<Item = &'a KwokGroup>,
    ) -> Result<Vec<Group<'a>>, KwokError> {
        let selected = ListParams::default().labels(object::GROUP).limit(PAGE);
        let mut stored = BTreeMap::new();
        for config_map in self.config_maps_with(&selected).await? {
            if let Some((group, state)) = object::stored(&config_map)? {
                stored.insert(group.to_owned(), state);
            }
        }
        let mut nodes: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
        for (group, node) in self.nodes_with(&selected).await? {
            nodes.entry(group).or_default().push(node);
        }
        let group = |spec: &'a KwokGroup| {
            let nodes = nodes.remove(&*spec.name).unwrap_or_default();
            Group::new(spec, stored.remove(&*spec.name), nodes)
        };
        Ok(specs.map(group).collect())
    }

    /// One group as it is.
    pub(super) async fn group<'a>(&self, spec: &'a KwokGroup) -> Result<Group<'a>, KwokError> {
        let name = object::config_map_name(&spec.name);
        let found = in_time("get", &name, self.config_maps.get_opt(&name)).await?;
        let stored = found.as_ref().map(object::stored).transpose()?.flatten().map(|(_, stored)| stored);
        let selected = ListParams::default().labels(&format!("{}={}", object::GROUP, spec.name)).limit(PAGE);
        let nodes = self.nodes_with(&selected).await?;
        Ok(Group::new(spec, stored, nodes.into_iter().map(|(_, node)| node)))
    }

    /// Stores the state of a group, unless somebody has stored another since it was read.
    pub(super) async fn store(&self, group: &mut Group<'_>) -> Result<(), KwokError> {
        let config_map = object::config_map(group)?;
        let (name, params) = (object::config_map_name(&group.spec.name), PostParams::default());
        let stored = match &group.version {
            None => in_time("create", &name, self.config_maps.create(&params, &config_map)).await?,
            Some(_) => in_time("update", &name, self.config_maps.replace(&name, &params, &config_map)).await?,
        };
        group.version = stored.metadata.resource_version;
        Ok(())
    }

    /// Makes nodes of these machines, and hands what became of each to `note`. What could not be tried is tried again
    /// later; its error is returned.
    pub(super) async fn make(
        &self,
        machines: Vec<Machine>,
        template: &Template,
        mut note: impl FnMut(Box<str>, Made) + Send,
    ) -> Result<(), KwokError> {
        let attempts = machines.into_iter().map(|machine| async move {
            let made = self.make_one(&machine, template).await;
            (machine.name, made)
        });
        let mut failed = Ok(());
        let mut attempts = stream::iter(attempts).buffer_unordered(AT_ONCE);
        while let Some((name, made)) = attempts.next().await {
            match made {
                Ok(made) => note(name, made),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    /// Deletes these nodes. One that is gone already is no error.
    pub(super) async fn delete(&self, names: Vec<Box<str>>) -> Result<(), KwokError> {
        let attempts = names.into_iter().map(|name| async move {
            let params = DeleteParams::default();
            match in_time("delete", &name, self.nodes.delete(&name, &params)).await {
                Err(error) if error.is_not_found() => Ok(()),
                other => other.map(drop),
            }
        });
        let results: Vec<_> = stream::iter(attempts).buffer_unordered(AT_ONCE).collect().await;
        results.into_iter().collect()
    }

    /// Whether there is a node of this name.
    pub(super) async fn has_node(&self, name: &str) -> Result<bool, KwokError> {
        Ok(in_time("get", name, self.nodes.get_metadata_opt(name)).await?.is_some())
    }

    /// A ConfigMap.
    pub(super) async fn config_map(&self, name: &str) -> Result<Option<ConfigMap>, KwokError> {
        in_time("get", name, self.config_maps.get_opt(name)).await
    }

    /// All nodes, whole.
    pub(super) async fn all_nodes(&self) -> Result<Vec<Node>, KwokError> {
        Ok(in_time("list", "nodes", self.nodes.list(&ListParams::default())).await?.items)
    }

    async fn make_one(&self, machine: &Machine, template: &Template) -> Result<Made, KwokError> {
        let node = object::node(machine, template);
        match in_time("create", &machine.name, self.nodes.create(&PostParams::default(), &node)).await {
            Ok(_) => Ok(Made::Node),
            Err(error) if error.is_conflict() => {
                // It was made before, unless the name is somebody else's.
                let found = in_time("get", &machine.name, self.nodes.get_metadata_opt(&machine.name)).await?;
                let own = |metadata: &ObjectMeta| {
                    let group = node.metadata.labels.as_ref().and_then(|labels| labels.get(object::GROUP));
                    object::seen(metadata).is_some_and(|(of, _)| Some(of) == group.map(String::as_str))
                };
                Ok(match found {
                    Some(found) if !own(&found.metadata) => Made::Refused(error.answer()),
                    _ => Made::Node,
                })
            }
            Err(error) if error.is_refusal() => Ok(Made::Refused(error.answer())),
            Err(error) => Err(error),
        }
    }

    async fn config_maps_with(&self, params: &ListParams) -> Result<Vec<ConfigMap>, KwokError> {
        let mut all = Vec::new();
        let mut params = params.clone();
        loop {
            let page = in_time("list", "configmaps", self.config_maps.list(&params)).await?;
            all.extend(page.items);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params.continue_token = Some(token),
                None => return Ok(all),
            }
        }
    }

    /// The nodes that kwok pretends to be, with the names of their groups.
    async fn nodes_with(&self, params: &ListParams) -> Result<Vec<(String, Seen)>, KwokError> {
        let mut all = Vec::new();
        let mut params = params.clone();
        loop {
            let page = in_time("list", "nodes", self.nodes.list_metadata(&params)).await?;
            let seen = page.items.iter().filter_map(|node| object::seen(&node.metadata));
            all.extend(seen.map(|(group, node)| (group.to_owned(), node)));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params.continue_token = Some(token),
                None => return Ok(all),
            }
        }
    }
}

async fn in_time<T>(
    verb: &'static str,
    object: &str,
    call: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, KwokError> {
    match tokio::time::timeout(DEADLINE, call).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(source)) => Err(KwokError::Call { verb, object: object.to_owned(), source: Box::new(source) }),
        Err(_) => Err(KwokError::Timeout { verb, object: object.to_owned(), seconds: DEADLINE.as_secs() }),
    }
}
