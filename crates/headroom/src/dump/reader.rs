//! Takes objects in, one after the other.

use std::collections::BTreeMap;
use std::fmt;

use headroom_adapters::cluster::kubernetes::object::{Condition, Header, Metadata, Node, Pod};
use headroom_adapters::cluster::kubernetes::translate::{self, Specs, Translated};
use headroom_adapters::cluster::nomad::object::Kind;
use headroom_adapters::cluster::nomad::translate::Gathered;
use headroom_core::snapshot::{Builder, Change};
use jiff::Timestamp;

use super::coverage::Seen;
use super::item::{Fault, Item};
use super::place::{Place, Places};
use super::{Dump, DumpError, json, nomad, yaml};

/// Reads texts into a [`Dump`].
#[derive(Debug, Default)]
pub struct Reader {
    files: Vec<String>,
    builder: Builder,
    specs: Specs,
    seen: Seen,
    counts: BTreeMap<String, u64>,
    warnings: Vec<Warning>,
    skipped: u64,
    newest: Option<Timestamp>,
    nomad: Gathered,
}

/// Something in a dump that was skipped or read in another way than it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where the object or its fault is; None when it was not read from a file.
    pub place: Option<Place>,
    /// The kind and name of the object, as far as they are known.
    pub object: String,
    /// What is wrong and what was done about it.
    pub problem: String,
}

impl Warning {
    /// About an object that was read from a running cluster.
    pub fn of_cluster(text: &str) -> Self {
        let (object, problem) = text.split_once(": ").unwrap_or(("", text));
        Warning { place: None, object: object.to_owned(), problem: problem.to_owned() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.object.is_empty() {
            write!(f, "{}: ", self.object)?;
        }
        f.write_str(&self.problem)
    }
}

impl Reader {
    /// Takes in all objects of a text; `file` is what it is called in errors and warnings.
    ///
    /// Where pods are selected by a label that is unique to each of them, and that was left out for that reason, the
    /// pods of the text are read once more.
    pub fn read(&mut self, file: &str, text: &str) -> Result<(), DumpError> {
        self.files.push(file.to_owned());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.pass(file, text, false)?;
        if self.specs.take_left_out() { self.pass(file, text, true) } else { Ok(()) }
    }

    fn pass(&mut self, file: &str, text: &str, again: bool) -> Result<(), DumpError> {
        let mut sink = Sink { reader: self, places: Places::new(file, text), document: text, start: 0, again };
        let read = if json::is_json(text) { json::read(text, &mut sink) } else { yaml::read(text, &mut sink) };
        read.map_err(|Broken { offset, problem, truncated }| {
            let place = sink.places.at(offset);
            if truncated { DumpError::Truncated { place } } else { DumpError::Syntax { place, problem } }
        })
    }

    /// What was read. Without any node or pod that is an error.
    pub fn finish(mut self) -> Result<Dump, DumpError> {
        let nomad = !self.nomad.is_empty();
        if nomad {
            self.finish_nomad();
        } else if !self.seen.node_or_pod() {
            return Err(DumpError::Nothing { files: self.files.join(", ") });
        }
        for (kind, coverage) in self.seen.coverage().filter(|_| !nomad) {
            self.builder.apply(Change::Coverage(kind, coverage));
        }
        let Reader { files, builder, counts, warnings, skipped, newest, .. } = self;
        Ok(Dump { files, builder, warnings, skipped, counts, nomad, newest })
    }

    /// Objects of Nomad mean something only together.
    fn finish_nomad(&mut self) {
        let mut sight = std::mem::take(&mut self.nomad).sight();
        self.newest = sight.newest;
        let warnings = std::mem::take(&mut sight.warnings).into_iter().map(|(object, problem)| Warning {
            place: None,
            object,
            problem,
        });
        self.warnings.extend(warnings);
        sight.changes().into_iter().for_each(|change| self.builder.apply(change));
    }
}

/// Why a text could not be read to its end.
pub(super) struct Broken {
    /// In bytes from the start of the text.
    pub(super) offset: usize,
    pub(super) problem: String,
    pub(super) truncated: bool,
}

/// Where the objects of one text go.
pub(super) struct Sink<'r> {
    reader: &'r mut Reader,
    places: Places<'r>,
    /// The part of the text that is being read, and where it starts.
    document: &'r str,
    start: usize,
    /// All that is to be noted has been noted: only the pods themselves are taken in.
    again: bool,
}

impl<'r> Sink<'r> {
    /// From now on offsets count from `document`, which starts at `start`.
    pub(super) fn begin(&mut self, document: &'r str, start: usize) {
        (self.document, self.start) = (document, start);
    }

    /// There is a list of this kind, even if it is empty.
    pub(super) fn list_of(&mut self, kind: &str) {
        self.reader.seen.kind(kind);
    }

    /// Takes in one object; `kind` is its kind if the object itself does not say.
    pub(super) fn object(&mut self, item: &impl Item, kind: Option<&str>) {
        let own = item.kind();
        let Some(kind) = own.as_deref().or(kind) else {
            if let Some((kind, name)) = nomad::recognize(item) {
                self.nomad(item, kind, name);
                return;
            }
            let header = item.read::<Header<'_>>();
            let problem = if header.is_ok() { "skipped: it has no kind" } else { "skipped: it is no object" };
            self.warn(item, 0, "an object".to_owned(), problem.to_owned());
            return;
        };
        if self.again {
            if kind == "Pod" {
                // Whatever is wrong with it has been said.
                self.pod(item).ok();
            }
            return;
        }
        self.reader.seen.kind(kind);
        match self.reader.counts.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.reader.counts.insert(kind.to_owned(), 1)),
        }
        if let Err(Fault { offset, problem }) = self.take(item, kind) {
            self.reader.seen.skipped(kind);
            self.reader.skipped += u64::from(matches!(kind, "Node" | "Pod"));
            self.warn(item, offset, name_of(item, kind), format!("skipped: {problem}"));
        }
    }

    fn nomad(&mut self, item: &impl Item, kind: Kind, name: String) {
        if self.again {
            return;
        }
        *self.reader.counts.entry(kind.name().to_owned()).or_default() += 1;
        if let Err(Fault { offset, problem }) = nomad::take(item, kind, &mut self.reader.nomad) {
            self.reader.nomad.skipped(kind);
            self.reader.skipped += u64::from(matches!(kind, Kind::Node | Kind::Allocation));
            self.warn(item, offset, name, format!("skipped: {problem}"));
        }
    }

    /// Takes in an object of this kind, if it is one that matters.
    fn take(&mut self, item: &impl Item, kind: &str) -> Result<(), Fault> {
        match kind {
            "Node" => return self.node(item),
            "Pod" => return self.pod(item),
            _ => {}
        }
        let Some(translated) = translate::object(kind, item, &mut self.reader.specs)? else { return Ok(()) };
        for problem in translated.warnings {
            self.warn(item, 0, name_of(item, kind), problem);
        }
        self.reader.builder.apply(translated.value);
        Ok(())
    }

    fn node(&mut self, item: &impl Item) -> Result<(), Fault> {
        let node: Node<'_> = item.read()?;
        let Translated { value, warnings } = translate::node(&node)?;
        self.note_times(&node.metadata, &node.status.conditions);
        for problem in warnings {
            self.warn(item, 0, format!("node {}", value.name), problem);
        }
        self.reader.builder.apply(Change::Node(Box::new(value)));
        Ok(())
    }

    fn pod(&mut self, item: &impl Item) -> Result<(), Fault> {
        let pod: Pod<'_> = item.read()?;
        let Translated { value, warnings } = translate::pod(&pod, &mut self.reader.specs)?;
        self.note_times(&pod.metadata, &pod.status.conditions);
        for problem in warnings {
            self.warn(item, 0, format!("pod {}/{}", value.spec.namespace, value.name), problem);
        }
        self.reader.seen.pod(&value);
        self.reader.builder.apply(Change::Pod(value));
        Ok(())
    }

    /// Looks for the latest instant. A time of deletion is none: it may be still to come.
    fn note_times(&mut self, metadata: &Metadata<'_>, conditions: &[Condition<'_>]) {
        let of_conditions = conditions.iter().flat_map(|it| [&it.last_transition_time, &it.last_heartbeat_time]);
        let times = of_conditions.chain([&metadata.creation_timestamp]).flatten();
        self.reader.newest = times.filter_map(|time| time.parse().ok()).chain(self.reader.newest).max();
    }

    fn warn(&mut self, item: &impl Item, offset: usize, object: String, problem: String) {
        if self.again {
            return;
        }
        let place = self.places.at(self.start + item.offset(self.document) + offset);
        self.reader.warnings.push(Warning { place: Some(place), object, problem });
    }
}

/// `pod default/web`, as much of it as is known.
fn name_of(item: &impl Item, kind: &str) -> String {
    item.read::<Header<'_>>().map_or_else(|_| kind.to_owned(), |header| header.describe(kind))
}
