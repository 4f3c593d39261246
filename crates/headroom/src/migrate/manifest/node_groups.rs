//! The ConfigMap with Escalator's node groups.

use super::container::Found;
use crate::config::problem::{Problem, Problems};
use crate::config::tree::Node;
use crate::migrate::config_map::{embedded, is_config_map, name_of};

/// The name of the ConfigMap, the key of the file in it, and its text.
type Groups<'n> = (&'n str, &'n str, &'n str);

/// The file that `--nodegroups` names, by its path in the container. A ConfigMap that is mounted counts more than others.
pub(super) fn find<'n>(
    objects: &[&'n Node],
    found: &Found<'_>,
    path: Option<&str>,
    problems: &mut Problems,
) -> Option<Groups<'n>> {
    let file = path.and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let config_maps = || objects.iter().filter(|object| is_config_map(object));
    let with = |wanted: &dyn Fn(&str, &str) -> bool| -> Vec<Groups<'n>> {
        let named = config_maps().filter_map(|object| Some((name_of(object)?, embedded(object, wanted)?)));
        named.map(|(name, (key, text))| (name, key, text)).collect()
    };
    let mut groups = with(&|key, _| key == file);
    if groups.is_empty() {
        groups = with(&|_, text| text.contains("node_groups"));
    }
    let mounted = found.mounted();
    if groups.len() > 1 && groups.iter().any(|(name, ..)| mounted.contains(name)) {
        groups.retain(|(name, ..)| mounted.contains(name));
    }
    match *groups {
        [groups] => return Some(groups),
        [] => {
            let message = "there is no ConfigMap with the node groups of this Escalator";
            let hint = "add it to the file, or give the node groups: `headroom migrate escalator nodegroups.yaml`";
            problems.add(Problem::at(found.place(), message, hint));
        }
        [(first, ..), (second, ..), ..] => {
            let message =
                format!("the ConfigMaps {first} and {second} both could have the node groups of this Escalator");
            problems.add(Problem::at(found.place(), message, "keep one of them in the file"));
        }
    }
    None
}
