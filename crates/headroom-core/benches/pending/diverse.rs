//! The workload of Karpenter's scheduling benchmark: five equal kinds of pods, 400 types of machines.
//!
//! The originals are drawn from a random source that only Go has, so the single pods differ; the distributions are the
//! same, and so is everything that the pods say of each other. All are in one namespace.

use headroom_core::expander::{Chain, Expander};
use headroom_core::limits::Limits;
use headroom_core::policy::{Group, Pending, PendingPolicy, Policy, Selection, Size, Strategy};
use headroom_core::quantity::Resources;
use headroom_core::scheduling::HOSTNAME;
use headroom_core::snapshot::{Builder, PodSpec, Template};

use crate::cluster::{GROUP, MIB, ZONE, ZONES, add_waiting, pod, spread, term};

const SEED: u64 = 42;
const TYPES: i64 = 400;
const CPU: [i64; 5] = [100, 250, 500, 1_000, 1_500];
const MEMORY: [i64; 6] = [100, 256, 512, 1_024, 2_048, 4_096];
const LABELS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// So many pods, a fifth of them plain, a fifth spread over zones, a fifth spread over hosts, a fifth in one zone with
/// others of their label, and a fifth on hosts of their own.
pub(crate) fn waiting(pods: u32) -> Builder {
    let mut builder = Builder::with_capacity(0, pods as usize);
    let mut random = Random(SEED);
    for at in 0..pods {
        add_waiting(&mut builder, &format!("pod-{at}"), 1, &spec(at % 5, &mut random));
    }
    builder
}

fn spec(kind: u32, random: &mut Random) -> PodSpec {
    let (cpu, memory) = (random.pick(&CPU), random.pick(&MEMORY) * MIB);
    let own = random.pick(&LABELS);
    // Which pods a spread constraint counts is drawn apart: most pods are not among those that theirs counts.
    let counted = random.pick(&LABELS);
    match kind {
        1 => PodSpec { spread: vec![spread(counted, ZONE)], ..pod(own, cpu, memory) },
        2 => PodSpec { spread: vec![spread(counted, HOSTNAME)], ..pod(own, cpu, memory) },
        3 => {
            let near = format!("near-{own}");
            PodSpec { pod_affinity: vec![term(&near, ZONE)], ..pod(&near, cpu, memory) }
        }
        4 => PodSpec { pod_anti_affinity: vec![term("nginx", HOSTNAME)], ..pod("nginx", cpu, memory) },
        _ => pod(own, cpu, memory),
    }
}

/// By price, which is estimated, since nobody states it. One group without a maximum for each type and zone. Type k has k cpu, 2k GiB and room for 10k pods, of which the
/// system takes 100m and 10 MiB.
pub(crate) fn policy() -> Policy {
    let types = (1..=TYPES).flat_map(|size| ZONES.map(|zone| (size, zone)));
    let limits = Limits { nodes_per_scale_up: None, ..Limits::default() };
    let expander = Chain::new(vec![Expander::Price, Expander::LeastWaste]).unwrap_or_default();
    let pending = PendingPolicy { limits, expander, ..PendingPolicy::default() };
    Policy { groups: types.map(|(size, zone)| group(size, zone)).collect(), pending, ..Policy::default() }
}

fn group(size: i64, zone: &str) -> Group {
    let name = format!("type-{size}-{zone}");
    let capacity = Resources { pods: 10 * size, ..Resources::new(1_000 * size, 2_048 * size * MIB) };
    let allocatable = capacity.saturating_sub(&Resources::new(100, 10 * MIB));
    let labels = [
        (ZONE, zone),
        ("node.kubernetes.io/instance-type", &format!("type-{size}")),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
    ];
    let select = Selection { labels: [(GROUP, &*name)].into_iter().collect(), capacity: None };
    Group {
        size: Size { min: Some(0), max: Some(u32::MAX) },
        strategy: Strategy::Pending(Pending::default()),
        template: Some(Template { capacity, allocatable, labels: labels.into_iter().collect(), ..Template::default() }),
        ..Group::new(name.clone(), select)
    }
}

/// Numbers that are the same in every run: a linear congruential generator with Knuth's constants.
struct Random(u64);

impl Random {
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        list[(self.0 >> 33) as usize % list.len()]
    }
}
