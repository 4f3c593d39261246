//! Kubernetes objects become the values of `headroom_core::snapshot`. No Kubernetes type leaves this module.
//!
//! What is written in a way that nobody understands is read in the way that lets a pod run in fewer places, and a
//! warning says so.

mod amounts;
mod any;
mod cluster;
mod constraints;
mod disruption;
mod node;
mod pod;
mod requests;
mod storage;
mod workload;

use headroom_core::quantity::QuantityError;
use headroom_core::snapshot::Labels;
use jiff::Timestamp;

use super::object::{Map, Metadata, Text};

pub use any::{Source, object};
pub use cluster::{daemon_set, namespace};
pub use disruption::disruption_budget;
pub use node::{attach_limits, node};
pub use pod::{Specs, like, pod};
pub(crate) use requests::requests;
pub use storage::{claim, storage_class, volume};
pub use workload::{capacity_buffer, pod_template, workload};

/// A translated object, and what of it may not be as it was meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Translated<T> {
    /// The object in Headroom's own values.
    pub value: T,
    /// What was read in another way than it was written.
    pub warnings: Vec<String>,
}

impl<T> Translated<T> {
    /// The same object in other values.
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Translated<U> {
        let Translated { value, warnings } = self;
        Translated { value: change(value), warnings }
    }
}

/// Why an object cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It has no name.
    #[error("it has no metadata.name")]
    NoName,
    /// Its name or namespace has a slash in it, so that nobody could say which object is meant.
    #[error("its name {namespace}/{name} has one slash too many")]
    Slash {
        /// `metadata.namespace`
        namespace: String,
        /// `metadata.name`
        name: String,
    },
    /// A quantity cannot be read.
    #[error("{place}: {resource}: {error}")]
    Quantity {
        /// The list that it stands in.
        place: String,
        /// Its resource.
        resource: String,
        /// What is wrong with it.
        error: QuantityError,
    },
    /// It is a custom resource whose kind is called like one that is meant.
    #[error("its kind is that of another group, {group}")]
    OtherGroup {
        /// The group.
        group: String,
    },
    /// A number of pods or a percentage is below zero.
    #[error("{field} {value} is below zero")]
    BelowZero {
        /// The field.
        field: &'static str,
        /// Its value.
        value: i64,
    },
}

/// The namespace of an object that has one; what leaves it out means `default`.
fn namespace_of<'a>(metadata: &'a Metadata<'_>) -> &'a str {
    if metadata.namespace.is_empty() { "default" } else { &metadata.namespace }
}

fn name_of<'a>(metadata: &'a Metadata<'_>) -> Result<&'a str, Malformed> {
    let Metadata { name, namespace, .. } = metadata;
    if name.is_empty() {
        Err(Malformed::NoName)
    } else if name.contains('/') || namespace.contains('/') {
        Err(Malformed::Slash { namespace: namespace.to_string(), name: name.to_string() })
    } else {
        Ok(name)
    }
}

fn labels(map: &Map<'_, Text<'_>>) -> Labels {
    map.iter().map(|(key, value)| (key, &**value)).collect()
}

fn text(text: Option<&Text<'_>>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty()).map(|text| Box::from(&**text))
}

fn texts(list: &[Text<'_>]) -> Vec<Box<str>> {
    list.iter().map(|text| Box::from(&**text)).collect()
}

fn timestamp(text: Option<&Text<'_>>, field: &str, warnings: &mut Vec<String>) -> Option<Timestamp> {
    let text = text.filter(|text| !text.is_empty())?;
    let parsed = text.parse();
    if parsed.is_err() {
        warnings.push(format!("{field} {:?} is no time and counts as unknown", &**text));
    }
    parsed.ok()
}
