//! Room for CapacityBuffer objects (`spec/cluster-autoscaler.md` 6.2).

use std::sync::Arc;

use super::owners::running;
use super::{Wanted, share};
use crate::plan::{BufferProblem, Placeholder, Warning};
use crate::round::Round;
use crate::snapshot::{CapacityBuffer, SharedSpec, Snapshot, Workload};

/// The kind of the objects that a buffer's `podTemplateRef` names.
const POD_TEMPLATE: &str = "PodTemplate";

/// The pods of every buffer that is for us. What is wrong with one becomes a warning, and it keeps nothing.
pub(super) fn wanted(round: &mut Round<'_>) -> Vec<Wanted> {
    let snapshot = round.snapshot;
    let mut wanted = Vec::new();
    for buffer in snapshot.capacity_buffers() {
        if !buffer.is_for_us() {
            continue;
        }
        let name: Box<str> = format!("{}/{}", buffer.namespace, buffer.name).into();
        match pods(snapshot, buffer) {
            Ok((spec, count)) => wanted.push(Wanted { of: Placeholder::Buffer { buffer: name }, spec, count }),
            Err(problem) => round.warn(Warning::BufferKeepsNothing { buffer: name, problem }),
        }
    }
    wanted
}

/// What the pods of a buffer are like, and how many they are: the larger of its number and its percentage, as far as its
/// limits allow, or as many as they allow.
fn pods(snapshot: &Snapshot, buffer: &CapacityBuffer) -> Result<(SharedSpec, u32), BufferProblem> {
    let reference: Box<str> = match (&buffer.pod_template, &buffer.scalable) {
        (Some(name), None) => format!("{POD_TEMPLATE}/{name}").into(),
        (None, Some(reference)) => reference.clone(),
        (None, None) | (Some(_), Some(_)) => return Err(BufferProblem::NotOneReference),
    };
    let Some(workload) = snapshot.workload(&buffer.namespace, &reference) else {
        return Err(BufferProblem::NotFound { reference });
    };
    let spec = pod_of(snapshot, workload);
    let percentage = buffer.percentage.filter(|_| buffer.scalable.is_some());
    let scaled = percentage.map(|percentage| share(percentage, workload.replicas));
    let count = match (buffer.replicas.max(scaled), buffer.limits.pods(&spec.requests)) {
        (Some(count), Some(most)) => count.min(most),
        (Some(count), None) => count,
        (None, Some(most)) => most,
        (None, None) => return Err(BufferProblem::NoCount),
    };
    Ok((spec, count))
}

fn pod_of(snapshot: &Snapshot, workload: &Workload) -> SharedSpec {
    let key = (Arc::clone(&workload.spec.namespace), workload.reference().into());
    let mut running = running(snapshot, |other| std::ptr::eq(other, workload));
    running.remove(&key).unwrap_or_else(|| workload.spec.clone())
}
