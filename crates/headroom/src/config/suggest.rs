//! Did you mean?

/// The one of `known` that `word` is most likely a misspelling of, if one is near.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Long text is no misspelling, and comparing it takes time that grows with its square.
    if word.len() > 60 {
        return None;
    }
    let word = plain(word);
    let distances = known.into_iter().map(|known| (strsim::damerau_levenshtein(&word, &plain(known)), known));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= nearest.len() / 3).then_some(nearest)
}

/// `scale_up-Above` and `scaleUpAbove` are one word in two spellings.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_misspellings_and_nothing_else() {
        let known = ["scaleUpAbove", "slowRate", "min", "max"];
        let table = [
            ("scaleupabove", Some("scaleUpAbove")),
            ("scale_up_above", Some("scaleUpAbove")),
            ("slwoRate", Some("slowRate")),
            ("mim", Some("min")),
            ("minimum", None),
            ("x", None),
            ("", None),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"m".repeat(1_000_000), known), None);
    }
}
