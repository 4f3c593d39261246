//! What users have paused, as it is written: a JSON object. A key is the name of a group, or `*` for everything; a value is
//! the instant until which it is paused, or null.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{NotebookError, Pause, Pauses};

const EVERYTHING: &str = "*";

impl Pauses {
    /// What `text` says, which stands at `place`. Nothing is written for nothing.
    pub fn read(text: &str, place: &str) -> Result<Self, NotebookError> {
        if text.is_empty() {
            return Ok(Pauses::default());
        }
        let wrong =
            |error: serde_json::Error| NotebookError::Pauses { place: place.to_owned(), reason: error.to_string() };
        let mut written: BTreeMap<String, Option<Timestamp>> = serde_json::from_str(text).map_err(wrong)?;
        let pause = |until: Option<Timestamp>| until.map_or(Pause::Open, Pause::Until);
        Ok(Pauses {
            all: written.remove(EVERYTHING).map(pause),
            groups: written.into_iter().map(|(name, until)| (name, pause(until))).collect(),
        })
    }

    /// As it is written; None when nothing is paused.
    pub fn write(&self) -> Option<String> {
        let groups = self.groups.iter().map(|(name, pause)| (name.as_str(), *pause));
        let all = self.all.map(|pause| (EVERYTHING, pause));
        let until = |pause| match pause {
            Pause::Open => None,
            Pause::Until(until) => Some(until),
        };
        let written: BTreeMap<&str, Option<Timestamp>> =
            groups.chain(all).map(|(name, pause)| (name, until(pause))).collect();
        (!written.is_empty()).then(|| serde_json::json!(written).to_string())
    }

    /// Pauses a group, or everything; None resumes it. Whether that changes anything.
    pub fn set(&mut self, group: Option<&str>, pause: Option<Pause>) -> bool {
        let before = match (group, pause) {
            (None, _) => std::mem::replace(&mut self.all, pause),
            (Some(name), Some(pause)) => self.groups.insert(name.to_owned(), pause),
            (Some(name), None) => self.groups.remove(name),
        };
        before != pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.write(), None);
        let until = Pause::Until("2026-03-02T10:00:00Z".parse().unwrap());
        assert!(pauses.set(Some("web"), Some(until)) && !pauses.set(Some("web"), Some(until)));
        assert!(pauses.set(None, Some(Pause::Open)));
        let text = pauses.write().unwrap();
        assert_eq!(text, r#"{"*":null,"web":"2026-03-02T10:00:00Z"}"#);
        assert_eq!(Pauses::read(&text, "here").unwrap(), pauses);
        assert!(pauses.set(Some("web"), None) && pauses.set(None, None) && !pauses.set(None, None));
        assert_eq!(pauses, Pauses::read("", "here").unwrap());
        let error = Pauses::read("[]", "the file").unwrap_err().to_string();
        assert!(error.starts_with("the file is no JSON object of instants: "), "{error}");
    }
}
