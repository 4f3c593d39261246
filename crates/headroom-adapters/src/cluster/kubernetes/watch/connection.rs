//! Until when a watch is known to be complete.

use std::time::Duration;

use jiff::Timestamp;

/// What is known of the connection to the API server, in times since the machine started ([`boottime`]): the one clock
/// that neither jumps nor stands still while the machine is suspended.
///
/// [`boottime`]: crate::fence::boottime
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    /// When the server last said something.
    heard: Duration,
    /// Until then an open connection would be ended by the server: as long as it is open, all has been heard.
    open_until: Option<Duration>,
}

impl Connection {
    /// Something was heard at `now`.
    pub(super) fn heard(&mut self, now: Duration) {
        self.heard = now;
    }

    /// The server answered at `now` and will say so when something changes, for so long.
    pub(super) fn opened(&mut self, now: Duration, length: Duration) {
        *self = Connection { heard: now, open_until: Some(now + length) };
    }

    /// The connection is gone, since when nobody knows.
    pub(super) fn lost(&mut self) {
        self.open_until = None;
    }

    /// Until when nothing can have been missed, as seen at `now`, which is `date`.
    pub(super) fn complete_until(&self, now: Duration, date: Timestamp) -> Timestamp {
        if self.open_until.is_some_and(|until| now <= until) {
            return date;
        }
        let age = jiff::SignedDuration::try_from(now.saturating_sub(self.heard)).unwrap_or(jiff::SignedDuration::MAX);
        date.checked_sub(age).unwrap_or(Timestamp::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_connection_is_complete_until_the_server_should_have_ended_it() {
        let seconds = Duration::from_secs;
        let date = |second| Timestamp::from_second(second).unwrap();
        let mut connection = Connection::default();
        connection.heard(seconds(90));
        assert_eq!(connection.complete_until(seconds(100), date(1_000)), date(990), "not open yet");
        connection.opened(seconds(100), seconds(35));
        assert_eq!(connection.complete_until(seconds(120), date(1_020)), date(1_020), "open and silent");
        // The machine was suspended, or nobody has noticed yet that the connection is dead.
        assert_eq!(connection.complete_until(seconds(136), date(1_036)), date(1_000));
        connection.heard(seconds(125));
        connection.lost();
        assert_eq!(connection.complete_until(seconds(130), date(1_030)), date(1_025), "as fresh as its last word");
        // The wall clock was set back: that makes nothing fresher.
        assert_eq!(connection.complete_until(seconds(3_725), date(30)), date(30 - 3_600));
    }
}
