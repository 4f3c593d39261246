//! Reference pages: docs/configuration.md, and the tables of others.

use std::fmt::Write;

use serde_json::Value as Json;

use super::shape::{FieldShape, RecordShape, Shape};

const INTRODUCTION: &str = include_str!("reference.md");
const EXAMPLE: &str = include_str!("example.yaml");
const PENDING: &str = include_str!("pending.yaml");

/// The page: an introduction, an example, and a table for each map of the file.
pub(super) fn reference(file: &Shape) -> String {
    let mut page = INTRODUCTION.replace("EXAMPLE\n", EXAMPLE).replace("PENDING\n", PENDING);
    sections(file, &mut page);
    page
}

/// The section of a record, then those of the records in it, each once.
pub(crate) fn sections(shape: &Shape, page: &mut String) {
    match shape {
        Shape::Record(record) => section(record, page),
        Shape::Map(inner) | Shape::Numbered(inner) | Shape::OneOrMore(inner) | Shape::List { item: inner, .. } => {
            sections(inner, page);
        }
        Shape::OneOf(variants) => {
            variants.iter().filter_map(|variant| variant.content.as_ref()).for_each(|content| section(content, page));
        }
        Shape::Flag
        | Shape::Count { .. }
        | Shape::Integer { .. }
        | Shape::Percent { .. }
        | Shape::Duration
        | Shape::Text
        | Shape::Written { .. }
        | Shape::Quantity { .. }
        | Shape::Dollars
        | Shape::Words(_) => {}
    }
}

fn section(record: &RecordShape, page: &mut String) {
    let title = if record.path.is_empty() { "The file".to_owned() } else { format!("`{}`", record.path) };
    let title = format!("\n## {title}\n");
    if page.contains(&title) {
        return;
    }
    write(page, format_args!("{title}\n{}\n", record.doc));
    if !record.fields.is_empty() {
        write(page, format_args!("\n| key | value | default | meaning |\n|---|---|---|---|\n"));
        record.fields.iter().for_each(|field| row(field, page));
    }
    record.fields.iter().for_each(|field| sections(&field.shape, page));
}

fn row(field: &FieldShape, page: &mut String) {
    let default = match &field.default {
        Some(Json::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Json::String(text)) if text.is_empty() => "none".to_owned(),
        Some(Json::String(text)) => format!("`{text}`"),
        Some(Json::Object(entries)) => entries.iter().map(|(key, value)| format!("`{key}: {value}`")).collect(),
        Some(other) => format!("`{other}`"),
        None if field.required => "required".to_owned(),
        None => "none".to_owned(),
    };
    let choices = match each(&field.shape) {
        Shape::Words(words) => words.iter().map(|(word, doc)| format!("<br>`{word}`: {doc}")).collect(),
        Shape::OneOf(variants) => {
            variants.iter().map(|variant| format!("<br>`{}`: {}", variant.key, variant.doc)).collect()
        }
        _ => String::new(),
    };
    let value = value(&field.shape);
    write(page, format_args!("| `{}` | {value} | {default} | {}{choices} |\n", field.key, field.doc));
}

/// What a list of choices is a list of.
fn each(shape: &Shape) -> &Shape {
    match shape {
        Shape::OneOrMore(item) => item,
        other => other,
    }
}

fn value(shape: &Shape) -> String {
    match shape {
        Shape::Count { .. } | Shape::Integer { .. } => "whole number".into(),
        Shape::Percent { .. } => "percentage".into(),
        Shape::Duration => "duration".into(),
        Shape::Quantity { .. } => "quantity".into(),
        Shape::Map(inner) => format!("map of names to {}", value(inner)),
        Shape::Numbered(inner) => format!("map of whole numbers to {}", value(inner)),
        Shape::OneOrMore(item) => format!("{}, or a list of these", value(item)),
        Shape::List { item, .. } => format!("list of {}", value(item)),
        Shape::Record(record) => format!("[map](#{})", anchor(record.path)),
        Shape::OneOf(variants) => {
            let linked = variants.iter().map(|variant| match &variant.content {
                Some(content) => format!("[`{}: {{…}}`](#{})", variant.key, anchor(content.path)),
                None => format!("`{}`", variant.key),
            });
            linked.collect::<Vec<_>>().join(" or ")
        }
        Shape::Written { expected, .. } => expected.trim_start_matches("a ").into(),
        Shape::Flag | Shape::Text | Shape::Dollars | Shape::Words(_) => shape.expected(),
    }
}

/// What a heading is called in links: letters and digits alone.
fn anchor(path: &str) -> String {
    path.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn write(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = page.write_fmt(text);
}
