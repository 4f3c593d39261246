//! What was written to an API server, by whom: its own audit log.

use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

/// What the API server logs: every write that it has answered, without the body. Reads are left out, and so are heartbeats of nodes, of which there are thousands.
pub(crate) const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
omitManagedFields: true
rules:
  - level: None
    verbs: [get, list, watch]
  - level: None
    users: [kwok, scheduler, controllers]
    verbs: [create, update, patch]
  - level: Metadata
"#;

/// A write that was answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Write {
    /// create, update, patch, delete or deletecollection
    pub(crate) verb: String,
    user: User,
    #[serde(default)]
    object_ref: Object,
    response_status: Option<Status>,
    /// When the API server received it.
    pub(crate) request_received_timestamp: Timestamp,
}

#[derive(Clone, Debug, Deserialize)]
struct User {
    username: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Status {
    #[serde(default)]
    code: u16,
}

impl Write {
    pub(crate) fn user(&self) -> &str {
        &self.user.username
    }

    /// Such as `pods/eviction`.
    pub(crate) fn resource(&self) -> String {
        match self.object_ref.subresource.as_str() {
            "" => self.object_ref.resource.clone(),
            subresource => format!("{}/{subresource}", self.object_ref.resource),
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.object_ref.namespace
    }

    pub(crate) fn name(&self) -> &str {
        &self.object_ref.name
    }

    /// Whether the API server did it.
    pub(crate) fn succeeded(&self) -> bool {
        self.response_status.as_ref().is_some_and(|status| (200..300).contains(&status.code))
    }
}

/// All writes in the audit log at `path`, in the order in which they were answered.
pub(crate) fn read(path: &Path) -> Vec<Write> {
    let log = std::fs::read_to_string(path).unwrap_or_default();
    // The last line may be half written.
    let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).expect("an audit event")).collect()
}
