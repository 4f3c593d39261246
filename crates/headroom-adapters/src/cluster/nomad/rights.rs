//! What the token may see: Nomad leaves out of a list what a token may not see, without a word.

mod rules;

use super::client::{CallError, Client};
use rules::{Grants, read_rules};

/// How far the lists of allocations and jobs can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rights {
    /// Nobody can say. An empty list may be one of which nothing may be seen.
    #[default]
    Unknown,
    /// They are of every namespace.
    All,
    /// Some of it is left out, or may be.
    Some,
}

/// Finds out what the token of `client` may see.
pub(super) async fn rights(client: &Client) -> Result<Rights, CallError> {
    let token = match client.token().await {
        Ok(token) => token,
        // There is no ACL system.
        Err(CallError::Refused { status: 400, .. }) => return Ok(Rights::All),
        Err(CallError::Refused { status: 500, words }) if words.contains("ACL support disabled") => {
            return Ok(Rights::All);
        }
        // The identity of a task is no token that could be asked about, and nobody has no token.
        Err(CallError::Refused { status: 403 | 404, .. }) => return Ok(Rights::Unknown),
        Err(CallError::Refused { status: 500, words }) if words.contains("token lookup failed") => {
            return Ok(Rights::Unknown);
        }
        Err(error) => return Err(error),
    };
    if token.kind == "management" {
        return Ok(Rights::All);
    }
    let mut policies = token.policies.unwrap_or_default();
    for role in token.roles.unwrap_or_default() {
        match client.role(&role.id).await {
            Ok(role) => policies.extend(role.policies.unwrap_or_default().into_iter().map(|policy| policy.name)),
            Err(CallError::Refused { .. }) => return Ok(Rights::Unknown),
            Err(error) => return Err(error),
        }
    }
    let mut grants = Grants::default();
    for policy in policies {
        match client.policy(&policy).await {
            Ok(policy) => grants.add(read_rules(&policy.rules)),
            Err(CallError::Refused { .. }) => return Ok(Rights::Unknown),
            Err(error) => return Err(error),
        }
    }
    Ok(grants.rights())
}
