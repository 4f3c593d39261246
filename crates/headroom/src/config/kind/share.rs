//! A number of things, or a percentage of all.

use headroom_core::policy::{Percent, Share};

use super::Kind;
use super::scalar::{hundredths, written};

/// A number, or a percentage up to 100.
pub(crate) fn share(expected: &'static str) -> Kind<Share> {
    let parse = |text: &str| match text.strip_suffix('%') {
        Some(percent) => match hundredths(percent.trim_end()) {
            Some(percent) if percent <= Percent::whole(100).0 => Ok(Share::Percent(Percent(percent))),
            Some(_) => Err("write at most 100%".to_owned()),
            None => Err("write a number with at most two decimals before the sign".to_owned()),
        },
        None => text.parse().map(Share::Nodes).map_err(|_| "write digits, with `%` for a share".to_owned()),
    };
    let show = |share: &Share| match share {
        Share::Nodes(number) => number.to_string(),
        Share::Percent(percent) => format!("{percent}%"),
    };
    written(expected, r"^\d+(\.\d{1,2} *%| *%)?$", parse, show)
}
