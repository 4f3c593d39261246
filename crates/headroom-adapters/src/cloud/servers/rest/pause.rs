//! How long a provider wants to be left alone.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// When the next window of a rate limit begins, in seconds since 1970 (Linode).
const RESET: &str = "x-ratelimit-reset";

/// No provider is left alone for longer than this because of one answer.
const LONGEST: Duration = Duration::from_secs(3_600);

/// How long, as these headers say at `now`: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), or else the time of
/// `X-RateLimit-Reset`.
pub(super) fn asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let until = |at: Timestamp| Duration::try_from(at.duration_since(now)).unwrap_or_default();
    let retry_after = text(RETRY_AFTER.as_str()).and_then(|value| match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => rfc2822::parse(value).ok().map(|date| until(date.timestamp())),
    });
    let reset = || text(RESET)?.parse().ok().and_then(|second| Timestamp::from_second(second).ok()).map(until);
    retry_after.or_else(reset).map(|pause| pause.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("an instant");
        let pause = |name: &'static str, value: &str| {
            let headers = [(name.parse().expect("a name"), value.parse().expect("a value"))].into_iter().collect();
            asked_for(&headers, now).map(|pause| pause.as_secs())
        };
        assert_eq!(pause("retry-after", "7"), Some(7));
        assert_eq!(pause("retry-after", "Thu, 01 Jan 2026 00:01:30 GMT"), Some(90));
        assert_eq!(pause("retry-after", "Wed, 31 Dec 2025 00:01:30 GMT"), Some(0));
        assert_eq!(pause("retry-after", "soon"), None);
        assert_eq!(pause("retry-after", "18446744073709551615"), Some(3_600));
        assert_eq!(pause("x-ratelimit-reset", "1767225612"), Some(12));
        assert_eq!(pause("x-ratelimit-reset", "-"), None);
        assert_eq!(asked_for(&HeaderMap::new(), now), None);
    }
}
