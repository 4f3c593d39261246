//! One node group as Escalator reads it: keys that it does not know are ignored, and what is left out is zero.

use std::collections::BTreeMap;

use super::options::{self, AWS, EscalatorOption, GROUP};
use crate::config::problem::{Problem, Problems};
use crate::config::suggest::nearest;
use crate::config::tree::{Content, Entries, Node, Place, Scalar, shorten};
use crate::migrate::yaml::as_boolean;

/// The values of a node group.
#[derive(Debug, Default)]
pub(super) struct NodeGroup {
    pub(super) name: String,
    pub(super) label_key: String,
    pub(super) label_value: String,
    pub(super) cloud_group: String,
    pub(super) min_nodes: i64,
    pub(super) max_nodes: i64,
    pub(super) dry_mode: bool,
    pub(super) scale_on_starve: bool,
    pub(super) upper: i64,
    pub(super) lower: i64,
    pub(super) scale_up: i64,
    pub(super) slow_rate: i64,
    pub(super) fast_rate: i64,
    pub(super) soft_grace: String,
    pub(super) hard_grace: String,
    pub(super) cool_down: String,
    pub(super) taint_effect: String,
    pub(super) max_node_age: String,
    pub(super) unhealthy_grace: String,
    pub(super) newest_percent: i64,
    pub(super) max_unhealthy_percent: i64,
    pub(super) failure_threshold: i64,
    /// How it gets machines by fleets, as far as it is said.
    pub(super) fleet: Fleet,
    /// What has no place in `headroom.yaml`.
    pub(super) gone: Vec<Gone>,
    /// The options that are set.
    pub(super) places: BTreeMap<&'static str, Place>,
    /// The options that could not be read, which has been reported.
    pub(super) failed: Vec<&'static str>,
    /// The group itself.
    place: Place,
}

/// What a group says of fleets under `aws`; empty where it says nothing.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    /// There are fleets only with one.
    pub(super) launch_template: String,
    pub(super) version: String,
    pub(super) lifecycle: String,
    pub(super) instance_types: Vec<String>,
    pub(super) ready_timeout: String,
}

/// Something that has no place in `headroom.yaml`: an option without a counterpart, or a key that is no option.
#[derive(Debug)]
pub(super) struct Gone {
    /// `key: value`.
    pub(super) what: String,
    /// What to say about it.
    pub(super) why: String,
    /// The option that was meant, if it looks like a misspelled one.
    pub(super) meant: Option<&'static str>,
    /// The key.
    pub(super) place: Place,
}

impl NodeGroup {
    /// Reads a group. What is of the wrong type is a problem, since Escalator does not start with it.
    pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Some(entries) = node.entries() else {
            let hint = "write a map with the options of one group";
            problems.add(Problem::at(node.place.clone(), format!("a node group cannot be {}", node.describe()), hint));
            return None;
        };
        let mut values = Values { entries, places: BTreeMap::new(), failed: Vec::new(), problems };
        let mut group = NodeGroup {
            name: values.text("name"),
            label_key: values.text("label_key"),
            label_value: values.text("label_value"),
            cloud_group: values.text("cloud_provider_group_name"),
            min_nodes: values.integer("min_nodes"),
            max_nodes: values.integer("max_nodes"),
            dry_mode: values.boolean("dry_mode"),
            scale_on_starve: values.boolean("scale_on_starve"),
            upper: values.integer("taint_upper_capacity_threshold_percent"),
            lower: values.integer("taint_lower_capacity_threshold_percent"),
            scale_up: values.integer("scale_up_threshold_percent"),
            slow_rate: values.integer("slow_node_removal_rate"),
            fast_rate: values.integer("fast_node_removal_rate"),
            soft_grace: values.text("soft_delete_grace_period"),
            hard_grace: values.text("hard_delete_grace_period"),
            cool_down: values.text("scale_up_cool_down_period"),
            taint_effect: values.text("taint_effect"),
            max_node_age: values.text("max_node_age"),
            unhealthy_grace: values.text("unhealthy_node_grace_period"),
            newest_percent: values.integer("health_check_newest_nodes_percent"),
            max_unhealthy_percent: values.integer("max_unhealthy_nodes_percent"),
            failure_threshold: values.integer("scale_up_failure_threshold"),
            fleet: Fleet::default(),
            gone: without_place("", GROUP, entries),
            places: values.places,
            failed: values.failed,
            place: node.place.clone(),
        };
        if let Some(aws) = entry(entries, "aws") {
            match aws.entries() {
                Some(aws) => {
                    group.gone.extend(without_place("aws.", AWS, aws));
                    let mut values = Values { entries: aws, places: BTreeMap::new(), failed: Vec::new(), problems };
                    group.fleet = values.fleet();
                    group.places.extend(values.places);
                    group.failed.extend(values.failed);
                }
                None if aws.is_null() => {}
                None => {
                    let message = format!("`aws` cannot be {}", aws.describe());
                    problems.add(Problem::at(aws.place.clone(), message, "write a map, or remove the key"));
                }
            }
        }
        Some(group)
    }

    /// Where `key` stands, or the group if it does not.
    pub(super) fn place(&self, key: &str) -> Place {
        self.places.get(key).unwrap_or(&self.place).clone()
    }

    /// Whether minimum and maximum come from the cloud.
    pub(super) fn discovers_size(&self) -> bool {
        self.min_nodes == 0 && self.max_nodes == 0
    }
}

/// What of `entries` has no place in `headroom.yaml`.
pub(super) fn without_place(prefix: &str, known: &'static [EscalatorOption], entries: &Entries) -> Vec<Gone> {
    let mut gone = Vec::new();
    for (key, entry) in entries {
        let option = options::find(known, key);
        if option.is_some_and(|option| option.becomes.is_some() || option.key == "aws") {
            continue;
        }
        let meant = match option {
            Some(_) => None,
            None => nearest(key, known.iter().map(|option| option.key)),
        };
        let why = match (option, meant) {
            (Some(option), _) => option.differs.to_owned(),
            (None, Some(meant)) => format!("no option of Escalator, which ignored it; was {meant} meant?"),
            (None, None) => "no option of Escalator, which ignored it".to_owned(),
        };
        let what = format!("{prefix}{}: {}", shorten(key), show(&entry.value));
        gone.push(Gone { what, why, meant, place: entry.key_place.clone() });
    }
    gone
}

/// A value in one line. Only a list of scalars is written out: aliases can nest lists beyond any size.
fn show(node: &Node) -> String {
    match &node.content {
        Content::Scalar(scalar) => shorten(&scalar.text),
        Content::List(items) => {
            let items = items.iter().map(|item| item.text().map_or_else(|| "…".to_owned(), shorten));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Content::Map(_) => "{…}".to_owned(),
        Content::Broken => String::new(),
    }
}

fn entry<'e>(entries: &'e Entries, key: &str) -> Option<&'e Node> {
    entries.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, entry)| &*entry.value)
}

/// Reads values by the rules of Escalator's decoder: YAML 1.1, turned into JSON, turned into the type of the option.
struct Values<'e, 'p> {
    entries: &'e Entries,
    places: BTreeMap<&'static str, Place>,
    failed: Vec<&'static str>,
    problems: &'p mut Problems,
}

impl<'e> Values<'e, '_> {
    fn fleet(&mut self) -> Fleet {
        Fleet {
            launch_template: self.text("launch_template_id"),
            version: self.text("launch_template_version"),
            lifecycle: self.text("lifecycle"),
            instance_types: self.texts("instance_type_overrides"),
            ready_timeout: self.text("fleet_instance_ready_timeout"),
        }
    }

    fn text(&mut self, key: &'static str) -> String {
        let Some(scalar) = self.scalar(key) else { return String::new() };
        self.as_text(key, scalar)
    }

    /// A list of texts, without those that are empty.
    fn texts(&mut self, key: &'static str) -> Vec<String> {
        let Some(node) = entry(self.entries, key).filter(|node| !node.is_null()) else { return Vec::new() };
        self.places.insert(key, node.place.clone());
        let Content::List(items) = &node.content else {
            self.problem(key, &format!("cannot be {}", node.describe()), "write a list");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items.iter().filter(|item| !item.is_null()) {
            match &item.content {
                Content::Scalar(scalar) => texts.push(self.as_text(key, scalar)),
                Content::List(_) | Content::Map(_) | Content::Broken => {
                    self.problem(key, &format!("cannot hold {}", item.describe()), "write a list of texts");
                    break;
                }
            }
        }
        texts.retain(|text| !text.is_empty());
        texts
    }

    fn as_text(&mut self, key: &'static str, scalar: &Scalar) -> String {
        if scalar.text.contains(char::is_control) {
            self.problem(key, "has line breaks or other control characters", "write it in one line");
        }
        if scalar.plain && changes_as_text(&scalar.text) {
            let hint = "put quotes around the text that you mean";
            self.problem(key, "has no quotes, so that Escalator reads it as a number or boolean", hint);
        }
        scalar.text.clone()
    }

    fn integer(&mut self, key: &'static str) -> i64 {
        let Some(scalar) = self.scalar(key) else { return 0 };
        let number = scalar.text.parse().ok().filter(|_| scalar.plain && is_plain_integer(&scalar.text));
        if number.is_none() {
            self.problem(key, "must be a whole number", "write digits only, without quotes");
        }
        number.unwrap_or(0)
    }

    fn boolean(&mut self, key: &'static str) -> bool {
        let Some(scalar) = self.scalar(key) else { return false };
        let value = as_boolean(&scalar.text).filter(|_| scalar.plain);
        if value.is_none() {
            self.problem(key, "must be true or false", "write true or false, without quotes");
        }
        value.unwrap_or(false)
    }

    /// The value of `key`, unless it is left out or null, which are the same to Escalator.
    fn scalar(&mut self, key: &'static str) -> Option<&'e Scalar> {
        let node = entry(self.entries, key).filter(|node| !node.is_null())?;
        self.places.insert(key, node.place.clone());
        match &node.content {
            Content::Scalar(scalar) => Some(scalar),
            Content::List(_) | Content::Map(_) | Content::Broken => {
                self.problem(key, &format!("cannot be {}", node.describe()), "write one value");
                None
            }
        }
    }

    fn problem(&mut self, key: &'static str, message: &str, hint: &str) {
        let place = self.places.get(key).cloned().unwrap_or_default();
        self.failed.push(key);
        self.problems.add(Problem::at(place, format!("`{key}` {message}"), hint));
    }
}

fn is_plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'))
}

/// Whether Escalator's decoder makes other text of it: `yes` becomes `true`, `1.10` becomes `1.1`.
fn changes_as_text(text: &str) -> bool {
    let boolean = as_boolean(text).is_some_and(|value| text != if value { "true" } else { "false" });
    let number = text.replace('_', "");
    let based = ["0x", "0o", "0b"].iter().any(|prefix| number.trim_start_matches(['-', '+']).starts_with(prefix));
    let numeric = number.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && (based || number.parse::<f64>().is_ok() || number.replace(':', "").parse::<u64>().is_ok());
    boolean || (numeric && !is_plain_integer(text))
}

#[cfg(test)]
mod tests {
    use super::changes_as_text;

    #[test]
    fn knows_which_text_does_not_stay_as_it_is() {
        for text in ["yes", "On", "NO", "True", "1.10", "007", "0x1F", "1_000", "1e3", "+5", ".5", "12:30", "-0b1"] {
            assert!(changes_as_text(text), "{text}");
        }
        for text in
            ["true", "false", "10m", "1h10m", "42", "-1", "0", "web", "node-1", "1.2.3", "a:b", "", "10.0.0.0/8"]
        {
            assert!(!changes_as_text(text), "{text}");
        }
    }
}
