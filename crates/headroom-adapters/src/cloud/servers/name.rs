//! Ids and names of servers.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Letters and digits that are not mistaken for each other.
const ALPHABET: [char; 32] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'j', 'k', 'm', 'n', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z',
    '2', '3', '4', '5', '6', '7', '8', '9', '0',
];

/// So many characters of 5 bits: among 10,000 servers two are the same once in 20 million.
const LENGTH: u32 = 10;

/// An id for a new server.
pub(super) fn new_id() -> Box<str> {
    // The keys of the standard library's hasher come from the operating system.
    let random = RandomState::new().build_hasher().finish();
    let digit = |at: u32| ALPHABET.get((random >> (5 * at) & 31) as usize);
    (0..LENGTH).filter_map(digit).collect::<String>().into()
}

/// The name of a server: by it providers keep a server from being made twice.
pub(super) fn of_server(pool: &str, server: &str) -> String {
    format!("{pool}-{server}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_good_for_labels_and_differ() {
        let ids: BTreeSet<Box<str>> = (0..1_000).map(|_| new_id()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 10 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())));
    }
}
