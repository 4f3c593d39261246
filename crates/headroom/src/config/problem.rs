//! One thing that is wrong with a file, and how all of them are shown.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::tree::Place;

/// One thing that is wrong: where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    place: Option<Place>,
    message: String,
    also: Vec<(Place, String)>,
    hint: String,
}

impl Problem {
    /// A problem with what stands at `place`; `hint` says what to do.
    pub(crate) fn at(place: Place, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem { place: Some(place), message: message.into(), also: Vec::new(), hint: hint.into() }
    }

    /// A problem with what stands at `place` that `error` describes; it ends in `; hint: what to do`.
    pub(crate) fn from_error(place: Place, error: &impl fmt::Display) -> Self {
        let text = error.to_string();
        let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, "write something else"));
        Problem::at(place, message, hint)
    }

    /// A problem with the file as a whole.
    pub(crate) fn of_file(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem { place: None, message: message.into(), also: Vec::new(), hint: hint.into() }
    }

    /// The same, shown at `place`.
    pub(crate) fn placed(self, place: Place) -> Self {
        Problem { place: Some(place), ..self }
    }

    /// Shows another place that has to do with it.
    pub(crate) fn also(mut self, place: Place, label: impl Into<String>) -> Self {
        self.also.push((place, label.into()));
        self
    }

    fn render(&self, name: &str, text: &str, level: Level<'static>, renderer: &Renderer) -> String {
        let title = level.primary_title(&*self.message);
        let hint = Level::HELP.with_name("hint");
        let Some(place) = &self.place else {
            let groups = [Group::with_title(title), Group::with_title(hint.primary_title(&*self.hint))];
            return groups.map(|group| renderer.render(&[group])).join("\n");
        };
        // The parser gives no promise that its places lie between characters.
        let within = |place: &Place| text.floor_char_boundary(place.start)..text.ceil_char_boundary(place.end);
        let also = self.also.iter();
        let also = also.map(|(place, label)| AnnotationKind::Context.span(within(place)).label(label.as_str()));
        let here = AnnotationKind::Primary.span(within(place));
        let snippet = Snippet::source(text).path(name).annotation(here).annotations(also);
        renderer.render(&[title.element(snippet).element(hint.message(&*self.hint))])
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Notes one.
    pub(crate) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `value`, or the problems if there are any.
    pub(crate) fn none_or<T>(self, name: &str, text: &str, value: Option<T>) -> Result<T, ConfigErrors> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(ConfigErrors::new(name, text, self.0)),
        }
    }
}

/// Everything that is wrong with a file and the files that it names, in the order of their text.
///
/// Displays as `error:` with file, line and column, the source line with a caret, and a `hint:`, for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(Vec<FileProblems>);

impl ConfigErrors {
    pub(crate) fn new(name: &str, text: &str, problems: Vec<Problem>) -> Self {
        ConfigErrors(vec![FileProblems::new(name, text, problems)])
    }

    /// These, then those of another file.
    pub(crate) fn and(mut self, others: ConfigErrors) -> Self {
        self.0.extend(others.0);
        self
    }

    /// With terminal colours.
    pub fn styled(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let each = self.0.iter().map(|problems| problems.render(Level::ERROR, renderer));
        each.collect::<Vec<_>>().join("\n\n")
    }
}

impl std::error::Error for ConfigErrors {}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

/// What is right but can hardly be meant, in the order of the text; shown as errors are, with `warning:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigWarnings(Option<FileProblems>);

impl ConfigWarnings {
    pub(crate) fn new(name: &str, text: &str, problems: Vec<Problem>) -> Self {
        ConfigWarnings((!problems.is_empty()).then(|| FileProblems::new(name, text, problems)))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |file| file.problems.len())
    }

    /// With terminal colours.
    pub fn styled(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        self.0.as_ref().map_or_else(String::new, |file| file.render(Level::WARNING, renderer))
    }
}

impl fmt::Display for ConfigWarnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

/// Problems in one file, in the order of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileProblems {
    name: String,
    text: String,
    problems: Vec<Problem>,
}

impl FileProblems {
    fn new(name: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.place.as_ref().map(|place| place.start));
        problems.dedup();
        FileProblems { name: name.to_owned(), text: text.to_owned(), problems }
    }

    fn render(&self, level: Level<'static>, renderer: &Renderer) -> String {
        let FileProblems { name, text, problems } = self;
        let each = problems.iter().map(|problem| problem.render(name, text, level.clone(), renderer));
        each.collect::<Vec<_>>().join("\n\n")
    }
}
