//! Which groups are preferred, for the expander `priority`.

use regex_lite::Regex;

use super::group::Draft;
use crate::config::kind::{Kind, list, numbered, pattern};
use crate::config::problem::{Problem, Problems};
use crate::config::tree::Place;

/// Patterns for names of groups, with their places, under the number of their priority. It is written as the `priorities`
/// of Cluster Autoscaler's ConfigMap are.
pub(super) type Priorities = Vec<(i64, Vec<(Place, Regex)>)>;

pub(super) fn kind() -> Kind<Priorities> {
    numbered(list(pattern().placed()).filled("write a regular expression: `[\"^spot-\"]`"))
}

/// The highest priority with a pattern that matches `name`.
pub(super) fn priority(priorities: &Priorities, name: &str) -> Option<i64> {
    let matching = priorities.iter().filter(|(_, patterns)| patterns.iter().any(|(_, pattern)| pattern.is_match(name)));
    matching.map(|(priority, _)| *priority).max()
}

/// Reports patterns that match no group: each is misspelt, or left over from a group that is gone. Only where all groups are
/// known can that be said.
pub(super) fn check(priorities: &Priorities, groups: &[Draft], problems: &mut Problems) {
    let names: Vec<&str> = groups.iter().filter_map(Draft::name).map(|name| &**name).collect();
    for (place, pattern) in priorities.iter().flat_map(|(_, patterns)| patterns) {
        if !names.iter().any(|name| pattern.is_match(name)) {
            let message = format!("no group has a name that `{pattern}` matches");
            let hint = format!("write part of a name; the groups are {}", names.join(", "));
            problems.add(Problem::at(place.clone(), message, hint));
        }
    }
}
