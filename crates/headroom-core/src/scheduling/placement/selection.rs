//! Which pods a counter counts, and which classes these are.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::class::Class;
use super::table::Table;
use crate::scheduling::selector::{Shown, narrow};
use crate::snapshot::{LabelSelector, PodSpec, PodTerm};

/// Which pods a counter counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Selection {
    /// Those that are wanted by each of these.
    Pods(Vec<Wanted>),
    /// Those that mount a claim.
    Claim(Arc<str>, Box<str>),
}

/// Pods with some labels in some namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) selector: Option<LabelSelector>,
    pub(super) namespaces: Vec<Arc<str>>,
    pub(super) namespace_selector: Option<LabelSelector>,
}

/// The pods that a term of a spec is about.
pub(super) fn wanted(spec: &PodSpec, term: &PodTerm) -> Wanted {
    let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
    Wanted {
        selector: narrow(term.selector.as_ref(), &spec.labels, &term.match_label_keys, &term.mismatch_label_keys),
        namespaces: if own { vec![Arc::clone(&spec.namespace)] } else { term.namespaces.clone() },
        namespace_selector: term.namespace_selector.clone(),
    }
}

/// What a counter counts, for explanations; None where nobody is refused for it.
pub(super) type Counted = Option<Arc<Selection>>;

/// What a selection selects, for people.
pub(super) fn describe(selection: &Selection) -> String {
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
pub(super) struct Index<'a> {
    /// By key, then value.
    by_label: FxHashMap<&'a str, FxHashMap<&'a str, Vec<u32>>>,
    by_claim: FxHashMap<&'a str, Vec<u32>>,
    all: Vec<u32>,
}

impl<'a> Index<'a> {
    pub(super) fn of(classes: &'a Table<Class>, selections: impl Iterator<Item = &'a Selection>) -> Self {
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

    pub(super) fn candidates(&self, selection: &Selection) -> &[u32] {
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
    wanted.iter().filter_map(|wanted| wanted.selector.as_ref()).find_map(LabelSelector::single)
}
