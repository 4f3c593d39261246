//! Room for the spare copies that workloads ask for by annotation (S7).

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::owners::{running, top};
use super::{Wanted, share};
use crate::plan::{Placeholder, Warning};
use crate::round::Round;
use crate::snapshot::{ClassId, ClassView, PodKind, PodSpec, SharedSpec, Snapshot};

/// The copies of every workload that asks for some, then those of every pod that does and whose workload says nothing.
pub(super) fn wanted(round: &mut Round<'_>) -> Vec<Wanted> {
    let mut wanted = of_workloads(round);
    wanted.extend(of_pods(round));
    wanted
}

/// Whether pods like this one, or what makes them, ask for no spare copy.
pub(super) fn wants_none(snapshot: &Snapshot, spec: &PodSpec) -> bool {
    let above = top(snapshot, &spec.namespace, spec.controller.as_deref());
    let text = above.and_then(|workload| workload.spare_copies.as_ref()).or(spec.spare_copies.as_ref());
    let copies = text.and_then(|text| Copies::read(text));
    matches!(copies, Some(Copies::Number(0) | Copies::Percent(0)))
}

/// What the annotation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copies {
    Number(u32),
    /// Of the replicas, rounded up.
    Percent(u32),
}

impl Copies {
    /// Reads the annotation; None when it makes no sense.
    fn read(text: &str) -> Option<Copies> {
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let text = text.trim();
        match text.strip_suffix('%') {
            Some(percent) => number(percent).map(Copies::Percent),
            None if text.is_empty() => Some(Copies::Number(1)),
            None => number(text).map(Copies::Number),
        }
    }

    /// For a workload of so many replicas.
    fn of(self, replicas: u32) -> u32 {
        match self {
            Copies::Number(copies) => copies,
            Copies::Percent(percent) => share(percent, replicas),
        }
    }

    /// For so many pods that each ask for it.
    fn of_pods(self, pods: u32) -> u32 {
        match self {
            Copies::Number(each) => each.saturating_mul(pods),
            Copies::Percent(_) => self.of(pods),
        }
    }
}

fn of_workloads(round: &mut Round<'_>) -> Vec<Wanted> {
    let snapshot = round.snapshot;
    let mut running = None;
    let mut wanted = Vec::new();
    for workload in snapshot.workloads() {
        let Some(text) = &workload.spare_copies else { continue };
        let (namespace, reference) = (&workload.spec.namespace, workload.reference());
        let of: Box<str> = format!("{namespace}/{reference}").into();
        // Without its Deployment nobody can tell the ReplicaSet of an old revision from one that is scaled to nothing.
        let is_old = || *workload.kind == *"ReplicaSet" && workload.replicas == 0;
        let controller = workload.controller.as_deref();
        if controller.is_some() && (is_old() || top(snapshot, namespace, controller).is_some()) {
            continue;
        }
        let Some(copies) = read(round, &of, text) else { continue };
        let running =
            running.get_or_insert_with(|| self::running(snapshot, |workload| workload.spare_copies.is_some()));
        let spec = running.get(&(Arc::clone(namespace), reference.into())).unwrap_or(&workload.spec).clone();
        wanted.push(Wanted { of: Placeholder::Copy { of }, spec, count: copies.of(workload.replicas) });
    }
    wanted
}

fn of_pods(round: &mut Round<'_>) -> Vec<Wanted> {
    let snapshot = round.snapshot;
    let asks = |class: &ClassView<'_>| class.spec.kind == PodKind::Workload && class.spec.spare_copies.is_some();
    let asking: Vec<ClassView<'_>> = snapshot.classes().filter(asks).collect();
    let mut names = None;
    let mut wanted: BTreeMap<Box<str>, (SharedSpec, u32)> = BTreeMap::new();
    for class in asking {
        let (Some(text), Some(spec)) = (&class.spec.spare_copies, snapshot.spec(class.id)) else { continue };
        let above = top(snapshot, &spec.namespace, spec.controller.as_deref());
        if above.is_some_and(|workload| workload.spare_copies.is_some()) {
            continue;
        }
        let owner = above.map(|workload| workload.reference()).or(spec.controller.as_deref().map(str::to_owned));
        let mut own_name = || names.get_or_insert_with(|| first_names(snapshot)).get(&class.id).cloned();
        let name = owner.or_else(|| own_name().map(|name| format!("Pod/{name}"))).unwrap_or_default();
        let of: Box<str> = format!("{}/{name}", spec.namespace).into();
        let Some(copies) = read(round, &of, text) else { continue };
        let count = copies.of_pods(class.bound.saturating_add(class.pending()));
        let known = wanted.entry(of).or_insert_with(|| (spec.clone(), 0));
        known.1 = known.1.saturating_add(count);
    }
    let wanted = wanted.into_iter();
    wanted.map(|(of, (spec, count))| Wanted { of: Placeholder::Copy { of }, spec, count }).collect()
}

fn read(round: &mut Round<'_>, of: &str, text: &str) -> Option<Copies> {
    let copies = Copies::read(text);
    if copies.is_none() {
        round.warn(Warning::SpareCopiesUnreadable { of: of.into(), value: text.into() });
    }
    copies
}

/// The first pod by name of every class that nobody controls and that asks for copies.
fn first_names(snapshot: &Snapshot) -> FxHashMap<ClassId, String> {
    let mut names: FxHashMap<ClassId, String> = FxHashMap::default();
    let bound = snapshot.nodes().flat_map(|view| view.pods());
    let waiting = snapshot.classes().filter_map(|class| class.first_pending());
    for pod in bound.chain(waiting).filter(|pod| pod.spec.controller.is_none() && pod.spec.spare_copies.is_some()) {
        let name = names.entry(pod.class).or_insert_with(|| pod.name.to_owned());
        if *pod.name < **name {
            *name = pod.name.to_owned();
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_a_percentage_and_nothing_else() {
        let read: Vec<_> = ["", "3", " 10% ", "0", "0%"].into_iter().filter_map(Copies::read).collect();
        let number = Copies::Number;
        assert_eq!(read, [number(1), number(3), Copies::Percent(10), number(0), Copies::Percent(0)]);
        for wrong in ["-1", "1.5", "yes", "%", "+2", "4294967296", "１"] {
            assert_eq!(Copies::read(wrong).filter(|_| wrong != "%"), None, "{wrong}");
        }
        assert_eq!(Copies::read("%"), None);
    }

    #[test]
    fn a_percentage_is_rounded_up() {
        assert_eq!([0, 1, 10, 11, 25].map(|replicas| Copies::Percent(10).of(replicas)), [0, 1, 1, 2, 3]);
        assert_eq!(Copies::Percent(u32::MAX).of(u32::MAX), u32::MAX);
    }
}
