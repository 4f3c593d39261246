//! YAML text, written so that it reads well and is read back as it was meant.

/// `text` as a YAML scalar: without quotes where those would only be noise.
pub(super) fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && !is_special(text);
    if plain { text.to_owned() } else { quoted(text) }
}

/// `text` in double quotes. Everything outside of printable ASCII is escaped: what YAML takes for a line break or
/// refuses in a file is more than JSON escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Words that some YAML reader takes for a boolean or null.
pub(super) fn is_special(text: &str) -> bool {
    as_boolean(text).is_some() || text.eq_ignore_ascii_case("null")
}

/// What YAML 1.1, which Escalator's reader follows, takes for a boolean.
pub(super) fn as_boolean(text: &str) -> Option<bool> {
    let one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match () {
        () if one_of(&["true", "yes", "on", "y"]) => Some(true),
        () if one_of(&["false", "no", "off", "n"]) => Some(false),
        () => None,
    }
}

/// `text` behind `# `, each line indented by `indent` spaces and broken at 110 columns.
pub(super) fn comment(indent: usize, text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word: String = word.chars().filter(|c| !c.is_control()).collect();
        if !line.is_empty() && indent + 2 + line.chars().count() + 1 + word.chars().count() > 110 {
            lines.push_str(&format!("{:indent$}# {line}\n", ""));
            // A list item goes on under its text.
            line = if text.starts_with("- ") { "  ".into() } else { String::new() };
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push_str(&format!("{:indent$}# {line}\n", ""));
    lines
}
