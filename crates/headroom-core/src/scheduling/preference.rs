//! What a pod would rather have: it breaks ties between nodes and never keeps a pod away.

use super::{Host, node_affinity, taints};
use crate::snapshot::PodSpec;

/// What one `PreferNoSchedule` taint weighs, in the units of a preferred node affinity (1 to 100).
const TAINT: i64 = 100;

/// What one more pod in a domain weighs that pods would rather be spread over, in the same units.
pub(super) const SPREAD: i64 = 100;

/// How much a pod would like to run on a node: the weights of the preferred node affinity terms that hold, less a
/// hundred for each `PreferNoSchedule` taint that it does not tolerate. Higher is better; a pod without preferences
/// gives 0 to every node without such taints.
pub(super) fn score(spec: &PodSpec, host: &Host<'_>) -> i64 {
    let preferred = spec.preferred_node_affinity.iter();
    let preferred = preferred.filter(|preference| node_affinity::term_holds(&preference.term, host));
    let weights: i64 = preferred.map(|preference| i64::from(preference.weight)).sum();
    let unwelcome = i64::try_from(taints::unwelcome(&spec.tolerations, host.taints)).unwrap_or(i64::MAX / TAINT);
    weights.saturating_sub(unwelcome.saturating_mul(TAINT))
}
