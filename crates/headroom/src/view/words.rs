//! Numbers and names in sentences.

use headroom_core::plan::Resource;
use headroom_core::quantity::{Bytes, MilliCpu, Resources};
use jiff::SignedDuration;

/// `1 node`, `2 nodes`
pub(crate) fn count(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// `a, b, c and 4 more`: at most three by name, as far as there are more than four.
pub(super) fn names<T: AsRef<str>>(names: &[T]) -> String {
    let shown = if names.len() > 4 { 3 } else { names.len() };
    let text = names[..shown].iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    let more = names.len() - shown;
    if more == 0 { text } else { format!("{text} and {more} more") }
}

/// `there is a`, `there are a, b, c and 4 more`
pub(super) fn there_are<T: AsRef<str>>(all: &[T]) -> String {
    format!("there {} {}", if all.len() == 1 { "is" } else { "are" }, names(all))
}

/// `600m cpu, 512Mi memory, 1 nvidia.com/gpu`, without what is zero.
pub(super) fn amounts(amounts: &Resources) -> String {
    let Resources { cpu, memory, ephemeral_storage, extended, .. } = amounts;
    let mut parts = Vec::new();
    if *cpu > 0 {
        parts.push(format!("{} cpu", MilliCpu(*cpu)));
    }
    if *memory > 0 {
        parts.push(format!("{} memory", Bytes(*memory)));
    }
    if *ephemeral_storage > 0 {
        parts.push(format!("{} ephemeral storage", Bytes(*ephemeral_storage)));
    }
    parts.extend(extended.iter().map(|(name, amount)| format!("{amount} {name}")));
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

/// `1300m of 1930m` of one resource.
pub(super) fn share(resource: &Resource, part: i128, whole: i64) -> String {
    format!("{} of {}", resource.amount(part), resource.amount(whole.into()))
}

/// A duration to the second, in the words of the configuration: `1h30m`.
pub(super) fn duration(duration: SignedDuration) -> String {
    let total = duration.as_secs().max(0);
    let parts = [(total / 3600, "h"), (total / 60 % 60, "m"), (total % 60, "s")];
    let text: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_are_all_shown() {
        assert_eq!(names(&["a"]), "a");
        assert_eq!((there_are(&["a"]), there_are(&["a", "b"])), ("there is a".to_owned(), "there are a, b".to_owned()));
        assert_eq!(names(&["a", "b", "c", "d"]), "a, b, c, d");
        assert_eq!(names(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }

    #[test]
    fn amounts_leave_out_zeros() {
        let mut some = Resources::new(600, 512 << 20);
        some.set_extended("nvidia.com/gpu", 1);
        assert_eq!(amounts(&some), "600m cpu, 512Mi memory, 1 nvidia.com/gpu");
        assert_eq!(amounts(&Resources::default()), "nothing");
    }

    #[test]
    fn durations() {
        let shown = [0, 59, 60, 5400, 86_401].map(|secs| duration(SignedDuration::from_secs(secs)));
        assert_eq!(shown, ["0s", "59s", "1m", "1h30m", "24h1s"]);
    }
}
