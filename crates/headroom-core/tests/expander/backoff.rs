//! Back-off, step by step.

use std::collections::BTreeMap;

use headroom_core::backoff::{Backoffs, Cause, Key, Settings};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::{Case, read};

pub(crate) const CASES: &str = include_str!("backoff.json");

/// All times in milliseconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Input {
    initial: i64,
    max: i64,
    forget_after: i64,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Step {
    at: i64,
    fail: Option<String>,
    succeed: Option<String>,
    #[serde(default)]
    backed_off: BTreeMap<String, bool>,
    /// How many entries are left once stale ones are forgotten.
    remembered: Option<usize>,
}

fn key(group: &str) -> Key {
    Key { group: group.into(), ..Key::default() }
}

#[test]
fn every_step_has_its_answer() {
    for Case { case, input, .. } in read::<Case<Input>>(CASES) {
        let settings = Settings {
            initial: SignedDuration::from_millis(input.initial),
            max: SignedDuration::from_millis(input.max),
            forget_after: SignedDuration::from_millis(input.forget_after),
        };
        let mut backoffs = Backoffs::default();
        for step in input.steps {
            let now = Timestamp::from_millisecond(step.at).unwrap();
            if let Some(group) = step.fail {
                backoffs.failed(key(&group), Cause::NeverCame, now, &settings);
            }
            if let Some(group) = step.succeed {
                backoffs.succeeded(&key(&group));
            }
            for (group, expected) in step.backed_off {
                assert_eq!(backoffs.active(&key(&group), now).is_some(), expected, "{case}: {group} at {now}");
            }
            if let Some(remembered) = step.remembered {
                backoffs.forget_stale(now, &settings);
                assert_eq!(backoffs.iter().count(), remembered, "{case}: at {now}");
            }
        }
    }
}
