//! What is asked of Nomad, call by call.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, CallError, Client, Listed};
use crate::cluster::nomad::object::{Allocation, ClientStats, Job, Node};

/// Of every namespace. Without it a list is of one.
const EVERYWHERE: (&str, &str) = ("namespace", "*");

/// How a node is drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct DrainSpec {
    /// In nanoseconds; 0 is none and -1 is at once.
    pub deadline: i64,
    /// Whether tasks of system jobs stay.
    pub ignore_system_jobs: bool,
}

/// Who a token is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Token {
    /// `management` or `client`.
    #[serde(rename = "Type")]
    pub kind: String,
    /// The names of its policies.
    pub policies: Option<Vec<String>>,
    /// The roles that give it more of them, from Nomad 1.4 on.
    pub roles: Option<Vec<Role>>,
}

/// A role, as a token names it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Role {
    /// Unique.
    #[serde(rename = "ID")]
    pub id: String,
}

/// What a policy or role says, as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Grant {
    /// Of a policy: HCL or JSON.
    pub rules: String,
    /// Of a role.
    pub policies: Option<Vec<Named>>,
}

/// Something with a name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Named {
    /// Its name.
    pub name: String,
}

impl Client {
    /// Every node, as lists have it.
    pub async fn nodes(&self) -> Result<Listed<Node>, CallError> {
        self.list(&["nodes"], &[("resources", "true")]).await
    }

    /// A whole node.
    pub async fn node(&self, id: &str) -> Result<Node, CallError> {
        self.get(&["node", id], Vec::new()).await?.read()
    }

    /// Hands over every allocation that the token may see, or why it cannot be understood. It is all of them only if there
    /// is no error.
    pub async fn allocations(&self, found: impl FnMut(Result<Allocation, serde_json::Error>)) -> Result<(), CallError> {
        let query = [("resources", "true"), ("task_states", "false"), EVERYWHERE];
        self.each(&["allocations"], &query, found).await.map(drop)
    }

    /// The allocations of a node that the token may see.
    pub async fn allocations_of(&self, node: &str) -> Result<Listed<Allocation>, CallError> {
        self.list(&["node", node, "allocations"], &[]).await
    }

    /// A whole allocation.
    pub async fn allocation(&self, id: &str) -> Result<Allocation, CallError> {
        self.get(&["allocation", id], Vec::new()).await?.read()
    }

    /// Every job that the token may see, as lists have it: with how many of its allocations wait.
    pub async fn jobs(&self) -> Result<Listed<Job>, CallError> {
        self.list(&["jobs"], &[EVERYWHERE]).await
    }

    /// A whole job.
    pub async fn job(&self, namespace: &str, id: &str) -> Result<Job, CallError> {
        self.get(&["job", id], vec![("namespace", namespace.to_owned())]).await?.read()
    }

    /// How busy the machine of a node is.
    pub async fn client_stats(&self, node: &str) -> Result<ClientStats, CallError> {
        self.get(&["client", "stats"], vec![("node_id", node.to_owned())]).await?.read()
    }

    /// Returns once a list may have changed since its state had this number, or after some time: the number now.
    pub async fn wait_for(&self, list: &str, index: u64, at_most: Duration) -> Result<u64, CallError> {
        let query = vec![
            ("index", index.to_string()),
            ("wait", format!("{}s", at_most.as_secs())),
            (EVERYWHERE.0, EVERYWHERE.1.to_owned()),
            // Nobody looks at what is in it.
            ("per_page", "1".to_owned()),
            ("task_states", "false".to_owned()),
        ];
        // Nomad waits up to a sixteenth longer.
        let deadline = at_most + at_most / 8 + super::DEADLINE;
        let answer = self.open(Call { path: &[list], query, deadline, ..Call::reading() }).await?;
        // The list itself is not read: Nomad without pages sends all of it.
        Ok(super::index(answer.headers()))
    }

    /// Makes a node eligible or ineligible for new work.
    pub async fn set_eligibility(&self, node: &str, eligible: bool) -> Result<(), CallError> {
        let body = json!({ "Eligibility": if eligible { "eligible" } else { "ineligible" } });
        self.put(&["node", node, "eligibility"], body).await
    }

    /// Moves the work of a node off it. It is ineligible from then on.
    pub async fn drain(&self, node: &str, spec: DrainSpec) -> Result<(), CallError> {
        let meta = json!({ "message": "headroom" });
        self.put(&["node", node, "drain"], json!({ "DrainSpec": spec, "MarkEligible": false, "Meta": meta })).await
    }

    /// Ends a drain. The node is eligible from then on.
    pub async fn end_drain(&self, node: &str) -> Result<(), CallError> {
        self.put(&["node", node, "drain"], json!({ "DrainSpec": null, "MarkEligible": true })).await
    }

    /// Forgets a node. One that is alive comes back within a second.
    pub async fn purge(&self, node: &str) -> Result<(), CallError> {
        self.put(&["node", node, "purge"], json!({})).await
    }

    /// Whom Nomad takes the caller for.
    pub async fn token(&self) -> Result<Token, CallError> {
        self.get(&["acl", "token", "self"], Vec::new()).await?.read()
    }

    /// What a policy grants.
    pub async fn policy(&self, name: &str) -> Result<Grant, CallError> {
        self.get(&["acl", "policy", name], Vec::new()).await?.read()
    }

    /// What a role grants.
    pub async fn role(&self, id: &str) -> Result<Grant, CallError> {
        self.get(&["acl", "role", id], Vec::new()).await?.read()
    }

    async fn put(&self, path: &[&str], body: serde_json::Value) -> Result<(), CallError> {
        self.send(Call { path, ..Call::changing(body.to_string()) }).await.map(drop)
    }
}
