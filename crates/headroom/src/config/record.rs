//! Maps with known keys: each key is declared once, with its kind, its place in a value and its documentation.

use std::collections::BTreeMap;

use super::kind::{Kind, unexpected};
use super::problem::{Problem, Problems};
use super::shape::{FieldShape, RecordShape, Shape};
use super::suggest::nearest;
use super::tree::{Entries, Entry, Node, Place, shorten};

type ReadInto<T> = Box<dyn Fn(&mut T, &Node, &mut Problems) -> bool>;
type Check<T> = fn(&T, &Places, &mut Problems);

/// A map with known keys, and what must hold between them.
pub(crate) struct Record<T> {
    path: &'static str,
    doc: &'static str,
    start: fn() -> T,
    fields: Vec<FieldShape>,
    readers: Vec<ReadInto<T>>,
    checks: Vec<(&'static [&'static str], Check<T>)>,
    places: fn(&mut T, &Places),
}

/// Where the values of a record stand in the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    whole: Place,
    values: BTreeMap<&'static str, Place>,
}

impl Places {
    /// Where the value of `key` stands; where the record starts if it is left out.
    pub(crate) fn of(&self, key: &str) -> Place {
        self.values.get(key).unwrap_or(&self.whole).clone()
    }

    /// Where the one that the user wrote of two values stands; the first if both are.
    pub(crate) fn written(&self, first: &str, second: &str) -> Place {
        self.of(if self.values.contains_key(first) { first } else { second })
    }

    /// Whether the user wrote `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }
}

impl<T: 'static> Record<T> {
    /// A map that the reference calls `path`; `start` has every default.
    pub(crate) fn new(path: &'static str, doc: &'static str, start: fn() -> T) -> Self {
        Record { path, doc, start, fields: vec![], readers: vec![], checks: vec![], places: |_, _| {} }
    }

    /// A key that can be left out.
    pub(crate) fn field<V: 'static>(
        self,
        key: &'static str,
        kind: Kind<V>,
        lens: fn(&mut T) -> &mut V,
        doc: &'static str,
    ) -> Self {
        let default = (kind.show)(lens(&mut (self.start)()));
        self.with(FieldShape { key, doc, required: false, default, shape: kind.shape.clone() }, kind, lens)
    }

    /// A key that must be there.
    pub(crate) fn required<V: 'static>(
        self,
        key: &'static str,
        kind: Kind<V>,
        lens: fn(&mut T) -> &mut V,
        doc: &'static str,
    ) -> Self {
        self.with(FieldShape { key, doc, required: true, default: None, shape: kind.shape.clone() }, kind, lens)
    }

    /// What must hold between `keys`; asked only when each of them could be read or was left out with right.
    pub(crate) fn check(mut self, keys: &'static [&'static str], check: Check<T>) -> Self {
        self.checks.push((keys, check));
        self
    }

    /// Tells the value where its parts stand, for checks further out.
    pub(crate) fn placed(mut self, places: fn(&mut T, &Places)) -> Self {
        self.places = places;
        self
    }

    /// The kind of such maps. A value with problems is read as far as possible, so that checks further out still see
    /// what is right in it.
    pub(crate) fn kind(self) -> Kind<T> {
        let shape = RecordShape { path: self.path, doc: self.doc, fields: self.fields.clone() };
        Kind {
            shape: Shape::Record(shape),
            read: Box::new(move |node, problems| self.read(node, problems)),
            show: Box::new(|_| None),
        }
    }

    fn with<V: 'static>(mut self, shape: FieldShape, kind: Kind<V>, lens: fn(&mut T) -> &mut V) -> Self {
        self.fields.push(shape);
        self.readers.push(Box::new(move |value, node, problems| match (kind.read)(node, problems) {
            Some(read) => {
                *lens(value) = read;
                true
            }
            None => false,
        }));
        self
    }

    fn read(&self, node: &Node, problems: &mut Problems) -> Option<T> {
        let entries = node.entries();
        if entries.is_none() && !node.is_null() {
            return unexpected("a map", node, &self.hint(), problems);
        }
        let entry = |key| entries.and_then(|entries| entries.get(key));
        let mut value = (self.start)();
        let mut places = Places { whole: node.place.clone(), values: BTreeMap::new() };
        let unknown = self.unknown(entries);
        // A misspelled key is one error, not also a missing one.
        let mut failed: Vec<&str> = unknown.iter().filter_map(|(.., meant)| *meant).collect();
        for (field, read) in self.fields.iter().zip(&self.readers) {
            let read_well = match entry(field.key) {
                Some(entry) => {
                    places.values.insert(field.key, entry.value.place.clone());
                    read(&mut value, &entry.value, problems)
                }
                None => {
                    if field.required && !failed.contains(&field.key) {
                        problems.add(missing(field, node));
                    }
                    !field.required
                }
            };
            if !read_well {
                failed.push(field.key);
            }
        }
        for (key, entry, meant) in unknown {
            let hint = meant.map_or_else(|| self.hint(), |meant| format!("did you mean `{meant}`?"));
            let message = format!("there is no key `{}` here", shorten(key));
            problems.add(Problem::at(entry.key_place.clone(), message, hint));
        }
        (self.places)(&mut value, &places);
        for (keys, check) in &self.checks {
            if !keys.iter().any(|key| failed.contains(key)) {
                check(&value, &places, problems);
            }
        }
        Some(value)
    }

    /// The keys in the text that are not declared, and for each the one that was meant, if that is not there.
    fn unknown<'e>(&self, entries: Option<&'e Entries>) -> Vec<(&'e str, &'e Entry, Option<&'static str>)> {
        let declared = |key: &str| self.fields.iter().any(|field| field.key == key);
        let unknown = entries.into_iter().flatten().filter(|(key, _)| !declared(key));
        let free = || self.keys().filter(|key| !entries.is_some_and(|entries| entries.contains_key(*key)));
        unknown.map(|(key, entry)| (&**key, entry, nearest(key, free()))).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.key)
    }

    fn hint(&self) -> String {
        match self.keys().collect::<Vec<_>>().as_slice() {
            [] => "there are no keys here; write `{}`".to_owned(),
            [only] => format!("the only key here is {only}"),
            keys => format!("the keys here are {}", keys.join(", ")),
        }
    }
}

fn missing(field: &FieldShape, node: &Node) -> Problem {
    let hint = format!("add `{}:` with {}", field.key, field.shape.expected());
    Problem::at(node.place.clone(), format!("`{}` is missing", field.key), hint)
}
