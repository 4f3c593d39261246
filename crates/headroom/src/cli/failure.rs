//! How an error that ends the program is shown.

use anstyle::{AnsiColor, Style};

use crate::config::ConfigErrors;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Writes `error: …` to standard error, and `hint: …` on lines of their own.
///
/// Typed errors end in `; hint: what to do` where they know it. Colour is left out where standard error is no terminal
/// or `NO_COLOR` is set.
pub(super) fn print(error: &anyhow::Error) {
    if let Some(errors) = error.downcast_ref::<ConfigErrors>() {
        anstream::eprintln!("{}", errors.styled());
        return;
    }
    let (mut text, mut hints) = (String::new(), Vec::new());
    for cause in error.chain() {
        let cause = cause.to_string();
        let mut parts = cause.split("; hint: ");
        let problem = parts.next().unwrap_or_default();
        // Some errors say themselves what they were caused by.
        if !text.contains(problem) {
            text += if text.is_empty() { "" } else { ": " };
            text += problem;
        }
        hints.extend(parts.map(str::to_owned));
    }
    anstream::eprintln!("{ERROR}error:{ERROR:#} {text}");
    for hint in hints {
        anstream::eprintln!("{HINT}hint:{HINT:#} {hint}");
    }
}
