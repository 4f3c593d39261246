//! JSON values one after the other, each an object of the API, a list or an array of objects.

use std::borrow::Cow;
use std::fmt;

use headroom_adapters::cluster::kubernetes::object::Text;
use headroom_adapters::cluster::kubernetes::translate::Source;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::item::{Fault, Item, Items, List};
use super::reader::{Broken, Sink};

/// Whether `text` is meant to be JSON.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Hands every object of `text` to `sink`.
pub(super) fn read(text: &str, sink: &mut Sink<'_>) -> Result<(), Broken> {
    let mut at = 0;
    loop {
        let rest = text[at..].trim_ascii_start();
        if rest.is_empty() {
            return Ok(());
        }
        at = text.len() - rest.len();
        let mut deserializer = Deserializer::from_str(rest);
        let read = if is_list(rest) {
            Document { sink }.deserialize(&mut deserializer)
        } else {
            Object::deserialize(&mut deserializer).map(|object| sink.object(&object, None))
        };
        read.map_err(|error| Broken {
            offset: at + offset(rest, &error),
            problem: problem(&error),
            truncated: error.is_eof(),
        })?;
        at += deserializer.into_iter::<IgnoredAny>().byte_offset();
    }
}

/// One object as text. It is scanned twice, once to find its end and once to read it: so a fault in it harms no other.
#[derive(Deserialize)]
struct Object<'a>(#[serde(borrow)] &'a RawValue);

impl Source for Object<'_> {
    type Fault = Fault;

    fn read<'s, T: Deserialize<'s>>(&'s self) -> Result<T, Fault> {
        let text = self.0.get();
        serde_json::from_str(text).map_err(|error| Fault { offset: offset(text, &error), problem: problem(&error) })
    }
}

impl Item for Object<'_> {
    fn kind(&self) -> Option<Cow<'_, str>> {
        first_of(&["kind"], self.0.get()).and_then(|(_, kind)| kind).map(Cow::Owned)
    }

    fn offset(&self, document: &str) -> usize {
        self.0.get().as_ptr().addr().saturating_sub(document.as_ptr().addr())
    }
}

/// Whether the JSON value at the start of `text` is a list or an array, as far as its beginning tells: `kubectl` writes
/// the items of a list before its kind, the API writes the kind first.
fn is_list(text: &str) -> bool {
    match first_of(&["kind", "items"], text) {
        Some(("kind", kind)) => kind.is_some_and(|kind| kind.ends_with("List")),
        Some(_) => true,
        None => !text.starts_with('{'),
    }
}

/// The first of `keys` that the object at the start of `text` has, and its value if that is the kind. Reads no further.
fn first_of<'k>(keys: &[&'k str], text: &str) -> Option<(&'k str, Option<String>)> {
    let mut found = None;
    // That the rest of the text is left over is no error here.
    let _ = Deserializer::from_str(text).deserialize_any(FirstOf { keys, found: &mut found });
    found
}

struct FirstOf<'f, 'k> {
    keys: &'f [&'k str],
    found: &'f mut Option<(&'k str, Option<String>)>,
}

impl<'de> Visitor<'de> for FirstOf<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Text<'_>>()? {
            if let Some(wanted) = self.keys.iter().find(|wanted| **wanted == &*key) {
                let kind = if &*key == "kind" { Some(entries.next_value()?) } else { None };
                *self.found = Some((wanted, kind));
                return Ok(());
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// A list of the API or an array.
struct Document<'s, 'r> {
    sink: &'s mut Sink<'r>,
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut list = List::<Object<'_>>::new();
        while let Some(key) = entries.next_key::<Text<'_>>()? {
            match &*key {
                "kind" => list.set_kind(entries.next_value()?),
                "items" => entries.next_value_seed(Items { list: &mut list, sink: self.sink })?,
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        list.finish(self.sink);
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        let mut list = List::<Object<'_>>::new();
        Items { list: &mut list, sink: self.sink }.visit_seq(items)?;
        list.finish(self.sink);
        Ok(())
    }
}

/// Where in `text` an error is. serde_json counts columns in bytes, from 1.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').map(str::len);
    lines.take(error.line().saturating_sub(1)).sum::<usize>() + error.column().saturating_sub(1)
}

/// The error without its place, which is counted from the start of the object.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
