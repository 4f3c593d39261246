//! The arithmetic of the utilisation algorithm (`seeds/utilisation-algorithm.md`), in exact integers.

use std::cmp::Ordering;

use crate::plan::{Resource, Usage};
use crate::policy::Percent;
use crate::quantity::ceil_div;

/// The fewest nodes of `per_node` each that bring `requests` to `above` or less of the capacity; None when nodes that
/// offer nothing of the resource cannot help.
///
/// The seed writes it as ceil(n * (percent - threshold) / threshold), which is the same for equal nodes. Here the sums
/// are real and only new nodes are taken to be equal, so mixed sizes are counted right, and nothing is rounded on the
/// way.
pub fn nodes_to_add(requests: i128, capacity: i128, per_node: i128, above: Percent) -> Option<u32> {
    let above = i128::from(above.0);
    let excess = requests.saturating_mul(10_000).saturating_sub(capacity.saturating_mul(above));
    if excess <= 0 {
        return Some(0);
    }
    let each = per_node.saturating_mul(above);
    (each > 0).then(|| u32::try_from(ceil_div(excess, each)).unwrap_or(u32::MAX))
}

/// How a share compares with a threshold: exactly, so that 70 % is neither above nor below 70. No share (no capacity)
/// compares as below when nothing is asked for and as above otherwise.
pub fn compare(usage: &Usage, threshold: Percent) -> Ordering {
    if usage.capacity <= 0 {
        return if usage.requests > 0 { Ordering::Greater } else { Ordering::Less };
    }
    let share = usage.requests.saturating_mul(10_000);
    share.cmp(&usage.capacity.saturating_mul(i128::from(threshold.0)))
}

/// The busier of cpu and memory; cpu when both are equal.
pub fn busiest<'u>(cpu: &'u Usage, memory: &'u Usage) -> &'u Usage {
    let share = |usage: &Usage| (usage.requests, usage.capacity);
    if is_larger(share(memory), share(cpu)) { memory } else { cpu }
}

/// Whether a share is larger than another, each given as what is requested and what there is.
pub(crate) fn is_larger((requests, capacity): (i128, i128), (others, of): (i128, i128)) -> bool {
    requests.saturating_mul(of) > others.saturating_mul(capacity)
}

/// Cpu and memory of a pair of sums.
pub fn usages(requests: &crate::quantity::Totals, capacity: &crate::quantity::Totals) -> [Usage; 2] {
    [
        Usage::new(Resource::Cpu, requests.cpu, capacity.cpu),
        Usage::new(Resource::Memory, requests.memory, capacity.memory),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_example() {
        let cpu = Usage::new(Resource::Cpu, 5000, 2000);
        let memory = Usage::new(Resource::Memory, 1000, 8000);
        assert_eq!(format!("{}% {}%", cpu.percent.unwrap(), memory.percent.unwrap()), "250% 12.5%");
        assert_eq!(busiest(&cpu, &memory), &cpu);
        assert_eq!(nodes_to_add(5000, 2000, 1000, Percent::whole(70)), Some(6));
        let after = [Usage::new(Resource::Cpu, 5000, 8000), Usage::new(Resource::Memory, 1000, 32000)];
        let percents: Vec<String> = after.iter().map(|usage| usage.percent.unwrap().to_string()).collect();
        // 3.125 prints with two decimals.
        assert_eq!(percents, ["62.5", "3.13"]);
        assert_eq!(Usage::new(Resource::Memory, 1000, 32000).percent, crate::quantity::Ratio::new(3125, 1000));
    }

    #[test]
    fn from_zero() {
        assert_eq!(nodes_to_add(1800, 0, 1000, Percent::whole(70)), Some(3));
        assert_eq!(nodes_to_add(1800, 0, 0, Percent::whole(70)), None);
    }

    #[test]
    fn equal_is_neither_above_nor_below() {
        let usage = Usage::new(Resource::Cpu, 7000, 10_000);
        assert_eq!(compare(&usage, Percent::whole(70)), Ordering::Equal);
        assert_eq!(compare(&Usage::new(Resource::Cpu, 7040, 10_000), Percent::whole(70)), Ordering::Greater);
    }
}
