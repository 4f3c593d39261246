//! Lines and columns of a text.

use std::fmt;
use std::sync::Arc;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was named.
    pub file: Arc<str>,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    /// `file:line:column`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Finds the places of offsets. Offsets that only grow are found in one pass over the text.
pub(super) struct Places<'a> {
    file: Arc<str>,
    text: &'a str,
    /// The start of the last line that was asked for, and its number.
    line: (usize, usize),
}

impl<'a> Places<'a> {
    pub(super) fn new(file: &str, text: &'a str) -> Self {
        Places { file: Arc::from(file), text, line: (0, 1) }
    }

    /// The line and column of the byte at `offset`. An offset inside a character is the place of that character.
    pub(super) fn at(&mut self, offset: usize) -> Place {
        let offset = self.text.floor_char_boundary(offset);
        if offset < self.line.0 {
            self.line = (0, 1);
        }
        let passed = &self.text[self.line.0..offset];
        if let Some(last) = passed.rfind('\n') {
            self.line = (self.line.0 + last + 1, self.line.1 + passed.matches('\n').count());
        }
        let column = self.text[self.line.0..offset].chars().count() + 1;
        Place { file: Arc::clone(&self.file), line: self.line.1, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_any_order() {
        let mut places = Places::new("f", "ab\n\nüc\n");
        let shown: Vec<_> = [0, 1, 3, 4, 5, 6, 0, 99, 8, 4].map(|offset| places.at(offset).to_string()).into();
        assert_eq!(shown, ["f:1:1", "f:1:2", "f:2:1", "f:3:1", "f:3:1", "f:3:2", "f:1:1", "f:4:1", "f:4:1", "f:3:1"]);
    }
}
