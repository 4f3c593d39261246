//! Variables and locks on them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::Fake;
use crate::answer::Answer;
use crate::state::{State, nanoseconds};

/// What a variable may hold.
const LIMIT: usize = 64 << 10;

/// A variable.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) items: BTreeMap<String, String>,
    pub(crate) created: u64,
    pub(crate) modified: u64,
    pub(crate) time: i64,
    pub(crate) lock: Option<Lock>,
    /// After a lock ran out nobody gets it before this.
    pub(crate) free_at: Option<Instant>,
}

/// A lock that somebody has.
#[derive(Clone)]
pub(crate) struct Lock {
    pub(crate) id: String,
    pub(crate) ttl: Duration,
    pub(crate) delay: Duration,
    pub(crate) until: Instant,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Body {
    items: Option<BTreeMap<String, String>>,
    lock: Option<LockBody>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LockBody {
    #[serde(rename = "ID")]
    id: String,
    #[serde(rename = "TTL")]
    ttl: String,
    #[serde(rename = "LockDelay")]
    delay: String,
}

type Key = (String, String);

pub(crate) fn read(state: &State, key: &Key) -> Answer {
    match state.variables.get(key) {
        Some(variable) => Answer::json(to_json(key, variable)),
        None => Answer::text(404, "variable not found"),
    }
}

pub(crate) fn delete(state: &mut State, key: &Key, cas: Option<u64>) -> Answer {
    if let Some(conflict) = conflict(state, key, cas) {
        return conflict;
    }
    state.change();
    state.variables.remove(key);
    Answer::text(204, "")
}

pub(crate) fn write(state: &mut State, key: &Key, cas: Option<u64>, operation: Option<&str>, body: &str) -> Answer {
    let Ok(body) = serde_json::from_str::<Body>(body) else { return Answer::text(400, "malformed variable") };
    let items = body.items.unwrap_or_default();
    let size: usize = items.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > LIMIT {
        return Answer::text(400, "variables are limited to 64KiB in total size");
    }
    let now = Instant::now();
    match (operation, body.lock) {
        (None, _) => {
            if let Some(conflict) = conflict(state, key, cas) {
                return conflict;
            }
            put(state, key, Some(items), None);
        }
        (Some("lock-acquire"), Some(lock)) => {
            let known = state.variables.get(key);
            let held = known.is_some_and(|known| known.lock.is_some() || known.free_at.is_some_and(|at| now < at));
            if held {
                return Answer::text(409, "lock already held");
            }
            let (ttl, delay) = (seconds(&lock.ttl), seconds(&lock.delay));
            let id = state.id();
            put(state, key, Some(items), Some(Lock { id, ttl, delay, until: now + ttl }));
        }
        (Some("lock-renew"), Some(lock)) => {
            let held = state.variables.get_mut(key).and_then(|known| known.lock.as_mut());
            let Some(held) = held.filter(|held| held.id == lock.id) else { return Answer::text(409, "lock not held") };
            held.until = now + held.ttl;
        }
        (Some("lock-release"), Some(lock)) => {
            let Some(known) = state.variables.get_mut(key) else { return Answer::text(404, "variable not found") };
            if known.lock.as_ref().is_none_or(|held| held.id != lock.id) {
                return Answer::text(409, "lock not held");
            }
            known.lock = None;
        }
        (Some(_), _) => return Answer::text(400, "missing lock"),
    }
    read(state, key)
}

/// Somebody else holds it, or another version is there.
fn conflict(state: &State, key: &Key, cas: Option<u64>) -> Option<Answer> {
    let known = state.variables.get(key);
    let index = known.map_or(0, |known| known.modified);
    let stale = cas.is_some_and(|cas| cas != index);
    if known.is_some_and(|known| known.lock.is_some()) || stale {
        let body = known.map_or_else(|| json!({}), |known| to_json(key, known));
        return Some(Answer { status: 409, ..Answer::json(body) });
    }
    None
}

fn put(state: &mut State, key: &Key, items: Option<BTreeMap<String, String>>, lock: Option<Lock>) {
    let index = state.change();
    let known = state.variables.remove(key);
    let created = known.as_ref().map_or(index, |known| known.created);
    let items = items.or(known.map(|known| known.items)).unwrap_or_default();
    let variable = Variable { items, created, modified: index, time: nanoseconds(), lock, free_at: None };
    state.variables.insert(key.clone(), variable);
}

fn to_json((namespace, path): &Key, variable: &Variable) -> Value {
    let Variable { items, created, modified, time, lock, .. } = variable;
    let lock = lock.as_ref().map(|lock| {
        json!({ "ID": lock.id, "TTL": format!("{}s", lock.ttl.as_secs()), "LockDelay": format!("{}s", lock.delay.as_secs()) })
    });
    let mut object = json!({
        "Namespace": namespace, "Path": path, "Items": items, "CreateIndex": created, "ModifyIndex": modified,
        "CreateTime": time, "ModifyTime": time,
    });
    if let Some(lock) = lock {
        object["Lock"] = lock;
    }
    object
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs(text.trim_end_matches('s').parse().unwrap_or(15))
}

impl Fake {
    /// The items of a variable of the default namespace.
    pub fn variable(&self, path: &str) -> Option<BTreeMap<String, String>> {
        let key = ("default".to_owned(), path.to_owned());
        self.with(|state| state.variables.get(&key).map(|variable| variable.items.clone()))
    }

    /// Somebody takes the lock of a variable away, as the end of its time does.
    pub fn break_lock(&self, path: &str) {
        let key = ("default".to_owned(), path.to_owned());
        self.with(|state| {
            state.change();
            state.variables.get_mut(&key).into_iter().for_each(|variable| variable.lock = None);
        });
    }
}
