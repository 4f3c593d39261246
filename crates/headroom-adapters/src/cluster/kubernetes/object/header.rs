//! What names an object whose other fields cannot be read, or do not matter.

use serde::Deserialize;

use super::Text;

/// An object's name and no more.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Header<'a> {
    #[serde(borrow)]
    metadata: Name<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Name<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
}

impl Header<'_> {
    /// Empty when it has none.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Empty when it has none.
    pub fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    /// `pod default/web`, as much of it as is known, for an object of this kind (`Pod`).
    pub fn describe(&self, kind: &str) -> String {
        let kind = kind.to_lowercase();
        match (self.name(), self.namespace()) {
            ("", _) => format!("a {kind} without a name"),
            (name, "") => format!("{kind} {name}"),
            (name, namespace) => format!("{kind} {namespace}/{name}"),
        }
    }
}
