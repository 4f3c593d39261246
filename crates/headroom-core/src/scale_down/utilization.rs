//! How much of a node is in use (`spec/cluster-autoscaler.md` 4.2).

use crate::plan::{Kept, Resource, Usage};
use crate::policy::{Percent, ScaleDown};
use crate::pricing::UnitPrices;
use crate::quantity::{Resources, Totals};
use crate::snapshot::{ClassId, NodeView, PodKind, PodView, Snapshot};
use crate::strategy::utilization::is_larger;

/// Which pods count for nothing.
pub(super) struct Ignored<'a> {
    pub(super) settings: &'a ScaleDown,
    /// Pods of a lower priority hold no node.
    pub(super) expendable_below: i32,
    /// By class, whether its pods may count for nothing; empty when those of no class do.
    pub(super) classes: &'a [bool],
}

/// By class, whether its pods may count for nothing: those of low priority, and those that belong to their node. Empty when
/// there is no such class.
pub(super) fn ignorable(snapshot: &Snapshot, expendable_below: i32) -> Vec<bool> {
    let ignorable = snapshot.classes().filter(|class| {
        let belongs = matches!(class.spec.kind, PodKind::Static | PodKind::Mirror);
        belongs || class.spec.priority < expendable_below
    });
    let mut classes = Vec::new();
    for class in ignorable {
        classes.resize(snapshot.class_slots(), false);
        classes.get_mut(class.id.0 as usize).into_iter().for_each(|ignorable| *ignorable = true);
    }
    classes
}

/// The share of the resource of which most is in use, and the share up to which the node is idle. Of a node with GPUs only
/// the GPUs count.
pub(super) fn utilization(
    view: &NodeView<'_>,
    ignored: &Ignored<'_>,
    prices: &UnitPrices,
    stuck: impl Fn(&PodView<'_>) -> bool,
) -> Result<(Usage, Percent), Kept> {
    let offered = &view.node.allocatable;
    let mut used = view.sums.used.clone();
    let mut away = Totals::default();
    let ScaleDown { ignore_daemon_sets, ignore_mirror_pods, threshold, gpu_threshold, .. } = ignored.settings;
    if *ignore_daemon_sets {
        away = view.sums.daemon_sets.clone();
        subtract(&mut used, &view.sums.daemon_sets);
    }
    let ignorable = |class: ClassId| ignored.classes.get(class.0 as usize).is_some_and(|ignorable| *ignorable);
    let some_count_for_nothing = view.has_deleting() || !ignored.classes.is_empty();
    let looked_at = some_count_for_nothing.then(|| view.pods_where(|class, deleting| deleting || ignorable(class)));
    for pod in looked_at.into_iter().flatten() {
        let belongs = matches!(pod.spec.kind, PodKind::Static | PodKind::Mirror);
        let nothing = pod.blocks_removal() && (pod.spec.priority < ignored.expendable_below || stuck(&pod));
        if belongs && *ignore_mirror_pods {
            away += &pod.spec.requests;
        }
        if nothing || (belongs && *ignore_mirror_pods) {
            used -= &pod.spec.requests;
        }
    }
    let gpu = offered.extended.iter().find(|(name, _)| prices.gpu_resources.iter().any(|gpu| **gpu == **name));
    if let Some((name, amount)) = gpu {
        return Ok((
            Usage::new(Resource::Extended(name.clone()), used.extended(name), (*amount).into()),
            *gpu_threshold,
        ));
    }
    let Resources { cpu, memory, .. } = offered;
    let cpu = (used.cpu, i128::from(*cpu) - away.cpu);
    let memory = (used.memory, i128::from(*memory) - away.memory);
    if cpu.1 <= 0 || memory.1 <= 0 {
        return Err(Kept::NoCapacity);
    }
    let (busiest, (used, offered)) =
        if is_larger(memory, cpu) { (Resource::Memory, memory) } else { (Resource::Cpu, cpu) };
    Ok((Usage::new(busiest, used, offered), *threshold))
}

fn subtract(from: &mut Totals, what: &Totals) {
    from.cpu -= what.cpu;
    from.memory -= what.memory;
    for (name, amount) in &mut from.extended {
        *amount -= what.extended(name);
    }
}
