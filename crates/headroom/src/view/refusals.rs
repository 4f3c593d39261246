//! What is refused, a line each.

use std::collections::BTreeMap;

use headroom_core::plan::{EqualPods, Refusal, Subject};
use headroom_core::policy::RunsOn;

use super::scale_ups::kinds;
use super::with_hint;
use super::words::count;

/// One line for each refusal on such a cluster. Pods that are refused for one reason share a line.
pub(super) fn refusals<'r>(refusals: impl IntoIterator<Item = &'r Refusal>, on: RunsOn) -> Vec<String> {
    let mut lines: Vec<(Vec<EqualPods>, &Refusal)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for refusal in refusals {
        let Subject::Pods { first, count } = &refusal.subject else {
            lines.push((Vec::new(), refusal));
            continue;
        };
        let line = *known.entry(refusal.why.to_string()).or_insert(lines.len());
        if line == lines.len() {
            lines.push((Vec::new(), refusal));
        }
        lines[line].0.push(EqualPods { first: first.clone(), count: *count });
    }
    let line = |(pods, refusal): &(Vec<EqualPods>, &Refusal)| match pods.as_slice() {
        [] | [_] => self::refusal(refusal, on),
        several => {
            let all: u64 = several.iter().map(|pods| u64::from(pods.count)).sum();
            let text = format!("{} ({}): {}", count(all, "pod"), kinds(several), refusal.why);
            with_hint(text, refusal.why.hint(on))
        }
    };
    lines.iter().map(line).collect()
}

/// One refusal on one line.
pub(super) fn refusal(refusal: &Refusal, on: RunsOn) -> String {
    with_hint(refusal.to_string(), refusal.why.hint(on))
}

#[cfg(test)]
mod tests {
    use headroom_core::plan::Why;

    use super::*;

    #[test]
    fn pods_with_one_reason_share_a_line() {
        let pods = |first: &str, count, why| Refusal { subject: Subject::Pods { first: first.into(), count }, why };
        let group = |why| Refusal { subject: Subject::Group("web".into()), why };
        let all = [
            group(Why::ModeOff),
            pods("a/a", 1, Why::NoGroupGrows),
            pods("a/b", 3, Why::SeveralGroups { groups: vec!["x".into(), "y".into()] }),
            pods("a/c", 2, Why::NoGroupGrows),
            group(Why::ModeOff),
        ];
        let lines = refusals(&all, RunsOn::Kubernetes);
        assert_eq!(
            lines.iter().map(|line| line.split("; \u{1b}").next().unwrap()).collect::<Vec<_>>(),
            [
                "group web: mode is off",
                "3 pods (a/a; a/c and 1 like it): fits on no node that is there, and no group may grow now",
                "pod a/b and 2 like it: matches the groups x and y, so none of them acts on it",
                "group web: mode is off",
            ]
        );
    }
}
