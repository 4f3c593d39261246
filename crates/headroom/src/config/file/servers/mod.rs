//! Groups whose servers are made, listed and deleted one by one.

mod hetzner;
mod linode;
mod process;
mod rest;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use headroom_adapters::cloud::servers::{Hardware, ServerGroup, UserData as Told};
use headroom_core::policy::Strategy;
use jiff::SignedDuration;

pub(super) use hetzner::HetznerServers;
pub(super) use hetzner::kind as hetzner;
pub(super) use linode::LinodeServers;
pub(super) use linode::kind as linode;
pub(super) use process::ProcessServers;
pub(super) use process::kind as process;
pub(super) use rest::address;

use super::cloud::Cloud;
use super::group::Draft;
use crate::config::kind::{Kind, count, duration, list, text, written};
use crate::config::problem::{Problem, Problems};
use crate::config::record::{Places, Record};
use crate::config::text_of;
use crate::config::tree::Place;

/// The longest name of a group: with the id of a server it has to fit into a tag.
const LONGEST_NAME: usize = 30;

/// A group of servers of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers<A, H> {
    /// What its servers carry, so that they are known to be Headroom's.
    pub cluster: Arc<str>,
    /// How the provider is reached.
    pub account: A,
    /// What its servers may be, the best first.
    pub hardware: Vec<Hardware<H>>,
    /// What a server is told at its first start.
    user_data: UserData,
    parallel: u32,
    retry_hardware_after: SignedDuration,
}

/// A file, and what stands in it once it has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct UserData {
    file: Option<(Place, Arc<str>)>,
    text: Option<Told>,
}

impl<A, H: Clone> Servers<A, H> {
    fn new(account: A) -> Self {
        Servers {
            cluster: Arc::from(""),
            account,
            hardware: Vec::new(),
            user_data: UserData::default(),
            parallel: 5,
            retry_hardware_after: SignedDuration::from_mins(10),
        }
    }

    /// The group called `name`, as its adapter takes it.
    pub fn group(&self, name: &Arc<str>) -> ServerGroup<H> {
        ServerGroup {
            name: Arc::clone(name),
            hardware: self.hardware.clone(),
            user_data: self.user_data.text.clone(),
            parallel: NonZeroUsize::new(self.parallel as usize).unwrap_or(NonZeroUsize::MIN),
            retry_hardware_after: Duration::try_from(self.retry_hardware_after).unwrap_or_default(),
        }
    }

    fn hardware_names(&self) -> Vec<&str> {
        self.hardware.iter().map(|hardware| &*hardware.name).collect()
    }
}

/// The keys that all providers share; `hardware` is how one kind of it is written.
fn keys<A: 'static, H: Clone + 'static>(
    record: Record<Servers<A, H>>,
    hardware: Kind<Hardware<H>>,
) -> Record<Servers<A, H>> {
    record
        .required(
            "clusterId",
            tag(),
            |servers| &mut servers.cluster,
            "What every server carries. Servers without it are none of Headroom's, and those with it are, whether or \
             not it remembers them. No two clusters may share one.",
        )
        .required(
            "hardware",
            list(hardware).filled("add one: `- { name: … }`"),
            |servers| &mut servers.hardware,
            "What its servers may be, the best first. Each new server is of the first that can be had.",
        )
        .field(
            "userDataFile",
            text().placed().optional(),
            |servers| &mut servers.user_data.file,
            "A file with what a server is told at its first start, such as a cloud-init document. \
             `${HEADROOM_SERVER_ID}`, `${HEADROOM_SERVER_NAME}`, `${HEADROOM_HARDWARE}`, `${HEADROOM_POOL}` and \
             `${HEADROOM_CLUSTER_ID}` in it are replaced. Its path is relative to this file.",
        )
        .field("parallel", count(1), |servers| &mut servers.parallel, "How many servers are asked for at once.")
        .field(
            "retryHardwareAfter",
            duration(SignedDuration::ZERO),
            |servers| &mut servers.retry_hardware_after,
            "How long hardware that could not be had is tried after all others.",
        )
        .check(&["hardware"], |servers, at, problems| {
            for (index, hardware) in servers.hardware.iter().enumerate() {
                if servers.hardware.iter().take(index).any(|earlier| earlier.name == hardware.name) {
                    let message = format!("`{}` is in the list twice", hardware.name);
                    problems.add(Problem::at(at.of("hardware"), message, "leave the second one out"));
                }
            }
        })
}

/// The key `name` of a kind of hardware.
fn named<H: 'static>(record: Record<Hardware<H>>) -> Record<Hardware<H>> {
    record.required(
        "name",
        tag(),
        |hardware| &mut hardware.name,
        "What its servers are tagged with, and what they have to say of themselves: on Nomad in the meta attribute \
         `hardware`. In a `memoryPool` it is the name in that list.",
    )
}

/// Text that every provider takes as part of a tag.
fn tag() -> Kind<Arc<str>> {
    let parse = |text: &str| {
        let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let bytes = text.as_bytes();
        let good =
            bytes.len() <= LONGEST_NAME && bytes.iter().all(allowed) && ends(bytes.first()) && ends(bytes.last());
        if good {
            Ok(Arc::from(text))
        } else {
            Err(format!(
                "write at most {LONGEST_NAME} letters, digits, `-`, `_` and `.`, a letter or digit first and last"
            ))
        }
    };
    let pattern = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,28}[A-Za-z0-9])?$";
    written("a short name", pattern, parse, |tag: &Arc<str>| tag.to_string())
}

/// Reads the files that groups name, whose paths are relative to `folder`.
pub(super) fn load(groups: &mut [Draft], folder: &Path, problems: &mut Problems) {
    for draft in groups {
        draft.cloud.settle(folder);
        let Some(UserData { file: Some((place, path)), text }) = draft.cloud.user_data() else { continue };
        let path = folder.join(&**path);
        match text_of(&path, &path.display().to_string()) {
            Ok(read) => *text = Some(Told::new(&read)),
            Err(problem) => problems.add(problem.placed(place.clone())),
        }
    }
}

/// Servers are named after their group, so its name must be good for that.
pub(super) fn needs_plain_name(draft: &Draft, at: &Places, problems: &mut Problems) {
    let (Some(_), Some(name)) = (draft.cloud.hardware_names(), draft.name()) else { return };
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let ends_well = !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
    if name.len() > LONGEST_NAME || !name.bytes().all(plain) || !ends_well {
        let message = "a group of servers gives its name to them, and this is no name of a server";
        let hint = format!("write at most {LONGEST_NAME} lower-case letters and digits, with single `-` between them");
        let problem = Problem::at(at.of("name"), message, hint);
        problems.add(problem.also(at.of("cloud"), "its servers are made here"));
    }
}

/// What a pool is sized by is what its cloud makes, in the same order.
pub(super) fn same_hardware(draft: &Draft, at: &Places, problems: &mut Problems) {
    let (Some(made), Strategy::MemoryPool(pool)) = (draft.cloud.hardware_names(), &draft.group.strategy) else {
        return;
    };
    let sized: Vec<&str> = pool.hardware.iter().map(|hardware| &*hardware.name).collect();
    if made != sized {
        let (made, sized) = (made.join(", "), sized.join(", "));
        let message = format!("the servers that are made are {made}, and the pool is sized by {sized}");
        let problem = Problem::at(at.of("cloud"), message, "name the same hardware in the same order in both");
        problems.add(problem.also(at.of("strategy"), "its hardware"));
    }
}

impl Cloud {
    /// The names of the hardware, where servers are made one by one.
    pub(super) fn hardware_names(&self) -> Option<Vec<&str>> {
        match self {
            Cloud::Hetzner(servers) => Some(servers.hardware_names()),
            Cloud::Linode(servers) => Some(servers.hardware_names()),
            Cloud::Process(servers) => Some(servers.hardware_names()),
            Cloud::None | Cloud::Aws(_) | Cloud::ExternalGrpc(_) | Cloud::Kwok(_) => None,
        }
    }

    fn settle(&mut self, folder: &Path) {
        match self {
            Cloud::Hetzner(servers) => servers.account.settle(folder),
            Cloud::Linode(servers) => servers.account.settle(folder),
            Cloud::Process(_) | Cloud::None | Cloud::Aws(_) | Cloud::ExternalGrpc(_) | Cloud::Kwok(_) => {}
        }
    }

    fn user_data(&mut self) -> Option<&mut UserData> {
        match self {
            Cloud::Hetzner(servers) => Some(&mut servers.user_data),
            Cloud::Linode(servers) => Some(&mut servers.user_data),
            Cloud::Process(servers) => Some(&mut servers.user_data),
            Cloud::None | Cloud::Aws(_) | Cloud::ExternalGrpc(_) | Cloud::Kwok(_) => None,
        }
    }
}
