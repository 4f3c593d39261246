//! One of several words or forms.

use serde_json::{Value as Json, json};

use super::scalar::{Complaint, scalar};
use super::{Kind, Read, unexpected};
use crate::config::problem::Problem;
use crate::config::shape::{Shape, VariantShape};
use crate::config::suggest::nearest;
use crate::config::tree::{Content, Scalar, shorten};

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

/// One form of a [`one_of`].
pub(crate) struct Variant<V> {
    shape: VariantShape,
    form: Form<V>,
}

enum Form<V> {
    /// `key: {…}`
    Map(Read<V>),
    /// `key`
    Word(V),
}

/// The form `key: {…}`.
pub(crate) fn variant<V: 'static>(key: &'static str, doc: &'static str, content: Kind<V>) -> Variant<V> {
    let record = match content.shape {
        Shape::Record(record) => Some(record),
        _ => None,
    };
    Variant { shape: VariantShape { key, doc, content: record }, form: Form::Map(content.read) }
}

/// The form of a bare word.
pub(crate) fn word<V: Clone + 'static>(key: &'static str, doc: &'static str, value: V) -> Variant<V> {
    Variant { shape: VariantShape { key, doc, content: None }, form: Form::Word(value) }
}

/// One of several forms. `show` tells how a default is written.
pub(crate) fn one_of<V: Clone + 'static>(variants: Vec<Variant<V>>, show: fn(&V) -> Option<Json>) -> Kind<V> {
    let shape = Shape::OneOf(variants.iter().map(|variant| variant.shape.clone()).collect());
    let expected = shape.expected();
    Kind {
        shape,
        read: Box::new(move |node, problems| match &node.content {
            Content::Map(entries) if entries.len() == 1 => {
                let (key, entry) = entries.first()?;
                let hint = match form(&variants, key) {
                    Ok(Form::Map(read)) => return read(&entry.value, problems),
                    Ok(Form::Word(_)) => format!("write the word `{key}` alone"),
                    Err(hint) => hint,
                };
                let message = format!("expected {expected}, found `{}`", shorten(key));
                problems.add(Problem::at(entry.key_place.clone(), message, hint));
                None
            }
            Content::Map(entries) if !entries.is_empty() => {
                let keys: Vec<String> = entries.keys().map(|key| format!("`{}`", shorten(key))).collect();
                let message = format!("expected {expected}, found {} at once", keys.join(" and "));
                problems.add(Problem::at(node.place.clone(), message, "keep exactly one of them"));
                None
            }
            Content::Scalar(scalar) => {
                let hint = match form(&variants, &scalar.text) {
                    Ok(Form::Map(_)) => format!("write `{}: {{}}`", scalar.text),
                    Ok(Form::Word(value)) => return Some(value.clone()),
                    Err(hint) => hint,
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

/// The form of this name, or what to do about its absence.
fn form<'v, V>(variants: &'v [Variant<V>], key: &str) -> Result<&'v Form<V>, String> {
    let found = variants.iter().find(|variant| variant.shape.key == key);
    found.map(|variant| &variant.form).ok_or_else(|| {
        match nearest(key, variants.iter().map(|variant| variant.shape.key)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write exactly one of these".to_owned(),
        }
    })
}
