//! The elements of a JSON array, found while its text comes in pieces.

use serde::de::Error;

/// Finds elements. It keeps no more of the text than the part of one element that it has not seen the end of.
#[derive(Debug, Default)]
pub(super) struct Elements {
    place: Place,
    /// Arrays and objects that are open within the element.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The text of the element in earlier pieces; before the array, what is there instead of one.
    held: Vec<u8>,
    seen: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Before,
    Within,
    After,
    /// There is something else than one array.
    Lost,
}

/// More than this of something that is no array is not kept.
const WORDS: usize = 16;

impl Elements {
    /// Takes in a piece, and hands over the text of every element that ends in it.
    pub(super) fn push(&mut self, piece: &[u8], mut found: impl FnMut(&[u8])) {
        let mut begin = 0;
        for (at, &byte) in piece.iter().enumerate() {
            match self.place {
                Place::Within if self.in_string => match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                },
                Place::Within => match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' if self.depth > 0 => self.depth -= 1,
                    b',' | b']' if self.depth == 0 => {
                        let is_last = byte == b']';
                        self.end(piece.get(begin..at).unwrap_or_default(), is_last, &mut found);
                        begin = at + 1;
                        if is_last {
                            self.place = Place::After;
                        }
                    }
                    _ => {}
                },
                _ if byte.is_ascii_whitespace() => {}
                Place::Before if byte == b'[' && self.held.is_empty() => {
                    self.place = Place::Within;
                    begin = at + 1;
                }
                Place::Before if self.held.len() < WORDS => self.held.push(byte),
                _ => self.place = Place::Lost,
            }
        }
        if self.place == Place::Within {
            self.held.extend_from_slice(piece.get(begin..).unwrap_or_default());
        }
    }

    /// Nothing follows. Nomad writes null for an empty list.
    pub(super) fn finish(&self) -> Result<(), serde_json::Error> {
        match self.place {
            Place::After => Ok(()),
            Place::Before if self.held == b"null" => Ok(()),
            Place::Within => Err(serde_json::Error::custom("the list has no end")),
            Place::Before | Place::Lost => Err(serde_json::Error::custom("it is no list")),
        }
    }

    fn end(&mut self, rest: &[u8], is_last: bool, found: &mut impl FnMut(&[u8])) {
        self.held.extend_from_slice(if self.held.is_empty() { &[] } else { rest });
        let element = if self.held.is_empty() { rest } else { &self.held };
        // An array of nothing has no element.
        if !(is_last && self.seen == 0 && element.trim_ascii().is_empty()) {
            self.seen += 1;
            found(element);
        }
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, size: usize) -> Result<Vec<String>, String> {
        let (mut elements, mut found) = (Elements::default(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            elements.push(piece, |element| found.push(String::from_utf8_lossy(element).trim().to_owned()));
        }
        elements.finish().map(|()| found).map_err(|error| error.to_string())
    }

    #[test]
    fn elements_are_found_wherever_the_text_is_cut() {
        let texts: [(&str, &[&str]); 6] = [
            (r#"[{"a":[1,{"b":"]},"}]},{"c":"\"[\\"}]"#, &[r#"{"a":[1,{"b":"]},"}]}"#, r#"{"c":"\"[\\"}"#]),
            (" [ 1 , \"x,y\" ,null ]\n", &["1", "\"x,y\"", "null"]),
            ("[]", &[]),
            (" [ \n ] ", &[]),
            ("null\n", &[]),
            ("[1,,2]", &["1", "", "2"]),
        ];
        for (text, expected) in texts {
            for size in 1..=text.len() {
                let expected: Vec<String> = expected.iter().map(|&element| element.to_owned()).collect();
                assert_eq!(split(text, size), Ok(expected), "{text} in pieces of {size}");
            }
        }
    }

    #[test]
    fn what_is_cut_off_is_no_list() {
        for text in ["[{\"a\":1},", "[{\"a\":1}", "[\"a]", "["] {
            assert_eq!(split(text, 3), Err("the list has no end".to_owned()), "{text}");
        }
        for text in ["", "nul", "{\"a\":[1]}", "[1] x", "[1][2]", "Permission denied, and that at length", "x[1]"] {
            assert_eq!(split(text, 3), Err("it is no list".to_owned()), "{text}");
        }
    }
}
