//! Servers that commands make, list and delete: for tests, for demonstrations, and for machines in one's own rooms.
//!
//! Each command gets what it needs in its environment. `create` ends once the server is on its way; `list` prints one JSON
//! object for each server; `delete` ends once the server is gone or goes, also when it was gone before.

mod command;
mod object;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;

use self::command::Command;
use super::provider::{Order, Provider, ProviderError, Server};
use super::user_data::variables;
use crate::fence::Fence;

/// What `create` ends with when this hardware is not to be had, and another may be (`EX_TEMPFAIL` of sysexits.h).
pub const OUT_OF_STOCK: i32 = 75;

/// The commands; each is a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Makes a server.
    pub create: Vec<String>,
    /// Prints all servers.
    pub list: Vec<String>,
    /// Deletes a server.
    pub delete: Vec<String>,
    /// How long each may take.
    pub timeout: SignedDuration,
}

/// Servers that commands make.
#[derive(Debug)]
pub struct Process {
    commands: Commands,
    cluster: Arc<str>,
    fence: Fence,
}

/// More of the environment in which `create` runs, such as the size of the machine.
pub type Environment = Vec<(Arc<str>, String)>;

impl Process {
    /// Servers that carry the id `cluster`. Nothing is begun that changes anything while the fence is closed.
    pub fn new(commands: Commands, cluster: Arc<str>, fence: Fence) -> Self {
        Process { commands, cluster, fence }
    }

    fn command(&self, words: &[String]) -> Command {
        let timeout = Duration::try_from(self.commands.timeout).unwrap_or_default();
        Command::new(words, timeout).with("HEADROOM_CLUSTER_ID", &self.cluster)
    }
}

#[async_trait]
impl Provider for Process {
    type Hardware = Environment;

    async fn list(&self) -> Result<Vec<Server>, ProviderError> {
        let output = self.command(&self.commands.list).run().await.map_err(|error| match error {
            ProviderError::Refused(_) | ProviderError::OutOfStock(_) => ProviderError::Broken(Box::new(error)),
            other => other,
        })?;
        let servers = object::servers(&output).map_err(|error| ProviderError::NotUnderstood(Box::new(error)))?;
        Ok(servers.into_iter().filter(|server| *server.tags.cluster == *self.cluster).collect())
    }

    async fn create(&self, order: &Order<'_, Environment>) -> Result<(), ProviderError> {
        let mut command = self.command(&self.commands.create);
        for (variable, value) in order.hardware {
            command = command.with(variable, value);
        }
        for (variable, value) in variables(order.tags, order.name) {
            command = command.with(variable, &value);
        }
        if let Some(user_data) = order.user_data {
            command = command.with("HEADROOM_USER_DATA", user_data);
        }
        self.change(command).await
    }

    async fn delete(&self, server: &Server) -> Result<(), ProviderError> {
        let mut command =
            self.command(&self.commands.delete).with("HEADROOM_PROVIDER_ID", object::id(&server.provider_id));
        for (variable, value) in variables(&server.tags, server.addresses.first().map_or("", |name| name)) {
            command = command.with(variable, &value);
        }
        self.change(command).await
    }
}

impl Process {
    /// Runs a command that changes something, unless another instance may lead by now.
    async fn change(&self, command: Command) -> Result<(), ProviderError> {
        self.fence.check().map_err(|_| ProviderError::NotLeading)?;
        command.run().await.map(drop)
    }
}
