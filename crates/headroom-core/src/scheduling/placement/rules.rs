//! What binds classes to the pods around them: makes the counters, and tells each class which ones it moves and asks.

use std::slice;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::class::{AntiRule, Class, Rules, SpreadRule, Statics, Wish, Wishes};
use super::counter::{Counter, Scope};
use super::selection::{Counted, Index, Selection, Wanted, wanted};
use super::shape::{Key, Shapes};
use super::table::Table;
use crate::scheduling::selector::{narrow, selects};
use crate::scheduling::{node_affinity, preference, shares};
use crate::snapshot::{HostPort, Labels, NodeTerm, PodSpec, SharedSpec, Snapshot, Spread, Toleration};

/// The label that every namespace has: its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// What the rules of all classes share.
#[derive(Default)]
pub(super) struct RuleBook {
    pub(super) counters: Table<Counter>,
    /// What each counter counts, for people.
    pub(super) counted: Table<Counted>,
    pub(super) ports: Table<HostPort>,
    /// Resources that count parts of devices.
    pub(super) shared: Table<Arc<str>>,
    pub(super) drivers: Table<Arc<str>>,
}

/// Gives each class its rules, and its wishes to those that wait. Where it is known which classes may ask for a place, only
/// what these look at is counted.
pub(super) fn write(
    snapshot: &Snapshot,
    classes: &mut Table<Class>,
    statics: &Table<Statics>,
    shapes: &Shapes,
    asking: Option<&[bool]>,
) -> RuleBook {
    let mut own: Vec<(u32, u32, SharedSpec)> = (0..)
        .zip(classes.iter())
        .filter(|(_, class)| is_bound(&class.spec) || class.has_wishes())
        .map(|(id, class)| (class.rank, id, class.spec.clone()))
        .collect();
    if own.is_empty() {
        return RuleBook::default();
    }
    own.sort_by_key(|(rank, ..)| *rank);
    let mut writer = Writer::new(snapshot, shapes);
    let mut written: FxHashMap<u32, Written> = FxHashMap::default();
    for (_, id, spec) in &own {
        let class = classes.at(*id);
        let mut own = Written::default();
        if is_bound(spec) {
            let volumes = &statics.at(class.statics).volumes;
            let mut rules = writer.own_rules(spec);
            rules.attach = volumes.attach.iter().map(|(driver, handle)| writer.volume(driver, handle)).collect();
            rules.anti.extend(volumes.exclusive.iter().map(|claim| writer.claim(&spec.namespace, claim)));
            own.rules = Some(rules);
        }
        own.wishes = class.has_wishes().then(|| writer.own_wishes(spec));
        written.insert(*id, own);
    }
    writer.match_classes(classes, &mut written);
    if let Some(asking) = asking {
        writer.leave_out_unasked(asking, &mut written);
    }
    for (id, class) in (0..).zip(classes.iter_mut()) {
        let Some(Written { rules, wishes }) = written.remove(&id) else { continue };
        class.set_rules(rules.map(Rules::with_own), wishes.map(Wishes::with_own));
    }
    writer.book
}

/// What is written for one class.
#[derive(Default)]
struct Written {
    rules: Option<Rules>,
    wishes: Option<Wishes>,
}

impl Rules {
    /// Notes which of its rules its own pods count for.
    fn with_own(mut self) -> Self {
        let Rules { adds, spread, anti, affinity, .. } = &mut self;
        spread.iter_mut().for_each(|rule| rule.counts_own = adds.contains(&rule.counter));
        anti.iter_mut().for_each(|rule| rule.against_own = adds.contains(&rule.counter));
        self.meets_own_affinity = affinity.first().is_some_and(|counter| adds.contains(counter));
        self
    }
}

impl Wishes {
    /// Notes which of its wishes its own pods count for.
    fn with_own(mut self) -> Self {
        let Wishes { list, adds, .. } = &mut self;
        list.iter_mut().for_each(|wish| wish.counts_own = adds.contains(&wish.counter));
        self
    }
}

/// Whether the spec itself has a rule.
fn is_bound(spec: &PodSpec) -> bool {
    !(spec.pod_affinity.is_empty()
        && spec.pod_anti_affinity.is_empty()
        && spec.spread.is_empty()
        && spec.host_ports.is_empty()
        && spec.claims.is_empty()
        && shares::asked(spec).next().is_none())
}

/// What makes two counters one.
#[derive(PartialEq, Eq, Hash)]
struct CounterKey {
    selection: usize,
    key: Key,
    counts: Counts,
    /// The number of its scope.
    scope: Option<u32>,
}

/// What a counter counts, given a selection of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Counts {
    /// The selected pods, for rules.
    Selected,
    /// Those that do not want the selected ones near.
    Owners,
    /// The selected pods, for wishes.
    Wished,
}

/// What makes the scopes of two topology spread constraints one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ScopeKey<'a> {
    keys: SmallVec<[Key; 2]>,
    affinity: Option<(&'a Labels, &'a [NodeTerm])>,
    tolerations: Option<&'a [Toleration]>,
}

struct Writer<'a> {
    snapshot: &'a Snapshot,
    shapes: &'a Shapes,
    book: RuleBook,
    selections: Vec<Selected>,
    selection_index: FxHashMap<Arc<Selection>, usize>,
    counter_index: FxHashMap<CounterKey, u32>,
    scope_index: FxHashMap<ScopeKey<'a>, u32>,
    volumes: FxHashMap<(u32, Box<str>), u32>,
}

/// A selection and the counters that go by it.
struct Selected {
    selection: Arc<Selection>,
    /// They count the selected pods.
    counting: Vec<u32>,
    /// They count pods that do not want the selected ones near.
    against: Vec<u32>,
    /// They count the selected pods for those that wish something of them.
    wished: Vec<u32>,
}

impl Selected {
    fn new(selection: Arc<Selection>) -> Self {
        Selected { selection, counting: Vec::new(), against: Vec::new(), wished: Vec::new() }
    }
}

impl<'a> Writer<'a> {
    fn new(snapshot: &'a Snapshot, shapes: &'a Shapes) -> Self {
        Writer {
            snapshot,
            shapes,
            book: RuleBook::default(),
            selections: Vec::new(),
            selection_index: FxHashMap::default(),
            counter_index: FxHashMap::default(),
            scope_index: FxHashMap::default(),
            volumes: FxHashMap::default(),
        }
    }

    /// The rules that a spec states itself.
    fn own_rules(&mut self, spec: &'a SharedSpec) -> Rules {
        let mut rules = Rules::default();
        for port in &spec.host_ports {
            let known = (0..).zip(self.book.ports.iter()).find(|(_, known)| *known == port).map(|(number, _)| number);
            rules.ports.push(known.unwrap_or_else(|| self.book.ports.push(port.clone())));
        }
        for (resource, amount) in shares::asked(spec) {
            let known = (0..).zip(self.book.shared.iter()).find(|(_, known)| *known == resource).map(|(at, _)| at);
            let number = known.unwrap_or_else(|| self.book.shared.push(Arc::clone(resource)));
            rules.shares.push((number, amount));
        }
        for spread in &spec.spread {
            let counter = self.spread(spec, spread, &spec.spread, Counts::Selected);
            let Spread { max_skew, min_domains, .. } = *spread;
            rules.spread.push(SpreadRule { counter, max_skew, min_domains, counts_own: false });
        }
        if !spec.pod_affinity.is_empty() {
            let all = spec.pod_affinity.iter().map(|term| wanted(spec, term)).collect();
            let all = self.selection(Selection::Pods(all));
            for term in &spec.pod_affinity {
                let key = self.shapes.key(&term.topology_key);
                rules.affinity.push(self.counter(all, key, Counts::Selected, None));
            }
        }
        for term in &spec.pod_anti_affinity {
            let key = self.shapes.key(&term.topology_key);
            let selection = self.selection(Selection::Pods(vec![wanted(spec, term)]));
            let counter = self.counter(selection, key, Counts::Selected, None);
            rules.anti.push(AntiRule { counter, against_own: false });
            let owners = self.counter(selection, key, Counts::Owners, None);
            if !rules.adds.contains(&owners) {
                rules.adds.push(owners);
            }
        }
        rules
    }

    /// What a spec would rather have of the pods around its own.
    fn own_wishes(&mut self, spec: &'a SharedSpec) -> Wishes {
        let mut list = SmallVec::new();
        let signed = [(&spec.preferred_pod_affinity, 1), (&spec.preferred_pod_anti_affinity, -1)];
        for (preferred, sign) in signed.into_iter().flat_map(|(all, sign)| all.iter().map(move |one| (one, sign))) {
            let key = self.shapes.key(&preferred.term.topology_key);
            let selection = self.selection(Selection::Pods(vec![wanted(spec, &preferred.term)]));
            let counter = self.counter(selection, key, Counts::Wished, None);
            list.push(Wish {
                counter,
                weight: sign * i64::from(preferred.weight),
                needs_key: false,
                counts_own: false,
            });
        }
        for spread in &spec.preferred_spread {
            let counter = self.spread(spec, spread, &spec.preferred_spread, Counts::Wished);
            list.push(Wish { counter, weight: -preference::SPREAD, needs_key: true, counts_own: false });
        }
        let mut of_nodes = spec.preferred_node_affinity.iter().map(|preferred| slice::from_ref(&preferred.term));
        Wishes { list, by_name: of_nodes.any(node_affinity::names_nodes), adds: SmallVec::new() }
    }

    /// The counter of a topology spread constraint; `all` are those of its kind that the spec has.
    fn spread(&mut self, spec: &'a SharedSpec, spread: &Spread, all: &[Spread], counts: Counts) -> u32 {
        let mut keys: SmallVec<[Key; 2]> = all.iter().map(|spread| self.shapes.key(&spread.topology_key)).collect();
        keys.sort_unstable();
        keys.dedup();
        let has_affinity = !spec.node_selector.is_empty() || !spec.node_affinity.is_empty();
        let honor_affinity = has_affinity && !spread.ignore_node_affinity;
        let scope = ScopeKey {
            keys,
            affinity: honor_affinity.then_some((&spec.node_selector, &*spec.node_affinity)),
            tolerations: spread.honor_node_taints.then_some(&*spec.tolerations),
        };
        let wanted = Wanted {
            selector: narrow(spread.selector.as_ref(), &spec.labels, &spread.match_label_keys, &[]),
            namespaces: vec![Arc::clone(&spec.namespace)],
            namespace_selector: None,
        };
        let key = self.shapes.key(&spread.topology_key);
        let selection = self.selection(Selection::Pods(vec![wanted]));
        self.counter(selection, key, counts, Some((spec, scope)))
    }

    fn claim(&mut self, namespace: &Arc<str>, claim: &str) -> AntiRule {
        let selection = self.selection(Selection::Claim(Arc::clone(namespace), claim.into()));
        AntiRule { counter: self.counter(selection, Key::Cluster, Counts::Selected, None), against_own: false }
    }

    /// The number of a selection.
    fn selection(&mut self, selection: Selection) -> usize {
        if let Some(number) = self.selection_index.get(&selection) {
            return *number;
        }
        let (number, selection) = (self.selections.len(), Arc::new(selection));
        self.selection_index.insert(Arc::clone(&selection), number);
        self.selections.push(Selected::new(selection));
        number
    }

    fn counter(
        &mut self,
        selection: usize,
        key: Key,
        counts: Counts,
        scope: Option<(&SharedSpec, ScopeKey<'a>)>,
    ) -> u32 {
        let scope = scope.map(|(spec, scope)| {
            let next = u32::try_from(self.scope_index.len()).unwrap_or(u32::MAX);
            (*self.scope_index.entry(scope.clone()).or_insert(next), spec, scope)
        });
        let counter_key = CounterKey { selection, key, counts, scope: scope.as_ref().map(|(number, ..)| *number) };
        if let Some(counter) = self.counter_index.get(&counter_key) {
            return *counter;
        }
        let scope = scope.map(|(number, spec, scope)| {
            let (honor_affinity, honor_taints) = (scope.affinity.is_some(), scope.tolerations.is_some());
            Scope::new(number, spec.clone(), scope.keys.to_vec(), honor_affinity, honor_taints)
        });
        let counter = self.book.counters.push(Counter::new(key, scope));
        // Nobody is refused for a wish.
        let counted = self.selections.get(selection).filter(|_| counts != Counts::Wished);
        self.book.counted.push(counted.map(|selected| Arc::clone(&selected.selection)));
        self.counter_index.insert(counter_key, counter);
        if let Some(selected) = self.selections.get_mut(selection) {
            match counts {
                Counts::Selected => selected.counting.push(counter),
                Counts::Owners => selected.against.push(counter),
                Counts::Wished => selected.wished.push(counter),
            }
        }
        counter
    }

    fn volume(&mut self, driver: &Arc<str>, handle: &str) -> (u32, u32) {
        let known = (0..).zip(self.book.drivers.iter()).find(|(_, known)| *known == driver).map(|(number, _)| number);
        let driver = known.unwrap_or_else(|| self.book.drivers.push(Arc::clone(driver)));
        let next = u32::try_from(self.volumes.len()).unwrap_or(u32::MAX);
        (driver, *self.volumes.entry((driver, handle.into())).or_insert(next))
    }

    /// Tells every class which counters it moves and which are against it.
    fn match_classes(&self, classes: &Table<Class>, written: &mut FxHashMap<u32, Written>) {
        let index = Index::of(classes, self.selections.iter().map(|selected| &*selected.selection));
        for Selected { selection, counting, against, wished } in &self.selections {
            for id in index.candidates(selection) {
                if !self.selected(selection, &classes.at(*id).spec) {
                    continue;
                }
                let written = written.entry(*id).or_default();
                if !(counting.is_empty() && against.is_empty()) {
                    let rules = written.rules.get_or_insert_default();
                    rules.adds.extend_from_slice(counting);
                    rules.shunned_by.extend_from_slice(against);
                }
                if !wished.is_empty() {
                    written.wishes.get_or_insert_default().adds.extend_from_slice(wished);
                }
            }
        }
    }

    /// Forgets the rules of classes that ask for no place, and the counters about which nobody asks.
    fn leave_out_unasked(&mut self, asking: &[bool], written: &mut FxHashMap<u32, Written>) {
        let asks = |class: u32| asking.get(class as usize).is_some_and(|asks| *asks);
        let mut asked = vec![false; self.book.counters.len() as usize];
        for (class, Written { rules, wishes }) in written.iter_mut() {
            if !asks(*class) {
                rules.iter_mut().for_each(Rules::ask_nothing);
                continue;
            }
            let by_rules = rules.iter().flat_map(Rules::asked);
            let by_wishes = wishes.iter().flat_map(|wishes| &wishes.list).map(|wish| wish.counter);
            for counter in by_rules.chain(by_wishes) {
                asked.get_mut(counter as usize).into_iter().for_each(|asked| *asked = true);
            }
        }
        let is_asked = |counter: &u32| asked.get(*counter as usize).is_some_and(|asked| *asked);
        for (class, Written { rules, wishes }) in written.iter_mut() {
            rules.iter_mut().for_each(|rules| rules.adds.retain(|counter| is_asked(counter)));
            wishes.iter_mut().for_each(|wishes| wishes.adds.retain(|counter| is_asked(counter)));
            if !asks(*class) {
                rules.take_if(|rules| rules.changes_nothing());
                wishes.take_if(|wishes| wishes.adds.is_empty());
            }
        }
        let unasked = (0..).zip(self.book.counters.iter_mut()).filter(|(counter, _)| !is_asked(counter));
        unasked.for_each(|(_, counter)| *counter = Counter::default());
    }

    fn selected(&self, selection: &Selection, spec: &PodSpec) -> bool {
        match selection {
            Selection::Pods(wanted) => wanted.iter().all(|wanted| {
                let in_namespace = wanted.namespaces.contains(&spec.namespace)
                    || wanted.namespace_selector.as_ref().is_some_and(|_| {
                        selects(wanted.namespace_selector.as_ref(), &self.namespace_labels(&spec.namespace))
                    });
                in_namespace && selects(wanted.selector.as_ref(), &spec.labels)
            }),
            Selection::Claim(namespace, claim) => spec.namespace == *namespace && spec.claims.contains(claim),
        }
    }

    fn namespace_labels(&self, namespace: &str) -> Labels {
        let known = self.snapshot.namespace(namespace);
        known.cloned().unwrap_or_else(|| [(NAMESPACE_NAME, namespace)].into_iter().collect())
    }
}
