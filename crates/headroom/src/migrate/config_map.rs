//! Files in ConfigMaps.

use crate::config::tree::Node;

/// Whether it is a ConfigMap.
pub(super) fn is_config_map(node: &Node) -> bool {
    node.get("kind").and_then(Node::text) == Some("ConfigMap")
}

/// The first file, with its key, whose key and text are as `wanted`.
pub(super) fn embedded(config_map: &Node, wanted: impl Fn(&str, &str) -> bool) -> Option<(&str, &str)> {
    let files = config_map.get("data").and_then(Node::entries).into_iter().flatten();
    let mut texts = files.filter_map(|(key, entry)| Some((&**key, entry.value.text()?)));
    texts.find(|(key, text)| wanted(key, text))
}

/// The name of an object.
pub(super) fn name_of(object: &Node) -> Option<&str> {
    object.get("metadata")?.get("name")?.text()
}
