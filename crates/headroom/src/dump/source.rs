//! The texts of dump files.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::DumpError;
use super::place::Places;

/// The text of `file`, or of standard input when it is `-`.
pub(super) fn read(file: &Path) -> Result<String, DumpError> {
    let name = file.display().to_string();
    let bytes = if name == "-" { standard_input() } else { fs::read(file) };
    match bytes {
        Ok(bytes) => text(&name, bytes),
        Err(source) => Err(DumpError::Unreadable { file: name, source }),
    }
}

fn standard_input() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Takes UTF-8 as it is. UTF-16 is what `>` writes in older versions of PowerShell.
fn text(name: &str, bytes: Vec<u8>) -> Result<String, DumpError> {
    let utf16 = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some((rest, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, rest @ ..] => Some((rest, u16::from_be_bytes as fn([u8; 2]) -> u16)),
        _ => None,
    };
    let no_text = |valid: &str| DumpError::NotText { place: Places::new(name, valid).at(valid.len()) };
    match utf16 {
        Some((bytes, unit)) => {
            let (pairs, _) = bytes.as_chunks::<2>();
            String::from_utf16(&pairs.iter().map(|pair| unit(*pair)).collect::<Vec<_>>()).map_err(|_| no_text(""))
        }
        None => String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            no_text(str::from_utf8(valid).unwrap_or_default())
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, utf16: bool) {
            let mark: &[u8] = if utf16 { b"\xff\xfe" } else { b"" };
            let _ = text("f", [mark, &bytes].concat());
        }
    }

    #[test]
    fn utf16_is_read_in_both_orders() {
        let little = "\u{feff}kind: ü".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big = "\u{feff}kind: ü".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(text("f", little).unwrap(), "kind: ü");
        assert_eq!(text("f", big).unwrap(), "kind: ü");
    }

    #[test]
    fn no_text_is_an_error_with_its_place() {
        let error = text("f", b"kind: Pod\nname: \xff".to_vec()).unwrap_err();
        assert!(error.to_string().starts_with("f:2:7: this is no UTF-8 text; hint: "), "{error}");
    }
}
