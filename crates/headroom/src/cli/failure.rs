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
    let text = format!("{error:#}");
    let mut parts = text.split("; hint: ");
    anstream::eprintln!("{ERROR}error:{ERROR:#} {}", parts.next().unwrap_or_default());
    for hint in parts {
        anstream::eprintln!("{HINT}hint:{HINT:#} {hint}");
    }
}
