//! The configuration's JSON schema (draft 7, which editors read best), for completion and checking while typing.

use serde_json::{Map, Value as Json, json};

use super::shape::{FieldShape, RecordShape, Shape, VariantShape};

/// The schema of the whole file.
pub(super) fn schema(file: &Shape) -> Json {
    let mut schema = of(file);
    if let Json::Object(object) = &mut schema {
        object.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
        object.insert("title".into(), json!("Headroom configuration"));
    }
    schema
}

fn of(shape: &Shape) -> Json {
    match shape {
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Count { min } => json!({ "type": "integer", "minimum": min, "maximum": u32::MAX }),
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Percent { min, max } => {
            json!({ "type": "number", "minimum": percent(*min), "maximum": percent(*max) })
        }
        Shape::Duration => json!({ "type": "string", "minLength": 2, "pattern": r"^(\d+h)?(\d+m)?(\d+s)?$" }),
        // YAML has no quotes around most text, so that what looks like a number arrives as one.
        Shape::Text => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Written { pattern, .. } => json!({ "type": ["string", "number"], "pattern": pattern }),
        Shape::Quantity { .. } | Shape::Dollars => json!({ "type": ["string", "number"] }),
        Shape::Map(value) => json!({ "type": "object", "additionalProperties": of(value) }),
        Shape::Numbered(value) => json!({
            "type": "object",
            "patternProperties": { r"^[-+]?\d+$": of(value) },
            "additionalProperties": false,
        }),
        Shape::OneOrMore(item) => {
            json!({ "anyOf": [of(item), { "type": "array", "items": of(item), "minItems": 1 }] })
        }
        Shape::List { item, filled } => json!({ "type": "array", "items": of(item), "minItems": u8::from(*filled) }),
        Shape::Words(words) => {
            let each = words.iter().map(|(word, doc)| json!({ "const": word, "description": doc }));
            json!({ "oneOf": each.collect::<Vec<_>>() })
        }
        Shape::Record(record) => of_record(record),
        Shape::OneOf(variants) => json!({ "oneOf": variants.iter().map(of_variant).collect::<Vec<_>>() }),
    }
}

fn of_record(record: &RecordShape) -> Json {
    let required: Vec<&str> = record.fields.iter().filter(|field| field.required).map(|field| field.key).collect();
    let properties: Map<String, Json> =
        record.fields.iter().map(|field| (field.key.to_owned(), of_field(field))).collect();
    let types = if required.is_empty() { json!(["object", "null"]) } else { json!("object") };
    json!({
        "type": types,
        "description": record.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn of_field(field: &FieldShape) -> Json {
    let mut schema = of(&field.shape);
    if let Json::Object(object) = &mut schema {
        object.insert("description".into(), json!(field.doc));
        if let Some(default) = &field.default {
            object.insert("default".into(), default.clone());
        }
    }
    schema
}

fn of_variant(variant: &VariantShape) -> Json {
    match &variant.content {
        None => json!({ "const": variant.key, "description": variant.doc }),
        Some(content) => json!({
            "type": "object",
            "description": variant.doc,
            "properties": { variant.key: of_record(content) },
            "required": [variant.key],
            "additionalProperties": false,
        }),
    }
}

fn percent(hundredths: u32) -> Json {
    match hundredths % 100 {
        0 => json!(hundredths / 100),
        _ => json!(f64::from(hundredths) / 100.0),
    }
}
