//! YAML text as a tree in which everything knows its place in the text.
//!
//! The tree is read from the parser's events and not through serde, because serde stops at the first error and has
//! already turned `0.10` into a number when it hands it over.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};
use indexmap::IndexMap;

use super::problem::{Problem, Problems};

/// A place in the text, in bytes.
pub(crate) type Place = Range<usize>;

/// One value with its place. That of a list or map is the place of its first entry.
#[derive(Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) content: Content,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    /// By key, in the order of the text.
    Map(Entries),
    /// Something that has been reported already.
    Broken,
}

pub(crate) type Entries = IndexMap<Rc<str>, Entry>;

/// Text as written, without its quotes.
#[derive(Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    /// Without quotes: it may be a number, a boolean or null.
    pub(crate) plain: bool,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key_place: Place,
    pub(crate) value: Rc<Node>,
}

impl Node {
    /// Whether it is an empty value, `~` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        match &self.content {
            Content::Scalar(scalar) => scalar.plain && matches!(&*scalar.text, "" | "~" | "null" | "Null" | "NULL"),
            Content::List(_) | Content::Map(_) | Content::Broken => false,
        }
    }

    /// The value of `key`, if this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        Some(&*self.entries()?.get(key)?.value)
    }

    /// Its text, if it is a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(scalar) => Some(&scalar.text),
            Content::List(_) | Content::Map(_) | Content::Broken => None,
        }
    }

    /// What it holds, if it is a map.
    pub(crate) fn entries(&self) -> Option<&Entries> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            Content::Scalar(_) | Content::List(_) | Content::Broken => None,
        }
    }

    /// What it is, for messages: `a list`.
    pub(crate) fn describe(&self) -> String {
        match &self.content {
            Content::Map(entries) if entries.is_empty() => "an empty map".to_owned(),
            Content::Map(_) => "a map".to_owned(),
            Content::List(_) => "a list".to_owned(),
            Content::Broken => "something else".to_owned(),
            Content::Scalar(_) if self.is_null() => "nothing".to_owned(),
            Content::Scalar(Scalar { text, plain: true }) => format!("`{}`", shorten(text)),
            Content::Scalar(Scalar { text, plain: false }) => format!("the text \"{}\"", shorten(text)),
        }
    }
}

/// At most 60 characters of `text`, in one line.
pub(crate) fn shorten(text: &str) -> String {
    let one_line = |part: &str| part.replace(char::is_control, " ");
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", one_line(text.get(..end).unwrap_or_default())),
        None => one_line(text),
    }
}

/// Reads the first document of `text`. None when the text has no value or a syntax error; what is wrong otherwise
/// (a key twice, a tag, an unknown alias, a second document) is added to `problems` and left out of the tree.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Option<Rc<Node>> {
    read_with(text, problems, |reader| reader.document())
}

/// Reads all documents of `text`, without those that have no value. Those before a syntax error are there all the same.
pub(crate) fn read_all(text: &str, problems: &mut Problems) -> Vec<Rc<Node>> {
    let mut documents = Vec::new();
    read_with(text, problems, |reader| reader.documents(&mut documents).map(|()| None));
    documents
}

fn read_with(
    text: &str,
    problems: &mut Problems,
    run: impl FnOnce(&mut Reader<'_, '_>) -> Result<Option<Rc<Node>>, ScanError>,
) -> Option<Rc<Node>> {
    let options = granit_parser::options! { emit_unresolved_aliases: true, emit_comments: false };
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: BTreeMap::new(),
        length: text.len(),
        problems,
    };
    run(&mut reader).unwrap_or_else(|error| {
        let start = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
        let hint =
            "indent with spaces, put a space after each colon and quote text that starts with a special character";
        problems.add(Problem::at(start..start, format!("this is not YAML: {}", error.info()), hint));
        None
    })
}

struct Reader<'t, 'p> {
    parser: Parser<'t, StrInput<'t>>,
    anchors: BTreeMap<usize, Rc<Node>>,
    length: usize,
    problems: &'p mut Problems,
}

impl<'t> Reader<'t, '_> {
    fn document(&mut self) -> Result<Option<Rc<Node>>, ScanError> {
        let mut root = None;
        let mut documents = 0;
        while let Some((event, place)) = self.next()? {
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
                Event::DocumentStart(..) if documents == 1 => {
                    let hint = "keep one document in a file";
                    self.problems.add(Problem::at(place, "a second document starts here", hint));
                    return Ok(root);
                }
                Event::DocumentStart(..) => documents += 1,
                event => root = Some(self.node(event, place)?),
            }
        }
        Ok(root)
    }

    fn documents(&mut self, documents: &mut Vec<Rc<Node>>) -> Result<(), ScanError> {
        while let Some((event, place)) = self.next()? {
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
                Event::DocumentStart(..) => self.anchors.clear(),
                event => {
                    let node = self.node(event, place)?;
                    if !node.is_null() {
                        documents.push(node);
                    }
                }
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<(Event<'t>, Place)>, ScanError> {
        let Some(next) = self.parser.next_event() else { return Ok(None) };
        let (event, span) = next?;
        let range = span.byte_range().unwrap_or(self.length..self.length);
        Ok(Some((event, range.start.min(self.length)..range.end.min(self.length))))
    }

    /// Reads the value that begins with `event`.
    fn node(&mut self, event: Event<'t>, place: Place) -> Result<Rc<Node>, ScanError> {
        let (anchor, tag, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                (anchor, tag, Node { place: trim(place, style), content: Content::Scalar(scalar) })
            }
            Event::SequenceStart(_, anchor, tag) => (anchor, tag, self.list(place)?),
            Event::MappingStart(_, anchor, tag) => (anchor, tag, self.map(place)?),
            Event::Alias(anchor) => {
                return Ok(self.anchors.get(&anchor).cloned().unwrap_or_else(|| {
                    let hint = "write the value out, or name something above it";
                    self.broken(Problem::at(place.clone(), "this alias stands inside what it names", hint), place)
                }));
            }
            Event::UnresolvedAlias(name) => {
                let name = shorten(&name);
                let hint = format!("write `&{name}` before the value that it stands for, above this line");
                let problem = Problem::at(place.clone(), format!("no anchor is called `{name}`"), hint);
                return Ok(self.broken(problem, place));
            }
            _ => {
                let hint = "write a value here";
                return Ok(self.broken(Problem::at(place.clone(), "there is no value here", hint), place));
            }
        };
        if tag.is_some() {
            let hint = "remove the word that starts with `!`";
            self.problems.add(Problem::at(node.place.clone(), "a tag has no meaning here", hint));
        }
        let node = Rc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        Ok(node)
    }

    fn broken(&mut self, problem: Problem, place: Place) -> Rc<Node> {
        self.problems.add(problem);
        Rc::new(Node { place, content: Content::Broken })
    }

    fn list(&mut self, start: Place) -> Result<Node, ScanError> {
        let mut items = Vec::new();
        let mut place = None;
        while let Some((event, at)) = self.next()? {
            if event == Event::SequenceEnd {
                place.get_or_insert(start.start..at.end);
                break;
            }
            let node = self.node(event, at)?;
            place.get_or_insert(node.place.clone());
            items.push(node);
        }
        Ok(Node { place: place.unwrap_or(start), content: Content::List(items) })
    }

    fn map(&mut self, start: Place) -> Result<Node, ScanError> {
        let mut entries = IndexMap::new();
        let mut merged = Vec::new();
        let mut place = None;
        while let Some((event, key_place)) = self.next()? {
            if event == Event::MappingEnd {
                place.get_or_insert(start.start..key_place.end);
                break;
            }
            let key = self.node(event, key_place.clone())?;
            let Some((event, at)) = self.next()? else { break };
            let value = self.node(event, at)?;
            place.get_or_insert(key_place.clone());
            self.entry(&key, key_place, value, &mut entries, &mut merged);
        }
        for (key, entry) in merged {
            entries.entry(key).or_insert(entry);
        }
        Ok(Node { place: place.unwrap_or(start), content: Content::Map(entries) })
    }

    fn entry(
        &mut self,
        key: &Node,
        key_place: Place,
        value: Rc<Node>,
        entries: &mut Entries,
        merged: &mut Vec<(Rc<str>, Entry)>,
    ) {
        let Content::Scalar(Scalar { text, plain }) = &key.content else {
            let hint = "write `key: value`, or quote the key if it starts with a special character";
            self.problems.add(Problem::at(key_place, "a key must be plain text", hint));
            return;
        };
        if *plain && text == "<<" {
            self.merge(&value, key_place, merged);
            return;
        }
        if let Some(first) = entries.get(text.as_str()) {
            let message = format!("the key `{}` stands here a second time", shorten(text));
            let problem = Problem::at(key_place, message, "remove one of the two");
            self.problems.add(problem.also(first.key_place.clone(), "first here"));
            return;
        }
        // A value that is left out has no place of its own.
        let value = match value.place.is_empty() && value.is_null() {
            true => Rc::new(Node { place: key_place.clone(), content: null() }),
            false => value,
        };
        entries.insert(text.as_str().into(), Entry { key_place, value });
    }

    /// Collects the entries of `<<: *other` or `<<: [*one, *two]`; earlier ones win.
    fn merge(&mut self, value: &Node, key_place: Place, merged: &mut Vec<(Rc<str>, Entry)>) {
        let maps: Option<Vec<&Entries>> = match &value.content {
            Content::Map(entries) => Some(vec![entries]),
            Content::List(items) => items.iter().map(|item| item.entries()).collect(),
            Content::Scalar(_) | Content::Broken => None,
        };
        match maps {
            Some(maps) => merged.extend(maps.into_iter().flatten().map(|(key, entry)| (Rc::clone(key), entry.clone()))),
            None => {
                let hint = "write `<<: *name` with the anchor of a map";
                self.problems.add(Problem::at(key_place, "`<<` takes the entries of a map, and this is none", hint));
            }
        }
    }
}

fn null() -> Content {
    Content::Scalar(Scalar { text: String::new(), plain: true })
}

/// A block of text ends at the next key; only its first mark is worth pointing at.
fn trim(place: Place, style: ScalarStyle) -> Place {
    match style {
        ScalarStyle::Literal | ScalarStyle::Folded => place.start..place.start.saturating_add(1).min(place.end),
        _ => place,
    }
}
