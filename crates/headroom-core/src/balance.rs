//! Sharing new nodes out among similar groups, so that they stay of one size: usually one group in each zone.

mod similar;

use std::sync::Arc;

use serde::Serialize;

pub use similar::{Apart, Member, Shape, Similarity, partners};

/// A group that can take a share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The group.
    pub group: Arc<str>,
    /// Its size now, machines on their way included.
    pub size: u32,
    /// The largest size that it may have.
    pub max: u32,
}

/// What a group gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// The group.
    pub group: Arc<str>,
    /// Its size so far.
    pub from: u32,
    /// Its size with the share.
    pub to: u32,
}

/// Shares `nodes` out: each goes to whichever group is smallest then and below its maximum, the first of them in a tie.
/// What a full group cannot take goes to the others. Groups that get nothing are left out, and so are nodes for which
/// there is no room.
pub fn share_out(parts: &[Part], nodes: u32) -> Vec<Share> {
    // The groups fill up like vessels of different depths: to a level, and then some of them get one more.
    let added = |level: u32| parts.iter().map(|part| u64::from(part.filled(level) - part.size)).sum::<u64>();
    let nodes = u64::from(nodes);
    let (mut level, mut too_high) = (0, u64::from(u32::MAX) + 1);
    while too_high - level > 1 {
        let middle = level + (too_high - level) / 2;
        if added(u32::try_from(middle).unwrap_or(u32::MAX)) <= nodes { level = middle } else { too_high = middle }
    }
    let level = u32::try_from(level).unwrap_or(u32::MAX);
    let mut left = nodes - added(level);
    let mut shares = Vec::new();
    for part in parts {
        let mut to = part.filled(level);
        if left > 0 && to == level && to < part.max {
            to += 1;
            left -= 1;
        }
        if to > part.size {
            shares.push(Share { group: Arc::clone(&part.group), from: part.size, to });
        }
    }
    shares
}

impl Part {
    /// Its size when every group is filled up to `level`.
    fn filled(&self, level: u32) -> u32 {
        level.min(self.max).max(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, node by node.
    fn one_by_one(parts: &[Part], nodes: u32) -> Vec<Share> {
        let mut sizes: Vec<u32> = parts.iter().map(|part| part.size).collect();
        for _ in 0..nodes {
            let open = (0..parts.len()).filter(|at| sizes[*at] < parts[*at].max);
            let Some(smallest) = open.min_by_key(|at| sizes[*at]) else { break };
            sizes[smallest] += 1;
        }
        let grown = parts.iter().zip(sizes).filter(|(part, to)| *to > part.size);
        grown.map(|(part, to)| Share { group: Arc::clone(&part.group), from: part.size, to }).collect()
    }

    proptest! {
        #[test]
        fn filling_up_is_giving_one_at_a_time(sizes in prop::collection::vec((0_u32..12, 0_u32..12), 0..6), nodes in 0_u32..60) {
            let part = |(at, (size, max)): (usize, (u32, u32))| Part { group: at.to_string().into(), size, max };
            let parts: Vec<Part> = sizes.into_iter().enumerate().map(part).collect();
            prop_assert_eq!(share_out(&parts, nodes), one_by_one(&parts, nodes));
        }

        #[test]
        fn extreme_sizes_are_shared_out_too(sizes in prop::collection::vec((any::<u32>(), any::<u32>()), 0..6), nodes: u32) {
            let parts: Vec<Part> =
                sizes.iter().map(|(size, max)| Part { group: "g".into(), size: *size, max: *max }).collect();
            let room: u64 = sizes.iter().map(|(size, max)| u64::from(max.saturating_sub(*size))).sum();
            let given: u64 = share_out(&parts, nodes).iter().map(|share| u64::from(share.to - share.from)).sum();
            prop_assert_eq!(given, room.min(nodes.into()));
        }
    }
}
