//! What binds classes to the pods around them: makes the counters, and tells each class which ones it moves and asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::class::{AntiRule, Class, Rules, SpreadRule, Statics};
use super::counter::{Counter, Scope};
use super::shape::{Key, Shapes};
use super::table::Table;
use crate::scheduling::selector::{Shown, narrow, selects};
use crate::scheduling::shares;
use crate::snapshot::{
    HostPort, LabelSelector, Labels, NodeTerm, Operator, PodSpec, PodTerm, SharedSpec, Snapshot, Spread, Toleration,
};

/// The label that every namespace has: its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// What the rules of all classes share.
#[derive(Default)]
pub(super) struct RuleBook {
    pub(super) counters: Table<Counter>,
    /// What each counter counts, for people.
    pub(super) counted: Table<String>,
    pub(super) ports: Table<HostPort>,
    /// Resources that count parts of devices.
    pub(super) shared: Table<Arc<str>>,
    pub(super) drivers: Table<Arc<str>>,
}

/// Gives each class its rules.
pub(super) fn write(
    snapshot: &Snapshot,
    classes: &mut Table<Class>,
    statics: &Table<Statics>,
    shapes: &Shapes,
) -> RuleBook {
    let mut bound: Vec<(u32, u32, SharedSpec)> = (0..)
        .zip(classes.iter())
        .filter(|(_, class)| is_bound(&class.spec))
        .map(|(id, class)| (class.rank, id, class.spec.clone()))
        .collect();
    if bound.is_empty() {
        return RuleBook::default();
    }
    bound.sort_by_key(|(rank, ..)| *rank);
    let mut writer = Writer::new(snapshot, shapes);
    let mut rules: FxHashMap<u32, Rules> = FxHashMap::default();
    for (_, id, spec) in &bound {
        let volumes = &statics.at(classes.at(*id).statics).volumes;
        let mut own = writer.own_rules(spec);
        own.attach = volumes.attach.iter().map(|(driver, handle)| writer.volume(driver, handle)).collect();
        let exclusive = volumes.exclusive.iter().map(|claim| writer.claim(&spec.namespace, claim));
        own.anti.extend(exclusive);
        rules.insert(*id, own);
    }
    writer.match_classes(classes, &mut rules);
    for (id, class) in (0..).zip(classes.iter_mut()) {
        let Some(mut own) = rules.remove(&id) else { continue };
        let adds = own.adds.clone();
        own.spread.iter_mut().for_each(|rule| rule.counts_own = adds.contains(&rule.counter));
        own.anti.iter_mut().for_each(|rule| rule.against_own = adds.contains(&rule.counter));
        own.meets_own_affinity = own.affinity.first().is_some_and(|counter| adds.contains(counter));
        class.rules = Some(Arc::new(own));
    }
    writer.book
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

/// Which pods a counter counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Selection {
    /// Those that are wanted by each of these.
    Pods(Vec<Wanted>),
    /// Those that mount a claim.
    Claim(Arc<str>, Box<str>),
}

/// Pods with some labels in some namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Wanted {
    selector: Option<LabelSelector>,
    namespaces: Vec<Arc<str>>,
    namespace_selector: Option<LabelSelector>,
}

/// What makes two counters one.
#[derive(PartialEq, Eq, Hash)]
struct CounterKey {
    selection: usize,
    key: Key,
    /// It counts not the selected pods but those that do not want them near.
    owners: bool,
    scope: Option<ScopeKey>,
}

/// What makes the scopes of two topology spread constraints one.
#[derive(PartialEq, Eq, Hash)]
struct ScopeKey {
    keys: Vec<Key>,
    affinity: Option<(Labels, Vec<NodeTerm>)>,
    tolerations: Option<Vec<Toleration>>,
}

struct Writer<'a> {
    snapshot: &'a Snapshot,
    shapes: &'a Shapes,
    book: RuleBook,
    selections: Vec<Selected>,
    selection_index: FxHashMap<Selection, usize>,
    counter_index: FxHashMap<CounterKey, u32>,
    volumes: FxHashMap<(u32, Box<str>), u32>,
}

/// A selection and the counters that go by it.
struct Selected {
    selection: Selection,
    /// They count the selected pods.
    counting: Vec<u32>,
    /// They count pods that do not want the selected ones near.
    against: Vec<u32>,
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
            volumes: FxHashMap::default(),
        }
    }

    /// The rules that a spec states itself.
    fn own_rules(&mut self, spec: &SharedSpec) -> Rules {
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
            rules.spread.push(self.spread(spec, spread));
        }
        let all = Selection::Pods(spec.pod_affinity.iter().map(|term| wanted(spec, term)).collect());
        for term in &spec.pod_affinity {
            let key = self.shapes.key(&term.topology_key);
            rules.affinity.push(self.counter(all.clone(), key, false, None));
        }
        for term in &spec.pod_anti_affinity {
            let key = self.shapes.key(&term.topology_key);
            let selection = Selection::Pods(vec![wanted(spec, term)]);
            let counter = self.counter(selection.clone(), key, false, None);
            rules.anti.push(AntiRule { counter, against_own: false });
            let owners = self.counter(selection, key, true, None);
            if !rules.adds.contains(&owners) {
                rules.adds.push(owners);
            }
        }
        rules
    }

    fn spread(&mut self, spec: &SharedSpec, spread: &Spread) -> SpreadRule {
        let keys: BTreeSet<Key> = spec.spread.iter().map(|spread| self.shapes.key(&spread.topology_key)).collect();
        let has_affinity = !spec.node_selector.is_empty() || !spec.node_affinity.is_empty();
        let honor_affinity = has_affinity && !spread.ignore_node_affinity;
        let scope = ScopeKey {
            keys: keys.into_iter().collect(),
            affinity: honor_affinity.then(|| (spec.node_selector.clone(), spec.node_affinity.clone())),
            tolerations: spread.honor_node_taints.then(|| spec.tolerations.clone()),
        };
        let wanted = Wanted {
            selector: narrow(spread.selector.as_ref(), &spec.labels, &spread.match_label_keys, &[]),
            namespaces: vec![Arc::clone(&spec.namespace)],
            namespace_selector: None,
        };
        let key = self.shapes.key(&spread.topology_key);
        let counter = self.counter(Selection::Pods(vec![wanted]), key, false, Some((spec, scope)));
        let Spread { max_skew, min_domains, .. } = *spread;
        SpreadRule { counter, max_skew, min_domains, counts_own: false }
    }

    fn claim(&mut self, namespace: &Arc<str>, claim: &str) -> AntiRule {
        let selection = Selection::Claim(Arc::clone(namespace), claim.into());
        AntiRule { counter: self.counter(selection, Key::Cluster, false, None), against_own: false }
    }

    fn counter(&mut self, selection: Selection, key: Key, owners: bool, scope: Option<(&SharedSpec, ScopeKey)>) -> u32 {
        let number = match self.selection_index.get(&selection) {
            Some(number) => *number,
            None => {
                let number = self.selections.len();
                self.selection_index.insert(selection.clone(), number);
                let selected = Selected { selection: selection.clone(), counting: Vec::new(), against: Vec::new() };
                self.selections.push(selected);
                number
            }
        };
        let (spec, scope) = scope.map_or((None, None), |(spec, scope)| (Some(spec), Some(scope)));
        let counter_key = CounterKey { selection: number, key, owners, scope };
        if let Some(counter) = self.counter_index.get(&counter_key) {
            return *counter;
        }
        let scope = counter_key.scope.as_ref().zip(spec).map(|(scope, spec)| {
            Scope::new(spec.clone(), scope.keys.clone(), scope.affinity.is_some(), scope.tolerations.is_some())
        });
        let counter = self.book.counters.push(Counter::new(key, scope));
        self.book.counted.push(describe(&selection));
        self.counter_index.insert(counter_key, counter);
        if let Some(selected) = self.selections.get_mut(number) {
            if owners { selected.against.push(counter) } else { selected.counting.push(counter) }
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
    fn match_classes(&self, classes: &Table<Class>, rules: &mut FxHashMap<u32, Rules>) {
        let index = Index::of(classes, self.selections.iter().map(|selected| &selected.selection));
        for Selected { selection, counting, against } in &self.selections {
            for id in index.candidates(selection) {
                if self.selected(selection, &classes.at(*id).spec) {
                    let rules = rules.entry(*id).or_default();
                    rules.adds.extend_from_slice(counting);
                    rules.shunned_by.extend_from_slice(against);
                }
            }
        }
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

/// The pods that a term of a spec is about.
fn wanted(spec: &PodSpec, term: &PodTerm) -> Wanted {
    let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
    Wanted {
        selector: narrow(term.selector.as_ref(), &spec.labels, &term.match_label_keys, &term.mismatch_label_keys),
        namespaces: if own { vec![Arc::clone(&spec.namespace)] } else { term.namespaces.clone() },
        namespace_selector: term.namespace_selector.clone(),
    }
}

fn describe(selection: &Selection) -> String {
    match selection {
        Selection::Claim(_, claim) => claim.to_string(),
        Selection::Pods(wanted) => {
            let text = |wanted: &Wanted| match &wanted.selector {
                None => "no label at all".to_owned(),
                Some(selector) if selector.0.is_empty() => "any labels".to_owned(),
                Some(selector) => Shown(&selector.0).to_string(),
            };
            wanted.iter().map(text).collect::<Vec<_>>().join(",")
        }
    }
}

/// Finds the classes that a selection may match without trying each: by one label, or by the claim.
struct Index<'a> {
    /// By key, then value.
    by_label: FxHashMap<&'a str, FxHashMap<&'a str, Vec<u32>>>,
    by_claim: FxHashMap<&'a str, Vec<u32>>,
    all: Vec<u32>,
}

impl<'a> Index<'a> {
    fn of(classes: &'a Table<Class>, selections: impl Iterator<Item = &'a Selection>) -> Self {
        let mut keys = BTreeSet::new();
        let mut by_claim = false;
        for selection in selections {
            match selection {
                Selection::Pods(wanted) => keys.extend(telling(wanted).map(|(key, _)| key)),
                Selection::Claim(..) => by_claim = true,
            }
        }
        let mut index = Index { by_label: FxHashMap::default(), by_claim: FxHashMap::default(), all: Vec::new() };
        for (id, class) in (0..).zip(classes.iter()) {
            index.all.push(id);
            for key in &keys {
                if let Some(value) = class.spec.labels.get(key) {
                    index.by_label.entry(*key).or_default().entry(value).or_default().push(id);
                }
            }
            for claim in class.spec.claims.iter().filter(|_| by_claim) {
                index.by_claim.entry(claim).or_default().push(id);
            }
        }
        index
    }

    fn candidates(&self, selection: &Selection) -> &[u32] {
        let wanted = match selection {
            Selection::Pods(wanted) => wanted,
            Selection::Claim(_, claim) => return self.by_claim.get(&**claim).map_or(&[], |classes| classes),
        };
        match telling(wanted) {
            Some((key, value)) => {
                self.by_label.get(key).and_then(|values| values.get(value)).map_or(&[], |classes| classes)
            }
            None => &self.all,
        }
    }
}

/// A label that every pod of a selection has.
fn telling(wanted: &[Wanted]) -> Option<(&str, &str)> {
    let expressions = wanted.iter().filter_map(|wanted| wanted.selector.as_ref()).flat_map(|selector| &selector.0);
    let mut single = expressions.filter(|expression| expression.operator == Operator::In);
    single.find_map(|expression| match &*expression.values {
        [only] => Some((&*expression.key, &**only)),
        _ => None,
    })
}
