//! Who may do what.

use serde_json::{Value, json};

use crate::state::State;

/// A token of the ACL system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// As it is sent.
    pub secret: String,
    /// The namespace whose jobs it may read, `*` for all, None for none.
    pub reads: Option<String>,
    /// Whether it may list the jobs that it may read.
    pub lists: bool,
    /// Whether it may read and change nodes.
    pub nodes: bool,
    /// Whether it may do everything.
    pub management: bool,
}

impl Token {
    /// One that may do everything.
    pub fn management(secret: &str) -> Self {
        Token { secret: secret.to_owned(), reads: None, lists: false, nodes: false, management: true }
    }

    /// One with the rights that Headroom needs, for the jobs of this namespace.
    pub fn client(secret: &str, reads: Option<&str>) -> Self {
        Token {
            secret: secret.to_owned(),
            reads: reads.map(str::to_owned),
            lists: true,
            nodes: true,
            management: false,
        }
    }

    /// Whether it may read jobs of this namespace.
    pub(crate) fn may_read(&self, namespace: &str) -> bool {
        self.management || self.reads.as_deref().is_some_and(|reads| reads == "*" || reads == namespace)
    }

    /// Whether it may list jobs of this namespace.
    pub(crate) fn may_list(&self, namespace: &str) -> bool {
        self.management || self.lists && self.may_read(namespace)
    }

    pub(crate) fn may_touch_nodes(&self) -> bool {
        self.management || self.nodes
    }

    /// As `/v1/acl/token/self` has it.
    pub(crate) fn to_json(&self) -> Value {
        let policies = (!self.management).then(|| json!(["headroom"]));
        json!({
            "AccessorID": "6f9a0f0e-0000-4000-8000-000000000001",
            "SecretID": self.secret,
            "Name": "test",
            "Type": if self.management { "management" } else { "client" },
            "Policies": policies,
            "Roles": null,
            "Global": false,
            "CreateTime": "2026-01-01T00:00:00Z",
            "CreateIndex": 5,
            "ModifyIndex": 5,
        })
    }

    /// Its policy.
    pub(crate) fn rules(&self) -> String {
        let nodes = if self.nodes { "node { policy = \"write\" }\n" } else { "" };
        let jobs = self.reads.as_ref().map_or_else(String::new, |namespace| {
            let lists = if self.lists { "\"list-jobs\", " } else { "" };
            format!("namespace \"{namespace}\" {{ capabilities = [{lists}\"read-job\"] }}\n")
        });
        format!("{nodes}{jobs}")
    }
}

impl State {
    /// Whose request it is; without an ACL system everybody may do everything.
    pub(crate) fn token(&self, secret: Option<&str>) -> Result<Token, &'static str> {
        let Some(tokens) = &self.tokens else { return Ok(Token::management("")) };
        match secret {
            None => Err("Permission denied"),
            Some(secret) => tokens.iter().find(|token| token.secret == secret).cloned().ok_or("ACL token not found"),
        }
    }
}
