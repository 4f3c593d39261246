//! What is wrong between two keys of one map.

use crate::config::problem::Problem;
use crate::config::record::Places;

/// A problem between two keys, of which at least one is written; the other may be a default.
pub(super) fn wrong_pair(at: &Places, message: String, (one, other): (&str, &str), hint: &str) -> Problem {
    let message = match (at.has(one), at.has(other)) {
        (true, false) => format!("{message}, its default"),
        (false, true) => format!("{message}; the former is its default"),
        _ => message,
    };
    let problem = Problem::at(at.written(one, other), message, hint);
    match at.has(one) && at.has(other) {
        true => problem.also(at.of(other), format!("`{other}`")),
        false => problem,
    }
}
