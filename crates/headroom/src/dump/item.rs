//! Objects on their way into a reader, whatever they are written in.

use std::borrow::Cow;
use std::fmt;

use headroom_adapters::cluster::kubernetes::translate::{Malformed, Source};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::reader::Sink;

/// One object that has been found and not been read yet.
pub(super) trait Item: Source<Fault = Fault> {
    /// The object's `kind`, if it has one.
    fn kind(&self) -> Option<Cow<'_, str>>;

    /// Where the object starts, in bytes from the start of `document`.
    fn offset(&self, document: &str) -> usize;
}

/// Why an object cannot be read.
pub(super) struct Fault {
    /// In bytes from the start of the object.
    pub(super) offset: usize,
    /// What is wrong.
    pub(super) problem: String,
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Fault { offset: 0, problem: malformed.to_string() }
    }
}

/// A list while it is read: hands its items on, one at a time.
///
/// The API leaves the kind out of the items of, say, a `PodList`. Such items wait if they come before the list's kind.
pub(super) struct List<I> {
    kind: Option<String>,
    waiting: Vec<I>,
}

impl<I: Item> List<I> {
    pub(super) fn new() -> Self {
        List { kind: None, waiting: Vec::new() }
    }

    pub(super) fn set_kind(&mut self, kind: String) {
        self.kind = Some(kind);
    }

    /// The end of the list: hands on what has waited.
    pub(super) fn finish(mut self, sink: &mut Sink<'_>) {
        for item in std::mem::take(&mut self.waiting) {
            sink.object(&item, self.items_kind());
        }
        if let Some(kind) = self.items_kind() {
            sink.list_of(kind);
        }
    }

    fn take(&mut self, item: I, sink: &mut Sink<'_>) {
        if self.kind.is_none() && item.kind().is_none() {
            self.waiting.push(item);
        } else {
            sink.object(&item, self.items_kind());
        }
    }

    /// `Pod` for a `PodList`; None for a plain `List`.
    fn items_kind(&self) -> Option<&str> {
        self.kind.as_deref()?.strip_suffix("List").filter(|kind| !kind.is_empty())
    }
}

/// Reads the value of `items`.
pub(super) struct Items<'s, 'r, I> {
    pub(super) list: &'s mut List<I>,
    pub(super) sink: &'s mut Sink<'r>,
}

impl<'de, I: Item + Deserialize<'de>> DeserializeSeed<'de> for Items<'_, '_, I> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, I: Item + Deserialize<'de>> Visitor<'de> for Items<'_, '_, I> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            self.list.take(item, self.sink);
        }
        Ok(())
    }

    /// An empty list may be written as null.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
