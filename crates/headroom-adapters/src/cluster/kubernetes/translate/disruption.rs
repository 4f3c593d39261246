//! Disruption budgets.

use std::sync::Arc;

use headroom_core::snapshot::{Change, DisruptionBudget};

use super::constraints::label_selector;
use super::pod::Specs;
use super::{Malformed, Translated, name_of, namespace_of};
use crate::cluster::kubernetes::object;

/// Translates a disruption budget. As long as its controller has not seen the newest spec, it allows nothing.
pub fn disruption_budget(
    object: &object::PodDisruptionBudget<'_>,
    specs: &mut Specs,
) -> Result<Translated<Change>, Malformed> {
    let object::PodDisruptionBudget { metadata, spec, status } = object;
    let mut warnings = Vec::new();
    let (selector, odd) = label_selector(spec.selector.as_ref());
    if !odd.is_empty() {
        warnings.push(format!("selector: {} is left out", odd.join(", ")));
    }
    specs.select_by(selector.as_ref(), &[]);
    let always_allow_unready = match &*spec.unhealthy_pod_eviction_policy {
        "AlwaysAllow" => true,
        "" | "IfHealthyBudget" => false,
        other => {
            warnings.push(format!("unknown unhealthyPodEvictionPolicy {other:?} counts as IfHealthyBudget"));
            false
        }
    };
    let stale = status.observed_generation < metadata.generation;
    let budget = DisruptionBudget {
        namespace: Arc::from(namespace_of(metadata)),
        name: Box::from(name_of(metadata)?),
        selector,
        allowed: if stale { 0 } else { count(status.disruptions_allowed) },
        healthy: count(status.current_healthy),
        wanted: count(status.desired_healthy),
        always_allow_unready,
    };
    Ok(Translated { value: Change::DisruptionBudget(Box::new(budget)), warnings })
}

fn count(pods: Option<i64>) -> u32 {
    u32::try_from(pods.unwrap_or(0).max(0)).unwrap_or(u32::MAX)
}
