//! Values that are one text.

use std::net::SocketAddr;

use headroom_core::policy::Percent;
use jiff::SignedDuration;
use regex_lite::Regex;
use serde_json::{Value as Json, json};

use super::{Kind, unexpected};
use crate::config::duration;
use crate::config::problem::Problem;
use crate::config::shape::Shape;
use crate::config::tree::{Content, Scalar};

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
        Ok(number) if scalar.plain => {
            Err(Complaint::new(format!("{number} is too little"), format!("write at least {min}")))
        }
        _ => Err(Complaint::unexpected("write digits only, without quotes")),
    };
    scalar(Shape::Count { min }, parse, |value| json!(value))
}

/// A whole number from `min` to `max`, which may be below zero.
pub(crate) fn integer(min: i64, max: i64) -> Kind<i64> {
    let parse = move |scalar: &Scalar| match scalar.text.parse() {
        Ok(number) if scalar.plain && (min..=max).contains(&number) => Ok(number),
        _ => Err(Complaint::unexpected(format!("write digits from {min} to {max}, without quotes"))),
    };
    scalar(Shape::Integer { min, max }, parse, |value| json!(value))
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
pub(crate) fn text<T: for<'t> From<&'t str> + AsRef<str> + 'static>() -> Kind<T> {
    let parse = |scalar: &Scalar| match &*scalar.text {
        "" => Err(Complaint::new("this text is empty", "write something between the quotes")),
        text if text.contains(char::is_control) => {
            Err(Complaint::new("this text has line breaks or other control characters", "write it in one line"))
        }
        text => Ok(text.into()),
    };
    scalar(Shape::Text, parse, |value: &T| json!(value.as_ref()))
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

/// An address with a port, to listen at.
pub(crate) fn address() -> Kind<SocketAddr> {
    let parse = |text: &str| text.parse().map_err(|_| "write it like 127.0.0.1:8085 or [::]:8085".to_owned());
    written("an IP address with a port", "^.+:[0-9]+$", parse, ToString::to_string)
}

/// A regular expression that matches anywhere in a text.
pub(crate) fn pattern() -> Kind<Regex> {
    let parse = |text: &str| match Regex::new(text) {
        _ if text.is_empty() => Err("write `.*` for any text".to_owned()),
        Ok(pattern) => Ok(pattern),
        Err(error) => Err(format!("{error}; write \\ before a character that stands for itself")),
    };
    written("a regular expression", ".", parse, |pattern| pattern.as_str().to_owned())
}

/// What is wrong with a scalar. Without a message it is not what was expected.
pub(super) struct Complaint {
    message: Option<String>,
    hint: String,
}

impl Complaint {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Complaint { message: Some(message.into()), hint: hint.into() }
    }

    pub(super) fn unexpected(hint: impl Into<String>) -> Self {
        Complaint { message: None, hint: hint.into() }
    }
}

/// A value that is one text, such as `parse` reads.
pub(super) fn scalar<V: 'static>(
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

/// `62.5` as 6250. None for anything that is not a number with at most two decimals.
pub(crate) fn hundredths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str, most: usize| (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 9) || !digits(decimals, 2) {
        return None;
    }
    let scale = if decimals.len() == 1 { 10 } else { 1 };
    whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(decimals.parse::<u32>().ok()? * scale)
}
