//! What is wrong with objects, said once.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

/// Of the objects that share a problem, so many are named.
const NAMED: usize = 5;

/// With so many problems those of the past are forgotten, and said again when they occur again.
const PROBLEMS: usize = 1_000;

/// Warnings that nobody has taken yet, and which have been said. An object changes again and again, and all pods of a
/// workload share its problem: each would fill a log.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    new: Vec<String>,
    /// The objects that were named with each problem.
    said: HashMap<String, Vec<String>, FxBuildHasher>,
}

impl Warnings {
    /// An object has a problem.
    pub(super) fn add(&mut self, object: &str, problem: &str) {
        if self.said.len() >= PROBLEMS && !self.said.contains_key(problem) {
            self.said.clear();
        }
        let named = self.said.entry(problem.to_owned()).or_default();
        if named.len() >= NAMED || named.iter().any(|known| known == object) {
            return;
        }
        named.push(object.to_owned());
        let others = if named.len() == NAMED { " (further ones with this problem are not named)" } else { "" };
        self.new.push(format!("{object}: {problem}{others}"));
    }

    /// An object is all right: its problems are said again when they occur again.
    pub(super) fn over(&mut self, object: &str) {
        self.said.retain(|_, named| {
            named.retain(|known| known != object);
            !named.is_empty()
        });
    }

    /// Everything since the last call.
    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_once_and_of_many_that_share_a_problem_the_first_are_named() {
        let mut warnings = Warnings::default();
        for round in 0..3 {
            for pod in 0..7 {
                warnings.add(&format!("pod a/{pod}"), "odd");
            }
            warnings.add("pod a/0", "strange");
            assert_eq!(warnings.take().len(), if round == 0 { 6 } else { 0 }, "{round}");
        }
        warnings.over("pod a/0");
        warnings.add("pod a/0", "strange");
        assert_eq!(warnings.take(), ["pod a/0: strange"]);
        for pod in 0..5 {
            warnings.add(&format!("pod b/{pod}"), "odder");
        }
        let last = warnings.take().pop().unwrap();
        assert_eq!(last, "pod b/4: odder (further ones with this problem are not named)");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut warnings = Warnings::default();
        for problem in 0..5 * PROBLEMS {
            warnings.add("pod a/0", &problem.to_string());
        }
        assert!(warnings.said.len() <= PROBLEMS);
    }
}
