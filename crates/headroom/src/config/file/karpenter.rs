//! Prices in the file of instance types that Karpenter's kwok provider reads (`--instance-types-file-path`).
//!
//! It is a list of `{ name, offerings: [...] }`. An offering has a `Price` and says where it holds: by `Requirements` with
//! the operator In on the labels of zone and capacity type, or in older files by `Zone` and `CapacityType`. Go reads keys
//! in any case, and so are they here. Whatever else is there means nothing for prices.

use std::rc::Rc;

use headroom_core::pricing::{CapacityType, PriceEntry};

use super::machine_price::capacity_type;
use crate::config::kind::{Kind, dollars, text, unexpected};
use crate::config::problem::{Problem, Problems};
use crate::config::tree::{Content, Entry, Node};

const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// Whether this is an instance type of such a file.
pub(super) fn is_instance_type(node: &Node) -> bool {
    get(node, "offerings").is_some()
}

/// The prices of these instance types. What cannot be read is left out.
pub(super) fn prices(instance_types: &[Rc<Node>], problems: &mut Problems) -> Vec<PriceEntry> {
    let mut entries = Vec::new();
    for instance_type in instance_types {
        let name = required(instance_type, "name", &text::<Box<str>>(), problems);
        let offerings = required_list(instance_type, "offerings", problems);
        for offering in offerings.into_iter().flatten() {
            let price = required(offering, "price", &dollars(), problems);
            let places = places(offering, problems);
            let (Some(name), Some(price)) = (&name, price) else { continue };
            entries.extend(places.into_iter().map(|(zone, capacity_type)| {
                let instance_type = name.clone();
                PriceEntry { instance_type, zone, capacity_type, price }
            }));
        }
    }
    entries
}

/// Where and on which terms an offering holds: every zone that it names with every capacity type.
fn places(offering: &Node, problems: &mut Problems) -> Vec<(Option<Box<str>>, Option<CapacityType>)> {
    let mut zones = values(offering, "zone", ZONE, &text::<Box<str>>(), problems);
    let mut capacity_types = values(offering, "capacityType", CAPACITY_TYPE, &capacity_type(), problems);
    if zones.is_empty() {
        zones.push(None);
    }
    if capacity_types.is_empty() {
        capacity_types.push(None);
    }
    let pairs = zones.iter().flat_map(|zone| capacity_types.iter().map(move |terms| (zone.clone(), *terms)));
    pairs.collect()
}

/// What an offering says of one label: under a key of its own, or in a requirement.
fn values<V: 'static>(
    offering: &Node,
    key: &str,
    label: &str,
    kind: &Kind<V>,
    problems: &mut Problems,
) -> Vec<Option<V>> {
    if let Some(entry) = get(offering, key) {
        return (kind.read)(&entry.value, problems).map(Some).into_iter().collect();
    }
    let Some(Content::List(requirements)) = get(offering, "requirements").map(|entry| &entry.value.content) else {
        return Vec::new();
    };
    let of_label = |node: &&Rc<Node>| get(node, "key").and_then(|entry| entry.value.text()) == Some(label);
    let Some(requirement) = requirements.iter().find(of_label) else { return Vec::new() };
    if let Some(operator) = get(requirement, "operator")
        && operator.value.text() != Some("In")
    {
        let message = format!("an offering names {label} with the operator `In`, found {}", operator.value.describe());
        problems.add(Problem::at(operator.value.place.clone(), message, "write `In` and the values one by one"));
        return Vec::new();
    }
    let values = required_list(requirement, "values", problems).into_iter().flatten();
    values.filter_map(|value| (kind.read)(value, problems).map(Some)).collect()
}

fn required<V: 'static>(node: &Node, key: &str, kind: &Kind<V>, problems: &mut Problems) -> Option<V> {
    match get(node, key) {
        Some(entry) => (kind.read)(&entry.value, problems),
        None => missing(node, key, &kind.shape.expected(), problems),
    }
}

fn required_list<'n>(node: &'n Node, key: &str, problems: &mut Problems) -> Option<&'n Vec<Rc<Node>>> {
    match get(node, key).map(|entry| &*entry.value) {
        Some(Node { content: Content::List(items), .. }) => Some(items),
        Some(other) => unexpected("a list", other, "write what Karpenter's kwok provider reads", problems),
        None => missing(node, key, "a list", problems),
    }
}

fn missing<V>(node: &Node, key: &str, expected: &str, problems: &mut Problems) -> Option<V> {
    let hint = format!("add `{key}` with {expected}");
    problems.add(Problem::at(node.place.clone(), format!("`{key}` is missing"), hint));
    None
}

/// The value of a key in any case, as Go's JSON reader takes it.
fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Entry> {
    node.entries()?.iter().find(|(found, _)| found.eq_ignore_ascii_case(key)).map(|(_, entry)| entry)
}
