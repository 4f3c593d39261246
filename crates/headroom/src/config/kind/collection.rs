//! Lists, and maps whose keys are free.

use std::sync::Arc;

use headroom_core::snapshot::Labels;
use serde_json::{Value as Json, json};

use super::scalar::scalar;
use super::{Kind, unexpected};
use crate::config::problem::Problem;
use crate::config::shape::Shape;
use crate::config::tree::{Content, shorten};

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

/// A list of at least one such value, or one value alone. What cannot be read is left out.
pub(crate) fn one_or_more<V: 'static>(item: Kind<V>) -> Kind<Vec<V>> {
    let shape = Shape::OneOrMore(Box::new(item.shape));
    let (read, show) = (item.read, item.show);
    Kind {
        shape,
        read: Box::new(move |node, problems| match &node.content {
            Content::List(items) if items.is_empty() => {
                problems.add(Problem::at(
                    node.place.clone(),
                    "this list is empty",
                    "write at least one, or remove the key",
                ));
                None
            }
            Content::List(items) => Some(items.iter().filter_map(|item| read(item, problems)).collect()),
            Content::Scalar(_) | Content::Map(_) | Content::Broken => Some(vec![read(node, problems)?]),
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

/// Whole numbers, which may be below zero, with such values. What cannot be read is left out.
pub(crate) fn numbered<V: 'static>(value: Kind<V>) -> Kind<Vec<(i64, V)>> {
    let shape = Shape::Numbered(Box::new(value.shape));
    let read = value.read;
    let expected = shape.expected();
    Kind {
        shape,
        read: Box::new(move |node, problems| {
            let Some(entries) = node.entries() else {
                return unexpected(&expected, node, "write `number: value` on each line", problems);
            };
            let mut pairs = Vec::new();
            for (key, entry) in entries {
                let value = read(&entry.value, problems);
                match key.parse() {
                    Ok(number) => pairs.extend(value.map(|value| (number, value))),
                    Err(_) => {
                        let message = format!("expected a whole number before the colon, found `{}`", shorten(key));
                        problems.add(Problem::at(entry.key_place.clone(), message, "write digits, such as 10 or -5"));
                    }
                }
            }
            Some(pairs)
        }),
        show: Box::new(|_| None),
    }
}

/// Labels with their values, which may be empty.
pub(crate) fn labels() -> Kind<Labels> {
    let value = scalar(Shape::Text, |scalar| Ok(scalar.text.clone()), |value: &String| json!(value));
    map(value).map(|pairs| pairs.into_iter().map(|(key, value)| (Box::<str>::from(&*key), value)).collect())
}
