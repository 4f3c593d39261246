//! Every flag of Cluster Autoscaler, once: what it becomes and what differs. The documentation is made from this list too.

mod gone;
mod growth;
mod program;
mod removal;

/// One flag.
#[derive(Debug)]
pub(super) struct Flag {
    /// Without its dashes.
    pub(super) name: &'static str,
    /// What its value is.
    pub(super) kind: Kind,
    /// The value that it has where it is not given, as Cluster Autoscaler writes it.
    pub(super) default: &'static str,
    pub(super) fate: Fate,
    /// What is not as it was, or why there is nothing in its place. Empty if nothing differs.
    pub(super) differs: &'static str,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// True or false.
    Flag,
    /// A whole number; Headroom takes none below `least`.
    Integer { least: i64 },
    /// A whole number of seconds; Headroom takes none below `least`.
    Seconds { least: i64 },
    /// A share of 1.
    Share,
    /// A percentage.
    Percent,
    /// A duration; Headroom takes none below `least` seconds.
    Duration { least: i64 },
    /// Text.
    Text,
    /// Text that can be given several times.
    Texts,
}

/// What becomes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// One key with the same value, which is `otherwise` where the key is left out.
    Key { path: &'static str, otherwise: &'static str },
    /// Keys that follow from it by rules of their own.
    Keys(&'static str),
    /// Nothing takes its place.
    Gone,
}

/// The flags by subject.
pub(super) const SUBJECTS: &[(&str, &[Flag])] = &[
    ("Groups and growth", growth::FLAGS),
    ("Removal of nodes", removal::FLAGS),
    ("The program", program::FLAGS),
    ("Flags without a counterpart", gone::FLAGS),
    ("Logging and election", gone::OF_LIBRARIES),
    ("Flags that later versions do not have", gone::OF_OLD_VERSIONS),
];

/// All flags.
pub(super) fn all() -> impl Iterator<Item = &'static Flag> {
    SUBJECTS.iter().flat_map(|(_, flags)| *flags)
}

/// The flag called `name`.
pub(super) fn find(name: &str) -> Option<&'static Flag> {
    all().find(|flag| flag.name == name)
}

const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    [path, otherwise]: [&'static str; 2],
    differs: &'static str,
) -> Flag {
    Flag { name, kind, default, fate: Fate::Key { path, otherwise }, differs }
}

const fn keys(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    paths: &'static str,
    differs: &'static str,
) -> Flag {
    Flag { name, kind, default, fate: Fate::Keys(paths), differs }
}

const fn gone(name: &'static str, kind: Kind, default: &'static str, differs: &'static str) -> Flag {
    Flag { name, kind, default, fate: Fate::Gone, differs }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_is_there_once_and_what_is_gone_says_why() {
        let mut names = BTreeSet::new();
        for flag in all() {
            assert!(names.insert(flag.name), "{} is there twice", flag.name);
            assert!(flag.fate != Fate::Gone || !flag.differs.is_empty(), "{} is gone without a reason", flag.name);
        }
    }
}
