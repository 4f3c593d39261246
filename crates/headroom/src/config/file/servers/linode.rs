//! Servers of Linode.

use std::sync::Arc;

use headroom_adapters::cloud::servers::Hardware;
use headroom_adapters::cloud::servers::linode::{ADDRESS, LinodeAccount, LinodeHardware};

use super::rest::{self, Account};
use super::{Servers, keys, named};
use crate::config::kind::{Kind, flag, integer, list, text};
use crate::config::record::Record;

/// Servers of Linode.
pub(in crate::config::file) type LinodeServers = Servers<Account<LinodeAccount>, LinodeHardware>;

pub(in crate::config::file) fn kind() -> Kind<LinodeServers> {
    let start = || {
        let address = ADDRESS.into();
        let settings = LinodeAccount { address, authorized_keys: Vec::new(), firewall: None, private_ip: false };
        Servers::new(Account::new("LINODE_TOKEN", settings))
    };
    let record = Record::new("groups[].cloud.linode", "Servers of Linode (docs/servers.md).", start)
        .field(
            "authorizedKeys",
            list(text()),
            |servers: &mut LinodeServers| &mut servers.account.settings.authorized_keys,
            "Public SSH keys of root.",
        )
        .field(
            "firewall",
            integer(1, i64::MAX).optional(),
            |servers| &mut servers.account.settings.firewall,
            "The id of a firewall.",
        )
        .field(
            "privateIp",
            flag(),
            |servers| &mut servers.account.settings.private_ip,
            "Servers get an address in the private network of their region, too.",
        )
        .field("address", rest::address(), |servers| &mut servers.account.settings.address, "Of the API.");
    keys(rest::keys(record), hardware()).kind()
}

fn hardware() -> Kind<Hardware<LinodeHardware>> {
    let start = || {
        let empty = || Arc::from("");
        Hardware { name: empty(), at: LinodeHardware { plan: empty(), region: empty(), image: empty() } }
    };
    let record = Record::new("groups[].cloud.linode.hardware[]", "A kind of hardware.", start);
    named(record)
        .required("type", text(), |hardware| &mut hardware.at.plan, "The plan, such as `g6-standard-4`.")
        .required("region", text(), |hardware| &mut hardware.at.region, "Such as `eu-central`.")
        .required("image", text(), |hardware| &mut hardware.at.image, "Such as `linode/debian12`.")
        .kind()
}
