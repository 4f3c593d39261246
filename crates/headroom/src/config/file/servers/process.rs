//! Servers that commands make.

use std::sync::Arc;

use headroom_adapters::cloud::servers::Hardware;
use headroom_adapters::cloud::servers::process::{Commands, Environment};
use jiff::SignedDuration;

use super::{Servers, keys, named};
use crate::config::kind::{Kind, duration, list, map, text};
use crate::config::record::Record;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Servers that commands make.
pub(in crate::config::file) type ProcessServers = Servers<Commands, Environment>;

pub(in crate::config::file) fn kind() -> Kind<ProcessServers> {
    let start = || {
        let timeout = SignedDuration::from_secs(60);
        Servers::new(Commands { create: Vec::new(), list: Vec::new(), delete: Vec::new(), timeout })
    };
    let words = || list(text::<String>()).filled("write the program and its arguments, such as `[./servers, create]`");
    let record = Record::new(
        "groups[].cloud.process",
        "Servers that commands of yours make, list and delete (docs/servers.md). Each command is a program and its \
         arguments, without a shell.",
        start,
    )
    .required("create", words(), |servers: &mut ProcessServers| &mut servers.account.create, "Makes a server.")
    .required("list", words(), |servers| &mut servers.account.list, "Prints all servers.")
    .required("delete", words(), |servers| &mut servers.account.delete, "Deletes a server.")
    .field("timeout", duration(SECOND), |servers| &mut servers.account.timeout, "How long each command may take.");
    keys(record, hardware()).kind()
}

fn hardware() -> Kind<Hardware<Environment>> {
    let start = || Hardware { name: Arc::from(""), at: Vec::new() };
    let record = Record::new("groups[].cloud.process.hardware[]", "A kind of hardware.", start);
    named(record)
        .field("env", map(text()), |hardware| &mut hardware.at, "More of the environment in which `create` runs.")
        .kind()
}
