//! Kinds of values: how each is read, described and shown. Declarations are put together from these.

mod choice;
mod collection;
mod quantity;
mod scalar;
mod share;

use serde_json::Value as Json;

use super::problem::{Problem, Problems};
use super::shape::Shape;
use super::tree::{Content, Node, Place};

pub(crate) use choice::{one_of, variant, word, words};
pub(crate) use collection::{labels, list, map, numbered, one_or_more};
pub(crate) use quantity::{
    bytes, cpu, dollars, pieces, requested, requested_cpu, sum_of_bytes, sum_of_cpu, sum_of_pieces,
};
pub(crate) use scalar::{address, count, duration, flag, hundredths, integer, pattern, percent, text, written};
pub(crate) use share::share;

type Read<V> = Box<dyn Fn(&Node, &mut Problems) -> Option<V>>;
type Show<V> = Box<dyn Fn(&V) -> Option<Json>>;

/// A kind of value: how it is read, described, and shown as a default.
pub(crate) struct Kind<V> {
    pub(crate) shape: Shape,
    pub(crate) read: Read<V>,
    pub(crate) show: Show<V>,
}

impl<V: 'static> Kind<V> {
    /// The same text, made into something else.
    pub(crate) fn map<W>(self, make: impl Fn(V) -> W + 'static) -> Kind<W> {
        let read = self.read;
        Kind {
            shape: self.shape,
            read: Box::new(move |node, problems| read(node, problems).map(&make)),
            show: Box::new(|_| None),
        }
    }

    /// The same with its place in the text, for checks further out.
    pub(crate) fn placed(self) -> Kind<(Place, V)> {
        let (read, show) = (self.read, self.show);
        Kind {
            shape: self.shape,
            read: Box::new(move |node, problems| Some((node.place.clone(), read(node, problems)?))),
            show: Box::new(move |(_, value)| show(value)),
        }
    }

    /// The same without values that have a problem: nobody knows what they were meant to be.
    pub(crate) fn sound(self) -> Kind<V> {
        let read = self.read;
        let read = move |node: &Node, problems: &mut Problems| {
            let before = problems.len();
            read(node, problems).filter(|_| problems.len() == before)
        };
        Kind { shape: self.shape, read: Box::new(read), show: self.show }
    }

    /// The same, where leaving the key out means None.
    pub(crate) fn optional(self) -> Kind<Option<V>> {
        let (read, show) = (self.read, self.show);
        Kind {
            shape: self.shape,
            read: Box::new(move |node, problems| read(node, problems).map(Some)),
            show: Box::new(move |value| value.as_ref().and_then(&show)),
        }
    }
}

impl<V: 'static> Kind<Vec<V>> {
    /// The same with at least one item; `hint` says how one is written.
    pub(crate) fn filled(mut self, hint: &'static str) -> Self {
        if let Shape::List { filled, .. } = &mut self.shape {
            *filled = true;
        }
        let read = self.read;
        self.read = Box::new(move |node, problems| {
            if matches!(&node.content, Content::List(items) if items.is_empty()) {
                problems.add(Problem::at(node.place.clone(), "this list is empty", hint));
            }
            read(node, problems)
        });
        self
    }
}

/// Reports that `node` is not what was `expected`.
pub(crate) fn unexpected<V>(expected: &str, node: &Node, hint: &str, problems: &mut Problems) -> Option<V> {
    if node.content != Content::Broken {
        let message = format!("expected {expected}, found {}", node.describe());
        problems.add(Problem::at(node.place.clone(), message, hint));
    }
    None
}
