//! Machines that kwok pretends to be.

use std::sync::Arc;

use headroom_core::policy::Percent;
use jiff::SignedDuration;

use super::cloud::Cloud;
use super::group::Draft;
use crate::config::kind::{Kind, count, duration, list, percent, text};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};

/// The longest name of a group: the names of its nodes, which are also labels, begin with it.
const LONGEST_NAME: usize = 52;

/// Machines that kwok pretends to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kwok {
    /// Its machines are spread over these zones.
    pub zones: Vec<Box<str>>,
    /// From the request until the node is there.
    pub boot: SignedDuration,
    /// The share of machines that never become nodes.
    pub boot_failures: Percent,
    /// The most machines that can be had at once; None is no limit.
    pub stock: Option<u32>,
    /// For a group without a template: the ConfigMap of Cluster Autoscaler's kwok provider.
    pub config_map: Arc<str>,
    /// And the node group in it; None is the group's own name.
    pub node_group: Option<Arc<str>>,
}

impl Default for Kwok {
    fn default() -> Self {
        Kwok {
            zones: Vec::new(),
            boot: SignedDuration::ZERO,
            boot_failures: Percent(0),
            stock: None,
            config_map: "kwok-provider-config".into(),
            node_group: None,
        }
    }
}

pub(super) fn kind() -> Kind<Kwok> {
    Record::new(
        "groups[].cloud.kwok",
        "Machines that kwok pretends to be: Headroom makes and deletes their Node objects. What they are like \
         stands under the group's `template`, or in the ConfigMaps of Cluster Autoscaler's kwok provider. The \
         group's name becomes part of the names of its nodes: lower-case letters, digits and `-`.",
        Kwok::default,
    )
    .field("zones", list(text()), |kwok| &mut kwok.zones, "Zones over which its machines are spread evenly.")
    .field(
        "boot",
        duration(SignedDuration::ZERO),
        |kwok| &mut kwok.boot,
        "How long it takes from the request of a machine until its node is there.",
    )
    .field(
        "bootFailures",
        percent(Percent(0), Percent::whole(100)),
        |kwok| &mut kwok.boot_failures,
        "The share of machines that never become a node, in percent, to see what Headroom does then.",
    )
    .field(
        "stock",
        count(0).optional(),
        |kwok| &mut kwok.stock,
        "The most machines that can be had at once. Each one more fails, as when a cloud is out of stock. \
         Left out: no limit.",
    )
    .field(
        "configMap",
        text(),
        |kwok| &mut kwok.config_map,
        "For a group without `template`: a ConfigMap in Headroom's namespace that is written for Cluster \
         Autoscaler's kwok provider. It says what machines are like and sets limits to the group's size. \
         It is read once.",
    )
    .field(
        "nodeGroup",
        text().optional(),
        |kwok| &mut kwok.node_group,
        "The node group in that ConfigMap. Left out: the one with the group's own name.",
    )
    .kind()
}

/// Nodes and ConfigMaps are named after the group, so its name must be good for them.
pub(super) fn needs_plain_name(draft: &Draft, at: &Places, problems: &mut Problems) {
    let (Cloud::Kwok(_), Some(name)) = (&draft.cloud, draft.name()) else { return };
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let ends_well = !name.starts_with('-') && !name.ends_with('-');
    if name.len() > LONGEST_NAME || !name.bytes().all(plain) || !ends_well {
        let message = "a group of kwok gives its name to nodes, and this is no name of a node";
        let hint = format!(
            "write at most {LONGEST_NAME} lower-case letters and digits, with `-` between them, such as `web-spot`"
        );
        let problem = Problem::at(at.of("name"), message, hint);
        problems.add(problem.also(at.of("cloud"), "its machines are of kwok"));
    }
}
