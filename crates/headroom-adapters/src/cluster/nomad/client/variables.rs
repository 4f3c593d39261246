//! Variables (from Nomad 1.4 on), and locks on them (from 1.7 on).

use std::collections::BTreeMap;

use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Call, CallError, Client};

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Variable {
    /// Where it is in its namespace.
    pub path: String,
    /// What it holds: 64 KiB together.
    pub items: BTreeMap<String, String>,
    /// Of its last change.
    #[serde(skip_serializing)]
    pub modify_index: u64,
    /// Who holds it.
    #[serde(skip_serializing)]
    pub lock: Option<Lock>,
}

/// A lock on a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Lock {
    /// Unique to whoever holds it.
    #[serde(rename = "ID")]
    pub id: String,
}

/// What became of a change that somebody else may have come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It was done; the index of it.
    At(u64),
    /// Another version is there, or somebody holds it.
    Conflict,
}

impl Client {
    /// The variable at this path; None when there is none.
    pub async fn variable(&self, path: &str) -> Result<Option<Variable>, CallError> {
        match self.of_variables(Call { path: &segments(path), query: self.here(), ..Call::reading() }).await {
            Ok(answer) => answer.read().map(Some),
            Err(CallError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a variable over the version of this index; 0 is none.
    pub async fn write_variable(
        &self,
        path: &str,
        items: &BTreeMap<String, String>,
        over: u64,
    ) -> Result<Written, CallError> {
        let variable = Variable { path: path.to_owned(), items: items.clone(), ..Variable::default() };
        let mut query = self.here();
        query.push(("cas", over.to_string()));
        let call = Call { path: &segments(path), query, ..Call::changing(text(&variable)?) };
        self.written(call).await
    }

    /// Deletes the version of a variable that has this index.
    pub async fn delete_variable(&self, path: &str, index: u64) -> Result<Written, CallError> {
        let mut query = self.here();
        query.push(("cas", index.to_string()));
        let call = Call { method: Method::DELETE, path: &segments(path), query, ..Call::changing(String::new()) };
        match self.written(call).await {
            Err(CallError::Refused { status: 404, .. }) => Ok(Written::At(0)),
            written => written,
        }
    }

    /// Takes the lock of a variable; None when somebody else has it. It holds for `seconds` after the last renewal, and for
    /// `delay` seconds more nobody gets it.
    pub async fn acquire(
        &self,
        path: &str,
        items: &BTreeMap<String, String>,
        (seconds, delay): (u64, u64),
    ) -> Result<Option<Lock>, CallError> {
        let lock = json!({ "TTL": format!("{seconds}s"), "LockDelay": format!("{delay}s") });
        let body = json!({ "Path": path, "Items": items, "Lock": lock });
        let answer = self.of_lock(path, "lock-acquire", body).await?;
        answer.map(|variable| variable.lock.filter(|lock| !lock.id.is_empty()).ok_or_else(no_locks)).transpose()
    }

    /// Renews a lock. Whether it is still held.
    pub async fn renew(&self, path: &str, lock: &Lock) -> Result<bool, CallError> {
        Ok(self.of_lock(path, "lock-renew", json!({ "Path": path, "Lock": { "ID": lock.id } })).await?.is_some())
    }

    /// Gives a lock back. One that is lost already is no error.
    pub async fn release(&self, path: &str, lock: &Lock) -> Result<(), CallError> {
        self.of_lock(path, "lock-release", json!({ "Path": path, "Lock": { "ID": lock.id } })).await.map(drop)
    }

    /// None when somebody else has the lock.
    async fn of_lock(&self, path: &str, what: &str, body: serde_json::Value) -> Result<Option<Variable>, CallError> {
        let mut query = self.here();
        query.push((what, String::new()));
        let path = segments(path);
        let call = Call { path: &path, query, of_election: true, ..Call::changing(body.to_string()) };
        match self.of_variables(call).await {
            Ok(answer) => answer.read().map(Some),
            Err(CallError::Refused { status: 409, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn written(&self, call: Call<'_>) -> Result<Written, CallError> {
        match self.of_variables(call).await {
            Ok(answer) if answer.body.is_empty() => Ok(Written::At(answer.index())),
            Ok(answer) => Ok(Written::At(answer.read::<Variable>()?.modify_index)),
            Err(CallError::Refused { status: 409, .. }) => Ok(Written::Conflict),
            Err(error) => Err(error),
        }
    }

    /// A Nomad without variables has no page for them.
    async fn of_variables(&self, call: Call<'_>) -> Result<Answer, CallError> {
        match self.send(call).await {
            Err(CallError::Refused { status: 404, words }) if words.contains("page not found") || words.is_empty() => {
                Err(CallError::Missing { missing: "variables, which came with Nomad 1.4" })
            }
            answer => answer,
        }
    }

    fn here(&self) -> Vec<(&'static str, String)> {
        vec![("namespace", self.namespace().to_owned())]
    }
}

fn segments(path: &str) -> Vec<&str> {
    std::iter::once("var").chain(path.split('/')).collect()
}

fn text(variable: &Variable) -> Result<String, CallError> {
    serde_json::to_string(variable).map_err(CallError::NotUnderstood)
}

/// A Nomad that does not know locks writes the variable all the same.
fn no_locks() -> CallError {
    CallError::Missing { missing: "locks on variables, which came with Nomad 1.7" }
}
