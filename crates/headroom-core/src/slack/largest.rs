//! Room for one more of the largest pods: the seed's version 2.

use super::copies::wants_none;
use super::ground::Ground;
use super::{Wanted, plain};
use crate::plan::Placeholder;
use crate::policy::Largest;
use crate::quantity::Resources;
use crate::snapshot::{ClassView, SharedSpec};

/// A placeholder like the pod that requests most cpu and one like the pod that requests most memory, or only one where both
/// are the same. Workloads that ask for no spare copy are left out (R6).
pub(super) fn wanted(ground: &Ground<'_>, largest: Largest) -> Vec<Wanted> {
    let counting: Vec<&ClassView<'_>> =
        ground.pods.iter().map(|(class, _)| class).filter(|class| !wants_none(ground.snapshot, class.spec)).collect();
    let by_cpu = counting.iter().rev().max_by_key(|class| (class.spec.requests.cpu, class.spec.requests.memory));
    let by_memory = counting.iter().rev().max_by_key(|class| (class.spec.requests.memory, class.spec.requests.cpu));
    let (Some(by_cpu), Some(by_memory)) = (by_cpu, by_memory) else { return Vec::new() };
    let (cpu, memory) = (by_cpu.spec.requests.cpu, by_memory.spec.requests.memory);
    let like = |class: &ClassView<'_>| SharedSpec::new(class.spec.clone());
    let one = |of: Placeholder, spec: SharedSpec| Wanted { of, spec, count: 1 };
    match largest {
        Largest::Off => Vec::new(),
        Largest::Combined => vec![one(Placeholder::LargestCombined, plain(Resources::new(cpu, memory)))],
        Largest::Pods => {
            let mut wanted = Vec::new();
            if cpu > 0 {
                wanted.push(one(Placeholder::LargestCpu, like(by_cpu)));
            }
            let covered = !wanted.is_empty() && by_cpu.spec.requests.memory >= memory;
            if memory > 0 && !covered {
                wanted.push(one(Placeholder::LargestMemory, like(by_memory)));
            }
            wanted
        }
    }
}
