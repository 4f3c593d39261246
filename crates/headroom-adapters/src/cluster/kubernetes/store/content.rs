//! A memory as a ConfigMap holds it: JSON, compressed when it is large.

use std::io::Read;

use headroom_core::memory::Memory;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::StoreError;

/// The number of the format. It grows when an older Headroom could not read the memory any more.
const FORMAT: u64 = 1;

/// Keys of the ConfigMap.
const FORMAT_KEY: &str = "format";
const PLAIN_KEY: &str = "memory.json";
const PACKED_KEY: &str = "memory.json.zst";

/// Up to so many bytes people can read it.
const PLAIN_LIMIT: usize = 64 << 10;

/// What all values of a ConfigMap may have together is 1 MiB; the rest is for the small keys.
const LIMIT: usize = (1 << 20) - 4096;

/// More than any memory that was ever compressed to [`LIMIT`].
const UNPACKED_LIMIT: u64 = 256 << 20;

/// zstd's own default.
const LEVEL: i32 = 3;

/// What is in the ConfigMap.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Content {
    /// No memory.
    #[default]
    None,
    /// As text.
    Plain(String),
    /// Compressed.
    Packed(Vec<u8>),
    /// Of a format that is not this one: its number as it is written.
    Foreign(String),
}

impl Content {
    /// How this memory is written.
    pub(super) fn of(memory: &Memory) -> Result<Self, StoreError> {
        let text = serde_json::to_string(memory).map_err(|error| StoreError::Unwritable(error.into()))?;
        if text.len() <= PLAIN_LIMIT {
            return Ok(Content::Plain(text));
        }
        let packed =
            zstd::bulk::compress(text.as_bytes(), LEVEL).map_err(|error| StoreError::Unwritable(error.into()))?;
        if packed.len() > LIMIT {
            return Err(StoreError::TooLarge { bytes: text.len(), packed: packed.len(), limit: LIMIT });
        }
        Ok(Content::Packed(packed))
    }

    /// What a ConfigMap holds.
    pub(super) fn read(found: ConfigMap) -> Self {
        let mut data = found.data.unwrap_or_default();
        let packed = found.binary_data.unwrap_or_default().remove(PACKED_KEY);
        let plain = data.remove(PLAIN_KEY);
        match data.remove(FORMAT_KEY) {
            Some(format) if format != FORMAT.to_string() => return Content::Foreign(format),
            None if plain.is_none() && packed.is_none() => return Content::None,
            _ => {}
        }
        match (plain, packed) {
            (Some(text), _) => Content::Plain(text),
            (None, Some(ByteString(bytes))) => Content::Packed(bytes),
            (None, None) => Content::Plain(String::new()),
        }
    }

    /// The memory that is written there, if there is one.
    pub(super) fn memory(&self, object: &str) -> Result<Option<Memory>, StoreError> {
        let corrupt = |reason: String| StoreError::Corrupt { object: object.to_owned(), reason };
        let read = match self {
            Content::None => return Ok(None),
            Content::Foreign(format) => {
                return Err(match format.parse() {
                    Ok(found) if found > FORMAT => {
                        StoreError::Newer { object: object.to_owned(), found, known: FORMAT }
                    }
                    _ => corrupt(format!("its format is {format:?}, which never was one")),
                });
            }
            Content::Plain(text) => serde_json::from_str(text),
            Content::Packed(bytes) => {
                let unpacked = unpack(bytes).map_err(|error| corrupt(format!("{PACKED_KEY}: {error}")))?;
                serde_json::from_slice(&unpacked)
            }
        };
        read.map(Some).map_err(|error| corrupt(error.to_string()))
    }

    /// The part of a ConfigMap that says so.
    pub(super) fn body(&self) -> Value {
        let mut body = json!({ "data": { FORMAT_KEY: FORMAT.to_string() } });
        match self {
            Content::Plain(text) => body["data"][PLAIN_KEY] = json!(text),
            Content::Packed(bytes) => body["binaryData"] = json!({ PACKED_KEY: ByteString(bytes.clone()) }),
            Content::None | Content::Foreign(_) => {}
        }
        body
    }

    /// The merge patch that also takes away what was written in another way.
    pub(super) fn patch(&self) -> Value {
        let mut patch = self.body();
        match self {
            Content::Plain(_) => patch["binaryData"] = json!({ PACKED_KEY: null }),
            Content::Packed(_) => patch["data"][PLAIN_KEY] = Value::Null,
            Content::None | Content::Foreign(_) => {}
        }
        patch
    }
}

fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    zstd::Decoder::new(bytes)?.take(UNPACKED_LIMIT).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}
