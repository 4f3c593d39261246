//! Dynamic resource allocation: pods with resource claims are refused, since devices are not simulated.

use super::{Demand, Host, Misfit};

/// The pod has no resource claim.
pub(super) fn check(demand: &Demand<'_>, _: &Host<'_>) -> Result<(), Misfit> {
    match demand.spec.resource_claims.len() {
        0 => Ok(()),
        count => Err(Misfit::ResourceClaims { count }),
    }
}
