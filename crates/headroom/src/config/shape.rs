//! What a value may look like: the erased form of a declaration, from which schema and reference are made.

use serde_json::Value as Json;

/// What a value may look like.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Flag,
    Count {
        min: u32,
    },
    /// A whole number that may be below zero.
    Integer {
        min: i64,
        max: i64,
    },
    /// In hundredths of a percent.
    Percent {
        min: u32,
        max: u32,
    },
    Duration,
    Text,
    /// Text of a certain form.
    Written {
        expected: &'static str,
        /// A regular expression for it.
        pattern: &'static str,
    },
    /// A Kubernetes quantity, with an example.
    Quantity {
        example: &'static str,
    },
    Dollars,
    /// Any keys, all with such values.
    Map(Box<Shape>),
    /// Whole numbers, all with such values.
    Numbered(Box<Shape>),
    List {
        item: Box<Shape>,
        /// At least one.
        filled: bool,
    },
    /// A list of at least one, or one alone.
    OneOrMore(Box<Shape>),
    /// Words with what they mean.
    Words(Vec<(&'static str, &'static str)>),
    Record(RecordShape),
    OneOf(Vec<VariantShape>),
}

/// A map with known keys.
#[derive(Clone, Debug)]
pub(crate) struct RecordShape {
    /// What the reference calls it: `groups[].size`. Empty for the whole file.
    pub(crate) path: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) fields: Vec<FieldShape>,
}

/// One key of a record.
#[derive(Clone, Debug)]
pub(crate) struct FieldShape {
    pub(crate) key: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
    /// What holds when the key is left out, where that is a value.
    pub(crate) default: Option<Json>,
    pub(crate) shape: Shape,
}

/// One of several forms: `key: {…}`, or the bare word `key` when there is nothing to say.
#[derive(Clone, Debug)]
pub(crate) struct VariantShape {
    pub(crate) key: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) content: Option<RecordShape>,
}

impl Shape {
    /// What is expected, for messages and the reference: `a whole number`.
    pub(crate) fn expected(&self) -> String {
        match self {
            Shape::Flag => "true or false".into(),
            Shape::Count { min: 0 } => "a whole number".into(),
            Shape::Count { min } => format!("a whole number of at least {min}"),
            Shape::Integer { .. } => "a whole number such as 50 or -10".into(),
            Shape::Percent { .. } => "a percentage such as 70 or 62.5".into(),
            Shape::Duration => "a duration such as 90s, 10m or 1h30m".into(),
            Shape::Text => "text".into(),
            Shape::Written { expected, .. } => (*expected).into(),
            Shape::Quantity { example } => format!("a quantity such as {example}"),
            Shape::Dollars => "dollars an hour such as 0.0332".into(),
            Shape::Map(_) | Shape::Record(_) => "a map".into(),
            Shape::Numbered(_) => "a map of numbers".into(),
            Shape::OneOrMore(item) => item.expected(),
            Shape::List { .. } => "a list".into(),
            Shape::Words(words) => one_of(words.iter().map(|(word, _)| (*word).to_owned())),
            Shape::OneOf(variants) => one_of(variants.iter().map(|variant| match variant.content {
                Some(_) => format!("{}: {{…}}", variant.key),
                None => variant.key.to_owned(),
            })),
        }
    }
}

fn one_of(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => "nothing".into(),
    }
}
