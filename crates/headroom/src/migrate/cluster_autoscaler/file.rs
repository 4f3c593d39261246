//! The keys of `headroom.yaml` above its groups, in a fixed order and with their comments.

use crate::migrate::yaml::comment;

/// The keys at the top, in the order in which they are written.
const ORDER: [&str; 14] = [
    "interval",
    "http",
    "metrics",
    "leaderElection",
    "cordon",
    "expander",
    "priorities",
    "limits",
    "balanceSimilar",
    "balanceIgnoreLabels",
    "backoff",
    "expendablePodsBelowPriority",
    "scaleDown",
    "slack",
];

/// Keys with their values.
#[derive(Default)]
pub(super) struct Keys(Vec<Key>);

struct Key {
    /// From the top, such as `scaleDown` and `unneededTime`.
    path: Vec<String>,
    /// YAML in one line; empty for a comment that stands where a key would.
    value: String,
    comments: Vec<String>,
}

impl Keys {
    /// Sets the key at `path`, whose parts have dots between them, to `value`, which is YAML in one line.
    pub(super) fn set(&mut self, path: &str, value: impl ToString) {
        self.noted(path, value, None::<&str>);
    }

    /// The same, with comments above it.
    pub(super) fn noted(
        &mut self,
        path: &str,
        value: impl ToString,
        comments: impl IntoIterator<Item = impl ToString>,
    ) {
        let path = path.split('.').map(str::to_owned).collect();
        let comments = comments.into_iter().map(|comment| comment.to_string()).collect();
        self.0.push(Key { path, value: value.to_string(), comments });
    }

    /// The lines of all keys.
    pub(super) fn write(&self) -> String {
        let mut out = String::new();
        for top in ORDER {
            let keys: Vec<&Key> =
                self.0.iter().filter(|key| key.path.first().is_some_and(|part| part == top)).collect();
            write(&keys, 0, &mut out);
        }
        out
    }
}

/// Writes keys that are alike in the first `depth` parts of their paths.
fn write(keys: &[&Key], depth: usize, out: &mut String) {
    let indent = 2 * depth;
    let mut done: Vec<&str> = Vec::new();
    for key in keys {
        let Some(part) = key.path.get(depth).filter(|part| !done.contains(&&***part)) else { continue };
        done.push(part);
        if key.path.len() > depth + 1 {
            let below: Vec<&Key> = keys.iter().copied().filter(|key| key.path.get(depth) == Some(part)).collect();
            // A map of nothing but comments would be no map.
            if below.iter().any(|key| !key.value.is_empty()) {
                out.push_str(&format!("{:indent$}{part}:\n", ""));
            }
            write(&below, depth + 1, out);
            continue;
        }
        key.comments.iter().for_each(|text| out.push_str(&comment(indent, text)));
        if !key.value.is_empty() {
            out.push_str(&format!("{:indent$}{part}: {}\n", "", key.value));
        }
    }
}
