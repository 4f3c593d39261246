//! What servers are called whose names are IDs: by the name that people gave them, and by as much of the ID as Nomad's own
//! commands show and take, `c1@26ea97df`. Allocations are called that way too.

use headroom_core::snapshot::{Node, NodeView, Snapshot};

/// What is shown of an ID.
const SHORT: usize = 8;

/// What people call a node.
pub(super) fn title(node: &Node) -> String {
    match &node.title {
        Some(title) => format!("{title}@{}", node.name.get(..SHORT).unwrap_or(&node.name)),
        None => node.name.to_string(),
    }
}

/// The node that is meant: the one of this name, or else the only one that is called so or whose ID begins so.
pub(super) fn meant<'s>(snapshot: &'s Snapshot, name: &str) -> Option<NodeView<'s>> {
    if let Some(view) = snapshot.node(name) {
        return Some(view);
    }
    let is_called = |node: &Node| {
        let Some(own) = &node.title else { return false };
        **own == *name || title(node) == name || name.len() >= SHORT && node.name.starts_with(name)
    };
    let mut all = snapshot.nodes().filter(|view| is_called(view.node));
    all.next().filter(|_| all.next().is_none())
}

/// The text with each node called as people call it.
pub(crate) fn called(snapshot: &Snapshot, text: &str) -> String {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut named = String::with_capacity(text.len());
    for word in text.split_inclusive(|c| !is_of_id(c)) {
        let (id, rest) = word.split_at(word.trim_end_matches(|c| !is_of_id(c)).len());
        match snapshot.node(id).filter(|_| !id.is_empty()) {
            Some(view) => named += &title(view.node),
            None => named += id,
        }
        named += rest;
    }
    named
}

#[cfg(test)]
mod tests {
    use headroom_core::snapshot::{Builder, Change};

    use super::*;

    fn snapshot(nodes: &[(&str, Option<&str>)]) -> Snapshot {
        let mut builder = Builder::new();
        for (name, title) in nodes {
            let title = title.map(Box::from);
            builder.apply(Change::Node(Box::new(Node { name: (*name).into(), title, ..Node::default() })));
        }
        builder.snapshot().clone()
    }

    #[test]
    fn nodes_are_called_by_name_and_found_by_it() {
        let (one, two) = ("26ea97df-9000-c214-70c6-2af52121d38e", "7b016138-a03b-66e5-a6e6-7dace939e314");
        let known = snapshot(&[(one, Some("c1")), (two, Some("c2")), ("plain", None)]);
        let text = called(&known, &format!("make {one} ineligible; ({two}), plain, x-{one}\n"));
        assert_eq!(text, format!("make c1@26ea97df ineligible; (c2@7b016138), plain, x-{one}\n"));
        for name in [one, "c1", "c1@26ea97df", "26ea97df", "26ea97df-9000"] {
            assert_eq!(meant(&known, name).map(|view| &*view.node.name), Some(one), "{name}");
        }
        assert!(meant(&known, "26ea97").is_none() && meant(&known, "c3").is_none());
        // Two are called the same.
        let known = snapshot(&[(one, Some("c1")), (two, Some("c1"))]);
        assert!(meant(&known, "c1").is_none());
        assert_eq!(meant(&known, "c1@7b016138").map(|view| &*view.node.name), Some(two));
    }
}
