//! Command lines of programs in Go, with places for messages.

use crate::config::problem::{Problem, Problems};
use crate::config::suggest::nearest;
use crate::config::tree::{Place, shorten};

/// The words of a command line, and the text in which they stand.
#[derive(Clone, Debug)]
pub struct CommandLine {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) words: Vec<Word>,
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: Place,
}

impl CommandLine {
    /// These words, as a shell hands them over. Messages show each in a line of its own.
    pub fn of_words(words: &[String]) -> Self {
        let mut text = String::new();
        let place = |word: &String| {
            let start = text.len();
            text.extend(word.chars().map(|c| if c.is_control() { ' ' } else { c }));
            let place = start..text.len();
            text.push('\n');
            Word { text: word.clone(), place }
        };
        let words = words.iter().map(place).collect();
        CommandLine { name: "command line".to_owned(), text, words }
    }
}

/// How a program reads its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As pflag does: a boolean takes its value after `=` alone, and `_` in a name is `-`.
    Pflag,
    /// As kingpin does: a boolean takes no value, and is turned off by `--no-`.
    Kingpin,
}

/// A program and the flags that it knows.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) style: Style,
    /// Each with whether it is a boolean.
    pub(super) flags: Vec<(&'static str, bool)>,
}

/// A flag that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// Without dashes, as the program calls it.
    pub(super) flag: &'static str,
    pub(super) value: String,
    pub(super) place: Place,
}

impl Given {
    /// `--flag=value`, shortened.
    pub(super) fn show(&self) -> String {
        format!("--{}={}", self.flag, shorten(&self.value))
    }
}

impl Program {
    /// The flags in `words`, in their order. The first word may be the program itself.
    pub(super) fn read(&self, words: &[Word], problems: &mut Problems) -> Vec<Given> {
        let mut given: Vec<Given> = Vec::new();
        let mut rest = words.iter().enumerate().peekable();
        let mut flags_over = false;
        while let Some((at, word)) = rest.next() {
            if flags_over || !word.text.starts_with('-') || word.text == "-" {
                if at > 0 {
                    problems.add(self.stray(word, words.get(at - 1)));
                }
                continue;
            }
            if word.text == "--" {
                flags_over = true;
                continue;
            }
            match self.flag(word) {
                Ok((flag, true, value)) => {
                    let value = value.unwrap_or_else(|| "true".to_owned());
                    given.push(Given { flag, value, place: word.place.clone() });
                }
                Ok((flag, false, value)) => match value.or_else(|| Some(rest.next()?.1.text.clone())) {
                    Some(value) => given.push(Given { flag, value, place: word.place.clone() }),
                    None => {
                        let message = format!("`--{flag}` has no value");
                        problems.add(Problem::at(word.place.clone(), message, format!("write --{flag}=VALUE")));
                    }
                },
                Err(problem) => {
                    problems.add(problem);
                    // What follows an unknown flag is most likely its value.
                    if !word.text.contains('=') {
                        rest.next_if(|(_, next)| !next.text.starts_with('-'));
                    }
                }
            }
        }
        given
    }

    /// The flag that a word names, whether it is a boolean, and the value in the same word.
    fn flag(&self, word: &Word) -> Result<(&'static str, bool, Option<String>), Problem> {
        let body = word.text.strip_prefix("--").or_else(|| word.text.strip_prefix('-')).unwrap_or_default();
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (body, None),
        };
        let name = if self.style == Style::Pflag { name.replace('_', "-") } else { name.to_owned() };
        if let Some((flag, boolean)) = self.find(&name) {
            return Ok((flag, boolean, value));
        }
        if self.style == Style::Kingpin
            && let Some((flag, true)) = name.strip_prefix("no-").and_then(|name| self.find(name))
        {
            return Ok((flag, true, Some("false".to_owned())));
        }
        // `-v4`
        if !word.text.starts_with("--")
            && let Some((letter, value)) = body.split_at_checked(1)
            && let Some((flag, false)) = self.find(letter)
        {
            return Ok((flag, false, Some(value.to_owned())));
        }
        let message = format!("`--{}` is no flag of {}", shorten(&name), self.name);
        let hint = match nearest(&name, self.flags.iter().map(|(flag, _)| *flag)) {
            Some(meant) => format!("was --{meant} meant?"),
            None => format!("leave it out, or give the flags of {} alone", self.name),
        };
        Err(Problem::at(word.place.clone(), message, hint))
    }

    fn find(&self, name: &str) -> Option<(&'static str, bool)> {
        self.flags.iter().find(|(flag, _)| *flag == name).copied()
    }

    /// A word that is neither a flag nor a value.
    fn stray(&self, word: &Word, before: Option<&Word>) -> Problem {
        let message = format!("`{}` belongs to no flag", shorten(&word.text));
        let boolean = before.filter(|before| before.text.starts_with('-') && !before.text.contains('='));
        let hint = match boolean.and_then(|before| self.flag(before).ok()) {
            Some((flag, true, None)) => format!(
                "{} took no notice of it: write --{flag} if that is what you mean, or --{flag}={}",
                self.name,
                shorten(&word.text)
            ),
            _ => "remove it, or write the flag and its value as one word: --flag=value".to_owned(),
        };
        Problem::at(word.place.clone(), message, hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(style: Style, words: &[&str]) -> Result<Vec<(&'static str, String)>, String> {
        let flags = vec![("nodes", false), ("dry", true), ("scan-interval", false), ("v", false)];
        let program = Program { name: "Tester", style, flags };
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let line = CommandLine::of_words(&words);
        let mut problems = Problems::default();
        let given = program.read(&line.words, &mut problems);
        let given = given.into_iter().map(|given| (given.flag, given.value)).collect();
        problems.none_or(&line.name, &line.text, Some(given)).map_err(|errors| errors.to_string())
    }

    #[test]
    fn flags_are_read_in_every_form_that_go_reads() {
        /// Words, and the flags in them with their values.
        type Row = (&'static [&'static str], &'static [(&'static str, &'static str)]);
        let table: [Row; 9] = [
            (&[], &[]),
            (&["./tester"], &[]),
            (&["--nodes=1:2:a", "--nodes", "1:2:b"], &[("nodes", "1:2:a"), ("nodes", "1:2:b")]),
            (&["-nodes=1:2:a=b"], &[("nodes", "1:2:a=b")]),
            (&["--dry", "--v=4"], &[("dry", "true"), ("v", "4")]),
            (&["--dry=false", "-v4"], &[("dry", "false"), ("v", "4")]),
            (&["-v", "4", "-v=5"], &[("v", "4"), ("v", "5")]),
            (&["--scan_interval=10s"], &[("scan-interval", "10s")]),
            (&["--nodes", "--dry"], &[("nodes", "--dry")]),
        ];
        for (words, expected) in table {
            let expected: Vec<_> = expected.iter().map(|(flag, value)| (*flag, (*value).to_owned())).collect();
            assert_eq!(read(Style::Pflag, words).unwrap(), expected, "{words:?}");
        }
        let off = read(Style::Kingpin, &["--no-dry", "--dry"]).unwrap();
        assert_eq!(off, [("dry", "false".to_owned()), ("dry", "true".to_owned())]);
    }

    #[test]
    fn words_that_say_nothing_are_errors() {
        let table: [(&[&str], &str, &str); 7] = [
            (&["--node=1"], "`--node` is no flag of Tester", "was --nodes meant?"),
            (&["--xyz"], "`--xyz` is no flag of Tester", "leave it out"),
            (&["--nodes"], "`--nodes` has no value", "write --nodes=VALUE"),
            (&["--dry", "false"], "`false` belongs to no flag", "or --dry=false"),
            (&["--nodes=a", "b"], "`b` belongs to no flag", "as one word"),
            (&["--", "--dry"], "`--dry` belongs to no flag", "remove it"),
            (&["--no-dry"], "`--no-dry` is no flag of Tester", "leave it out"),
        ];
        for (words, message, hint) in table {
            let error = read(Style::Pflag, words).unwrap_err();
            assert!(error.contains(message) && error.contains(hint), "{words:?}: {error}");
            assert!(error.contains("command line:"), "{error}");
        }
    }
}
