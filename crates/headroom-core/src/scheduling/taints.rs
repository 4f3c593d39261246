//! Taints and tolerations, and cordoned nodes, which count as tainted.

use super::{Demand, Host, Misfit};
use crate::snapshot::{Effect, Taint, Toleration};

/// The taint that a cordoned node carries in effect.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The node is not cordoned, or the pod tolerates that.
pub(super) fn check_unschedulable(demand: &Demand<'_>, host: &Host<'_>) -> Result<(), Misfit> {
    if !host.unschedulable {
        return Ok(());
    }
    let cordon = Taint { key: UNSCHEDULABLE.into(), value: "".into(), effect: Effect::NoSchedule };
    if tolerated(&demand.spec.tolerations, &cordon) { Ok(()) } else { Err(Misfit::Unschedulable) }
}

/// The pod tolerates every taint that keeps pods away.
pub(super) fn check(demand: &Demand<'_>, host: &Host<'_>) -> Result<(), Misfit> {
    match untolerated(&demand.spec.tolerations, host.taints) {
        Some(taint) => Err(Misfit::Taint { taint: taint.clone() }),
        None => Ok(()),
    }
}

/// The first taint that keeps pods with these tolerations away. One with the effect `PreferNoSchedule` never does.
pub(super) fn untolerated<'a>(tolerations: &[Toleration], taints: &'a [Taint]) -> Option<&'a Taint> {
    taints.iter().find(|taint| taint.effect != Effect::PreferNoSchedule && !tolerated(tolerations, taint))
}

/// How many taints would rather have pods with these tolerations elsewhere.
pub(super) fn unwelcome(tolerations: &[Toleration], taints: &[Taint]) -> usize {
    taints.iter().filter(|taint| taint.effect == Effect::PreferNoSchedule && !tolerated(tolerations, taint)).count()
}

fn tolerated(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|toleration| {
        toleration.effect.is_none_or(|effect| effect == taint.effect)
            && (toleration.key.is_empty() || toleration.key == taint.key)
            && (toleration.exists || toleration.value == taint.value)
    })
}
