//! How long a group is left alone after machines did not come.

use headroom_core::backoff::Settings;
use jiff::SignedDuration;

use super::pair::wrong_pair;
use crate::config::duration::show;
use crate::config::kind::{Kind, duration};
use crate::config::record::Record;

pub(super) fn kind() -> Kind<Settings> {
    let second = SignedDuration::from_secs(1);
    Record::new(
        "backoff",
        "How long a group with the strategy `pending` is left alone after machines that it asked for \
         did not come, so that others are tried.",
        Settings::default,
    )
    .field(
        "initial",
        duration(second),
        |backoff| &mut backoff.initial,
        "After a first failure; each further one doubles it.",
    )
    .field("max", duration(second), |backoff| &mut backoff.max, "At most. Not less than `initial`.")
    .field(
        "forgetAfter",
        duration(second),
        |backoff| &mut backoff.forget_after,
        "When the last failure is longer ago than this, the next one counts as a first.",
    )
    .check(&["initial", "max"], |backoff, at, problems| {
        if backoff.initial > backoff.max {
            let message = format!("`initial` {} is longer than `max` {}", show(backoff.initial), show(backoff.max));
            problems.add(wrong_pair(at, message, ("initial", "max"), "make `initial` at most `max`"));
        }
    })
    .kind()
}
