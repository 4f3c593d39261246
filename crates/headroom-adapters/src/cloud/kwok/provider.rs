//! Groups as Cluster Autoscaler's kwok provider describes them: a ConfigMap with its settings, and one with nodes to go by.

use std::collections::BTreeSet;

use headroom_core::snapshot::{Effect, Taint, Template};
use k8s_openapi::api::core::v1::ConfigMap;
use serde::Deserialize;
use serde_json::Value;

use super::api::Objects;
use super::error::KwokError;
use crate::cluster::kubernetes::object;
use crate::cluster::kubernetes::translate::{self, Malformed};

const SETTINGS: &str = "config";
const TEMPLATES: &str = "templates";
/// Annotations of a node to go by.
const NAME: &str = "cluster-autoscaler.kwok.nodegroup/name";
const MIN: &str = "cluster-autoscaler.kwok.nodegroup/min-count";
const MAX: &str = "cluster-autoscaler.kwok.nodegroup/max-count";
/// The limits of a group whose node says nothing of them, as Cluster Autoscaler has them.
const LIMITS: (u32, u32) = (0, 200);

/// What such a description says of one group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Provided {
    pub(super) template: Template,
    /// The least and the most machines.
    pub(super) limits: Option<(u32, u32)>,
}

/// Why a group is not described, or not in a way that can be understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProviderError {
    #[error("there is no ConfigMap {0}; hint: write a `template` for the group, or make it in Headroom's namespace")]
    NoConfigMap(String),
    #[error("ConfigMap {config_map} has no key {key}")]
    NoKey { config_map: String, key: &'static str },
    #[error("{key} of ConfigMap {config_map} cannot be read")]
    Yaml { config_map: String, key: &'static str, source: Box<serde_saphyr::Error> },
    #[error("readNodesFrom is {0:?}; hint: write configmap or cluster")]
    ReadNodesFrom(String),
    #[error("configmap.name is missing; hint: name the ConfigMap that has the templates")]
    NoTemplates,
    #[error("one of nodegroups.fromNodeLabelKey and nodegroups.fromNodeAnnotation is needed, and not both")]
    Grouping,
    #[error("no template is of node group {wanted}; hint: these are there: {}", found.join(", "))]
    NoGroup { wanted: String, found: Vec<String> },
    #[error("the template {node} cannot be understood")]
    Node { node: String, source: Box<Malformed> },
    #[error("the template {node} is no node")]
    NoNode { node: String, source: serde_json::Error },
    #[error("{annotation} of the template {node} is {value:?}; hint: write a number, the minimum at most the maximum")]
    Count { node: String, annotation: &'static str, value: String },
}

/// What ConfigMap `config_map` says of `node_group`.
pub(super) async fn provided(objects: &Objects, config_map: &str, node_group: &str) -> Result<Provided, KwokError> {
    let settings = Settings::read(&load(objects, config_map).await?, config_map)?;
    let nodes = match &*settings.read_nodes_from {
        "configmap" => {
            let name = settings.configmap.name.trim();
            if name.is_empty() {
                return Err(ProviderError::NoTemplates.into());
            }
            templates(&load(objects, name).await?, name)?
        }
        "cluster" => {
            let nodes = objects.all_nodes().await?.into_iter();
            nodes.filter_map(|node| serde_json::to_value(node).ok()).collect()
        }
        other => return Err(ProviderError::ReadNodesFrom(other.to_owned()).into()),
    };
    Ok(settings.group(&nodes, node_group)?)
}

async fn load(objects: &Objects, name: &str) -> Result<ConfigMap, KwokError> {
    let found = objects.config_map(name).await?;
    found.ok_or_else(|| ProviderError::NoConfigMap(name.to_owned()).into())
}

/// The settings, as far as they mean something here: GPUs are known by their resources.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Settings {
    read_nodes_from: String,
    nodegroups: Grouping,
    nodes: NodeSettings,
    configmap: Named,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Grouping {
    from_node_label_key: String,
    /// The documentation leaves `Key` out.
    #[serde(alias = "fromNodeAnnotation")]
    from_node_annotation_key: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeSettings {
    skip_taint: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

impl Settings {
    fn read(config_map: &ConfigMap, name: &str) -> Result<Self, ProviderError> {
        let text = value(config_map, name, SETTINGS)?;
        let wrong =
            |source| ProviderError::Yaml { config_map: name.to_owned(), key: SETTINGS, source: Box::new(source) };
        serde_saphyr::from_str(text).map_err(wrong)
    }

    /// The group of this name. Its first node counts.
    fn group(&self, nodes: &[Value], wanted: &str) -> Result<Provided, ProviderError> {
        let (list, key) =
            match (self.nodegroups.from_node_label_key.trim(), self.nodegroups.from_node_annotation_key.trim()) {
                (label, "") if !label.is_empty() => ("labels", label),
                ("", annotation) if !annotation.is_empty() => ("annotations", annotation),
                _ => return Err(ProviderError::Grouping),
            };
        let mut found = BTreeSet::new();
        for node in nodes {
            let Some(value) = meta(node, list, key).filter(|value| !value.is_empty()) else { continue };
            let name = meta(node, "annotations", NAME).filter(|name| !name.is_empty());
            if value == wanted || name == Some(wanted) {
                return self.provided(node);
            }
            found.insert(name.unwrap_or(value).to_owned());
        }
        Err(ProviderError::NoGroup { wanted: wanted.to_owned(), found: found.into_iter().collect() })
    }

    fn provided(&self, node: &Value) -> Result<Provided, ProviderError> {
        let name = node.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let no_node = |source| ProviderError::NoNode { node: name.clone(), source };
        let object = object::Node::deserialize(node).map_err(no_node)?;
        let wrong = |source| ProviderError::Node { node: name.clone(), source: Box::new(source) };
        let translated = translate::node(&object).map_err(wrong)?.value;
        let mut taints = translated.taints;
        if !self.nodes.skip_taint {
            let (key, value) = ("kwok-provider".into(), "true".into());
            taints.push(Taint { key, value, effect: Effect::NoSchedule });
        }
        let count = |annotation, default| match meta(node, "annotations", annotation) {
            None | Some("") => Ok(default),
            Some(value) => value.parse::<u32>().map_err(|_| wrong_count(&name, annotation, value)),
        };
        let (min, max) = (count(MIN, LIMITS.0)?, count(MAX, LIMITS.1)?);
        if min > max {
            return Err(wrong_count(&name, MIN, &min.to_string()));
        }
        let (allocatable, capacity) = (translated.allocatable, translated.capacity);
        let template = Template { allocatable, capacity, labels: translated.labels, taints };
        Ok(Provided { template, limits: Some((min, max)) })
    }
}

fn wrong_count(node: &str, annotation: &'static str, value: &str) -> ProviderError {
    ProviderError::Count { node: node.to_owned(), annotation, value: value.to_owned() }
}

/// The nodes of a ConfigMap: a list, or a document for each.
fn templates(config_map: &ConfigMap, name: &str) -> Result<Vec<Value>, ProviderError> {
    let text = value(config_map, name, TEMPLATES)?;
    let wrong = |source| ProviderError::Yaml { config_map: name.to_owned(), key: TEMPLATES, source: Box::new(source) };
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(wrong)?;
    let objects = documents.into_iter().flat_map(|mut document| match document.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => vec![document],
    });
    Ok(objects.filter(|object| object.get("kind").and_then(Value::as_str) == Some("Node")).collect())
}

fn value<'c>(config_map: &'c ConfigMap, name: &str, key: &'static str) -> Result<&'c str, ProviderError> {
    let found = config_map.data.as_ref().and_then(|data| data.get(key)).filter(|text| !text.trim().is_empty());
    found.map(String::as_str).ok_or_else(|| ProviderError::NoKey { config_map: name.to_owned(), key })
}

/// A label or annotation of an object.
fn meta<'v>(object: &'v Value, list: &str, key: &str) -> Option<&'v str> {
    object.get("metadata")?.get(list)?.get(key)?.as_str()
}
