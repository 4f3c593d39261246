//! How pods start and end, and how many may be down at once.

use headroom_core::policy::Share;
use headroom_sim::scenario::{Life, PodBudget, PodShare};

use super::time::span;
use crate::config::kind::{Kind, share};
use crate::config::problem::Problem;
use crate::config::record::Record;

/// Adds the keys to a workload.
pub(super) fn life_fields<T: AsMut<Life> + 'static>(record: Record<T>) -> Record<T> {
    record
        .field(
            "readyAfter",
            span(),
            |t| &mut t.as_mut().ready_after,
            "How long a pod takes until it is ready once it has a node.",
        )
        .field(
            "stopsIn",
            span(),
            |t| &mut t.as_mut().stops_in,
            "How long a pod takes to end once it is evicted; the longest is its grace period. Its controller makes \
             another one at once.",
        )
        .field(
            "disruptionBudget",
            budget().optional(),
            |t| &mut t.as_mut().budget,
            "The workload's PodDisruptionBudget: evictions beyond it are refused.",
        )
}

fn budget() -> Kind<PodBudget> {
    let start = || (None, None);
    Record::new("workloads.NAME.disruptionBudget", "How many pods must be ready. One of the two.", start)
        .field("minAvailable", pods().optional(), |budget: &mut Limits| &mut budget.0, "At least so many are ready.")
        .field("maxUnavailable", pods().optional(), |budget| &mut budget.1, "At most so many are not.")
        .check(&["minAvailable", "maxUnavailable"], |budget, at, problems| match budget {
            (Some(_), Some(_)) => {
                let message = "`minAvailable` and `maxUnavailable` exclude each other";
                let problem = Problem::at(at.of("maxUnavailable"), message, "keep one of the two");
                problems.add(problem.also(at.of("minAvailable"), "`minAvailable`"));
            }
            (None, None) => {
                let message = "nothing says how many pods must be ready";
                problems.add(Problem::at(
                    at.of("minAvailable"),
                    message,
                    "add `minAvailable: 1` or `maxUnavailable: 1`",
                ));
            }
            _ => {}
        })
        .kind()
        .map(|limits| match limits {
            (Some(share), _) => PodBudget::MinAvailable(share),
            (None, share) => PodBudget::MaxUnavailable(share.unwrap_or(PodShare::Pods(1))),
        })
}

type Limits = (Option<PodShare>, Option<PodShare>);

fn pods() -> Kind<PodShare> {
    share("a number of pods such as 1, or a percentage such as 30%").map(|share| match share {
        Share::Nodes(pods) => PodShare::Pods(pods),
        Share::Percent(percent) => PodShare::Percent(percent),
    })
}
