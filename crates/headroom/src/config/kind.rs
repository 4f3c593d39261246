//! Kinds of values: how each is read, described and shown. Declarations are put together from these.

use std::sync::Arc;

use headroom_core::policy::Percent;
use headroom_core::quantity::{Money, Parsed, QuantityError, Round, parse_milli, parse_units};
use headroom_core::snapshot::Labels;
use jiff::SignedDuration;
use serde_json::{Value as Json, json};

use super::duration;
use super::problem::{Problem, Problems};
use super::shape::{Shape, VariantShape};
use super::suggest::nearest;
use super::tree::{Content, Node, Scalar, shorten};

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

/// `true` or `false`.
pub(crate) fn flag() -> Kind<bool> {
    let parse = |scalar: &Scalar| match (scalar.plain, &*scalar.text) {
        (true, "true") => Ok(true),
        (true, "false") => Ok(false),
        _ => Err(Complaint::unexpected("write true or false, without quotes")),
    };
    scalar(Shape::Flag, parse, |value| json!(value))
}

/// A whole number of at least `min`.
pub(crate) fn count(min: u32) -> Kind<u32> {
    let parse = move |scalar: &Scalar| match scalar.text.parse() {
        Ok(number) if scalar.plain && number >= min => Ok(number),
        _ => Err(Complaint::unexpected("write digits only, without quotes")),
    };
    scalar(Shape::Count { min }, parse, |value| json!(value))
}

/// A percentage from `min` to `max`.
pub(crate) fn percent(min: Percent, max: Percent) -> Kind<Percent> {
    let parse = move |scalar: &Scalar| {
        let unexpected = || Complaint::unexpected("write a number with at most two decimals, without a sign or quotes");
        let value = hundredths(&scalar.text).filter(|_| scalar.plain).map(Percent).ok_or_else(unexpected)?;
        match value {
            value if value < min => {
                Err(Complaint::new(format!("{value} is too little"), format!("write at least {min}")))
            }
            value if value > max => Err(Complaint::new(format!("{value} is too much"), format!("write at most {max}"))),
            value => Ok(value),
        }
    };
    let show = |value: &Percent| match value.0 % 100 {
        0 => json!(value.0 / 100),
        _ => json!(f64::from(value.0) / 100.0),
    };
    scalar(Shape::Percent { min: min.0, max: max.0 }, parse, show)
}

/// A duration of at least `min`.
pub(crate) fn duration(min: SignedDuration) -> Kind<SignedDuration> {
    let parse = move |scalar: &Scalar| {
        let value = duration::parse(&scalar.text).map_err(|error| Complaint::new(error.problem, error.hint))?;
        let too_short = || {
            let (value, min) = (duration::show(value), duration::show(min));
            Complaint::new(format!("{value} is too short"), format!("write at least {min}"))
        };
        (value >= min).then_some(value).ok_or_else(too_short)
    };
    scalar(Shape::Duration, parse, |value| json!(duration::show(*value)))
}

/// Any text but an empty one. Numbers and booleans are taken as they are written.
pub(crate) fn text() -> Kind<Arc<str>> {
    let parse = |scalar: &Scalar| match &*scalar.text {
        "" => Err(Complaint::new("this text is empty", "write something between the quotes")),
        text if text.contains(char::is_control) => {
            Err(Complaint::new("this text has line breaks or other control characters", "write it in one line"))
        }
        text => Ok(text.into()),
    };
    scalar(Shape::Text, parse, |value| json!(value))
}

/// Text of a certain form, with a regular expression for it. `parse` says what to do about text of another form; `show`
/// writes a default.
pub(crate) fn written<V: 'static>(
    expected: &'static str,
    pattern: &'static str,
    parse: impl Fn(&str) -> Result<V, String> + 'static,
    show: impl Fn(&V) -> String + 'static,
) -> Kind<V> {
    let parse = move |scalar: &Scalar| parse(&scalar.text).map_err(Complaint::unexpected);
    scalar(Shape::Written { expected, pattern }, parse, move |value| json!(show(value)))
}

const AMOUNT: &str = "write what `kubectl get node -o yaml` shows for such a machine";

/// Cpu in milli, more than none.
pub(crate) fn cpu() -> Kind<i64> {
    quantity("4 or 3920m", |text| parse_milli(text, Round::Down))
}

/// Bytes, more than none.
pub(crate) fn bytes() -> Kind<i64> {
    quantity("16Gi", |text| parse_units(text, Round::Down))
}

/// Pieces of something, more than none.
pub(crate) fn pieces() -> Kind<i64> {
    quantity("8", |text| parse_units(text, Round::Down))
}

/// Cpu in milli that a pod asks for.
pub(crate) fn requested_cpu() -> Kind<i64> {
    request("500m", |text| parse_milli(text, Round::Up))
}

/// Bytes or pieces that a pod asks for.
pub(crate) fn requested() -> Kind<i64> {
    request("512Mi", |text| parse_units(text, Round::Up))
}

fn request(example: &'static str, parse: fn(&str) -> Result<Parsed, QuantityError>) -> Kind<i64> {
    const REQUEST: &str = "write what the pod's `resources.requests` says";
    let read = move |scalar: &Scalar| match parse(&scalar.text) {
        Ok(parsed) if parsed.saturated => Err(Complaint::new("no pod asks for that much", REQUEST)),
        Ok(parsed) if parsed.value < 0 => Err(Complaint::new("a request is not negative", REQUEST)),
        Ok(parsed) => Ok(parsed.value),
        Err(error) => Err(error.into()),
    };
    scalar(Shape::Quantity { example }, read, |value| json!(value))
}

fn quantity(example: &'static str, parse: fn(&str) -> Result<Parsed, QuantityError>) -> Kind<i64> {
    let read = move |scalar: &Scalar| match parse(&scalar.text) {
        Ok(parsed) if parsed.saturated => Err(Complaint::new("no machine has that much", AMOUNT)),
        Ok(parsed) if parsed.value <= 0 => Err(Complaint::new("this must be more than nothing", AMOUNT)),
        Ok(parsed) => Ok(parsed.value),
        Err(error) => Err(error.into()),
    };
    scalar(Shape::Quantity { example }, read, |value| json!(value))
}

/// Dollars an hour.
pub(crate) fn dollars() -> Kind<Money> {
    let parse = |scalar: &Scalar| match Money::from_dollars_text(&scalar.text) {
        Ok(price) if price.0 < 0 => Err(Complaint::new("a price is not negative", "write 0 for what costs nothing")),
        Ok(price) => Ok(price),
        Err(error) => Err(error.into()),
    };
    scalar(Shape::Dollars, parse, |value| json!(value.to_string()))
}

/// One of a few words, with what each means.
pub(crate) fn words<V: Clone + PartialEq + 'static>(words: &'static [(&'static str, V, &'static str)]) -> Kind<V> {
    let shape = Shape::Words(words.iter().map(|(word, _, doc)| (*word, *doc)).collect());
    let parse = |scalar: &Scalar| {
        let found = words.iter().find(|(word, ..)| *word == scalar.text);
        let meant = || nearest(&scalar.text, words.iter().map(|(word, ..)| *word));
        let hint =
            || meant().map_or_else(|| "write one of these words".into(), |word| format!("did you mean `{word}`?"));
        found.map(|(_, value, _)| value.clone()).ok_or_else(|| Complaint::unexpected(hint()))
    };
    let show = |value: &V| words.iter().find(|(_, known, _)| known == value).map(|(word, ..)| json!(word));
    Kind { show: Box::new(show), ..scalar(shape, parse, |_| Json::Null) }
}

/// A list of such values. What cannot be read is left out.
pub(crate) fn list<V: 'static>(item: Kind<V>) -> Kind<Vec<V>> {
    let shape = Shape::List { item: Box::new(item.shape), filled: false };
    let (read, show) = (item.read, item.show);
    let expected = shape.expected();
    Kind {
        shape,
        read: Box::new(move |node, problems| match &node.content {
            Content::List(items) => Some(items.iter().filter_map(|item| read(item, problems)).collect()),
            Content::Scalar(_) | Content::Map(_) | Content::Broken => {
                unexpected(&expected, node, "write each item after `- `", problems)
            }
        }),
        show: Box::new(move |values| values.iter().map(&show).collect::<Option<Vec<_>>>().map(Json::Array)),
    }
}

/// Any keys with such values, in the order of their text. What cannot be read is left out.
pub(crate) fn map<V: 'static>(value: Kind<V>) -> Kind<Vec<(Arc<str>, V)>> {
    let shape = Shape::Map(Box::new(value.shape));
    let read = value.read;
    let expected = shape.expected();
    Kind {
        shape,
        read: Box::new(move |node, problems| {
            let Some(entries) = node.entries() else {
                return unexpected(&expected, node, "write `key: value` on each line", problems);
            };
            let pairs = entries.iter();
            Some(pairs.filter_map(|(key, entry)| Some(((**key).into(), read(&entry.value, problems)?))).collect())
        }),
        show: Box::new(|_| None),
    }
}

/// Labels with their values, which may be empty.
pub(crate) fn labels() -> Kind<Labels> {
    let value = scalar(Shape::Text, |scalar| Ok(scalar.text.clone()), |value: &String| json!(value));
    map(value).map(|pairs| pairs.into_iter().map(|(key, value)| (Box::<str>::from(&*key), value)).collect())
}

/// One form of a [`one_of`].
pub(crate) struct Variant<V> {
    shape: VariantShape,
    read: Read<V>,
}

/// The form `key: {…}`.
pub(crate) fn variant<V: 'static>(key: &'static str, doc: &'static str, content: Kind<V>) -> Variant<V> {
    let record = match content.shape {
        Shape::Record(record) => Some(record),
        _ => None,
    };
    Variant { shape: VariantShape { key, doc, content: record }, read: content.read }
}

/// The form of a bare word.
pub(crate) fn word<V: Clone + 'static>(key: &'static str, doc: &'static str, value: V) -> Variant<V> {
    Variant { shape: VariantShape { key, doc, content: None }, read: Box::new(move |_, _| Some(value.clone())) }
}

/// One of several forms. `show` tells how a default is written.
pub(crate) fn one_of<V: 'static>(variants: Vec<Variant<V>>, show: fn(&V) -> Option<Json>) -> Kind<V> {
    let shape = Shape::OneOf(variants.iter().map(|variant| variant.shape.clone()).collect());
    let expected = shape.expected();
    Kind {
        shape,
        read: Box::new(move |node, problems| match &node.content {
            Content::Map(entries) if entries.len() == 1 => {
                let (key, entry) = entries.first()?;
                let found = variants.iter().find(|variant| variant.shape.key == &**key);
                if let Some(variant) = found.filter(|variant| variant.shape.content.is_some()) {
                    return (variant.read)(&entry.value, problems);
                }
                let hint = match (found, nearest(key, variants.iter().map(|variant| variant.shape.key))) {
                    (Some(_), _) => format!("write the word `{key}` alone"),
                    (None, Some(meant)) => format!("did you mean `{meant}`?"),
                    (None, None) => "write exactly one of these".to_owned(),
                };
                let message = format!("expected {expected}, found `{}`", shorten(key));
                problems.add(Problem::at(entry.key_place.clone(), message, hint));
                None
            }
            Content::Scalar(scalar) => {
                let found = variants.iter().find(|variant| variant.shape.key == scalar.text);
                if let Some(variant) = found.filter(|variant| variant.shape.content.is_none()) {
                    return (variant.read)(node, problems);
                }
                let hint = match (found, nearest(&scalar.text, variants.iter().map(|variant| variant.shape.key))) {
                    (Some(variant), _) => format!("write `{}: {{}}`", variant.shape.key),
                    (None, Some(meant)) => format!("did you mean `{meant}`?"),
                    (None, None) => "write exactly one of these".to_owned(),
                };
                unexpected(&expected, node, &hint, problems)
            }
            Content::Map(_) | Content::List(_) | Content::Broken => {
                unexpected(&expected, node, "write exactly one of these", problems)
            }
        }),
        show: Box::new(show),
    }
}

/// What is wrong with a scalar. Without a message it is not what was expected.
struct Complaint {
    message: Option<String>,
    hint: String,
}

impl Complaint {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Complaint { message: Some(message.into()), hint: hint.into() }
    }

    fn unexpected(hint: impl Into<String>) -> Self {
        Complaint { message: None, hint: hint.into() }
    }
}

impl From<QuantityError> for Complaint {
    fn from(error: QuantityError) -> Self {
        let text = error.to_string();
        let (message, hint) = text.split_once("; hint: ").unwrap_or((&text, AMOUNT));
        Complaint::new(message, hint)
    }
}

fn scalar<V: 'static>(
    shape: Shape,
    parse: impl Fn(&Scalar) -> Result<V, Complaint> + 'static,
    show: impl Fn(&V) -> Json + 'static,
) -> Kind<V> {
    let expected = shape.expected();
    Kind {
        shape,
        read: Box::new(move |node, problems| {
            if node.is_null() {
                return unexpected(&expected, node, "write a value after the colon, or remove the key", problems);
            }
            let Content::Scalar(scalar) = &node.content else {
                return unexpected(&expected, node, "write one value", problems);
            };
            let complaint = match parse(scalar) {
                Ok(value) => return Some(value),
                Err(complaint) => complaint,
            };
            let Some(message) = complaint.message else {
                return unexpected(&expected, node, &complaint.hint, problems);
            };
            problems.add(Problem::at(node.place.clone(), message, complaint.hint));
            None
        }),
        show: Box::new(move |value| Some(show(value))),
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

/// `62.5` as 6250. None for anything that is not a number with at most two decimals.
fn hundredths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str, most: usize| (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 9) || !digits(decimals, 2) {
        return None;
    }
    let scale = if decimals.len() == 1 { 10 } else { 1 };
    whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(decimals.parse::<u32>().ok()? * scale)
}
