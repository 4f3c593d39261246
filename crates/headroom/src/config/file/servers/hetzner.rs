//! Servers of Hetzner Cloud.

use std::sync::Arc;

use headroom_adapters::cloud::servers::Hardware;
use headroom_adapters::cloud::servers::hetzner::{ADDRESS, HetznerAccount, HetznerHardware};

use super::rest::{self, Account};
use super::{Servers, keys, named};
use crate::config::kind::{Kind, integer, list, text};
use crate::config::record::Record;

/// Servers of Hetzner Cloud.
pub(in crate::config::file) type HetznerServers = Servers<Account<HetznerAccount>, HetznerHardware>;

pub(in crate::config::file) fn kind() -> Kind<HetznerServers> {
    let start = || {
        let (ssh_keys, networks, firewalls) = (Vec::new(), Vec::new(), Vec::new());
        let settings = HetznerAccount { address: ADDRESS.into(), ssh_keys, networks, firewalls };
        Servers::new(Account::new("HCLOUD_TOKEN", settings))
    };
    let record = Record::new("groups[].cloud.hetzner", "Servers of Hetzner Cloud (docs/servers.md).", start)
        .field(
            "sshKeys",
            list(text()),
            |servers: &mut HetznerServers| &mut servers.account.settings.ssh_keys,
            "Names or ids of SSH keys.",
        )
        .field("networks", list(id()), |servers| &mut servers.account.settings.networks, "Ids of private networks.")
        .field("firewalls", list(id()), |servers| &mut servers.account.settings.firewalls, "Ids of firewalls.")
        .field("address", rest::address(), |servers| &mut servers.account.settings.address, "Of the API.");
    keys(rest::keys(record), hardware()).kind()
}

fn hardware() -> Kind<Hardware<HetznerHardware>> {
    let start = || {
        let empty = || Arc::from("");
        let at = HetznerHardware { server_type: empty(), location: None, image: empty() };
        Hardware { name: empty(), at }
    };
    let record = Record::new("groups[].cloud.hetzner.hardware[]", "A kind of hardware.", start);
    named(record)
        .required("serverType", text(), |hardware| &mut hardware.at.server_type, "Such as `ccx23`.")
        .required(
            "image",
            text(),
            |hardware| &mut hardware.at.image,
            "The name or id of an image, such as `debian-12`.",
        )
        .field(
            "location",
            text().optional(),
            |hardware| &mut hardware.at.location,
            "Such as `fsn1`. Left out: Hetzner chooses.",
        )
        .kind()
}

fn id() -> Kind<i64> {
    integer(1, i64::MAX)
}
