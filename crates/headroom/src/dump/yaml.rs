//! YAML documents, each an object of the API, a list or an array of objects.

use std::borrow::Cow;
use std::fmt;

use headroom_adapters::cluster::kubernetes::translate::Source;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{DefaultMessageFormatter, Location, MessageFormatter, Options, Spanned};

use super::item::{Fault, Item, Items, List};
use super::reader::{Broken, Sink};

/// Hands every object of `text` to `sink`.
pub(super) fn read<'r>(text: &'r str, sink: &mut Sink<'r>) -> Result<(), Broken> {
    for (start, document) in documents(text) {
        sink.begin(document, start);
        let mut cut_off = false;
        let read = serde_saphyr::with_deserializer_from_str_with_options(document, options(), |deserializer| {
            Document { sink, cut_off: &mut cut_off }.deserialize(deserializer)
        });
        if cut_off {
            return Err(Broken { offset: text.len(), problem: String::new(), truncated: true });
        }
        read.map_err(|error| Broken {
            offset: start + error.location().map_or(0, |location| offset(document, location)),
            problem: DefaultMessageFormatter.format_message(error.without_snippet()).replace(char::is_control, " "),
            truncated: matches!(error.without_snippet(), serde_saphyr::Error::Eof { .. }),
        })?;
    }
    Ok(())
}

/// The documents of a text with their offsets, without those that hold nothing. A marker at the start of a line always
/// ends a document, even inside a quoted text (YAML 1.2, 9.1.2).
fn documents(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some(0);
    std::iter::from_fn(move || {
        let start = rest?;
        let mut end = start;
        for line in text[start..].split_inclusive('\n') {
            if is_marker(line) {
                rest = Some(end + 3);
                return Some((start, &text[start..end]));
            }
            end += line.len();
        }
        rest = None;
        Some((start, &text[start..]))
    })
    .filter_map(|(start, document)| {
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '%']);
        let skipped = document.split_inclusive('\n').take_while(|line| !is_content(line)).map(str::len).sum::<usize>();
        let document = &document[skipped..];
        (!document.is_empty()).then_some((start + skipped, document))
    })
}

/// Whether the line separates documents: `---` or `...`, alone or with something after a space.
fn is_marker(line: &str) -> bool {
    let rest = line.strip_prefix("---").or_else(|| line.strip_prefix("..."));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

/// Dumps are large and flat: only what guards against deep nesting and aliases that multiply is kept.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
            max_total_comment_bytes: usize::MAX,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        emit_comments: false,
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

/// One object. It is built up as a tree before it is read: so a fault in it harms no other.
#[derive(Deserialize)]
struct Object(Spanned<Value>);

impl Source for Object {
    type Fault = Fault;

    fn read<'s, T: Deserialize<'s>>(&'s self) -> Result<T, Fault> {
        T::deserialize(&self.0.value).map_err(|error| Fault { offset: 0, problem: error.to_string() })
    }
}

impl Item for Object {
    fn kind(&self) -> Option<Cow<'_, str>> {
        self.0.value.get("kind")?.as_str().map(Cow::Borrowed)
    }

    fn offset(&self, document: &str) -> usize {
        offset(document, self.0.referenced)
    }
}

/// The offset of a place in bytes. YAML always counts lines and characters, and bytes only sometimes.
fn offset(document: &str, location: Location) -> usize {
    if let Some(offset) = location.span().byte_offset().and_then(|offset| usize::try_from(offset).ok()) {
        return offset;
    }
    let position = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let mut lines = document.split_inclusive('\n');
    let before = lines.by_ref().take(position(location.line())).map(str::len).sum::<usize>();
    let within = lines.next().unwrap_or_default().chars().take(position(location.column())).map(char::len_utf8);
    before + within.sum::<usize>()
}

/// One document.
struct Document<'s, 'r, 'c> {
    sink: &'s mut Sink<'r>,
    /// Set when the document lacks its end.
    cut_off: &'c mut bool,
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut list = None;
        let mut others = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == "items" {
                let list = list.insert(List::<Object>::new());
                if let Some(kind) = others.get("kind").and_then(Value::as_str) {
                    list.set_kind(kind.to_owned());
                }
                entries.next_value_seed(Items { list, sink: self.sink })?;
            } else {
                others.insert(key, entries.next_value()?);
            }
        }
        let Some(mut list) = list else {
            let object = Spanned::new(Value::Object(others), Location::UNKNOWN, Location::UNKNOWN);
            self.sink.object(&Object(object), None);
            return Ok(());
        };
        match others.get("kind").and_then(Value::as_str) {
            Some(kind) => list.set_kind(kind.to_owned()),
            // kubectl writes the kind after the items, so a list without it was not written to its end.
            None => *self.cut_off = true,
        }
        list.finish(self.sink);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        let mut list = List::<Object>::new();
        Items { list: &mut list, sink: self.sink }.visit_seq(items)?;
        list.finish(self.sink);
        Ok(())
    }

    /// A document may be empty.
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }
}
