//! How long the watches wait for what.

use std::time::Duration;

/// Times and sizes of requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// After this the API server ends a watch, in whole seconds. An open connection counts as alive for so long, so it
    /// is also about how long a dead one can go unnoticed. Reconnecting costs the server next to nothing.
    pub(super) watch: Duration,
    /// How much later than that the end of a watch may arrive.
    pub(super) grace: Duration,
    /// How long a request may go without an answer, a page of a list without its end and a streamed list without its
    /// next object.
    pub(super) answer: Duration,
    /// In whole seconds: after this the API server ends a streamed list, however far it is.
    pub(super) streamed_list: Duration,
    /// Objects in a page of a list.
    pub(super) page: u32,
    /// From the first to the second attempt after a failure. It doubles with each further one.
    pub(super) first_pause: Duration,
    /// The longest time between attempts.
    pub(super) longest_pause: Duration,
    /// How often it is looked up whether the cluster has a kind that is not part of Kubernetes.
    pub(super) discovery: Duration,
    /// How often the scale of what capacity buffers refer to is read.
    pub(super) scales: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            watch: Duration::from_secs(30),
            grace: Duration::from_secs(5),
            answer: Duration::from_secs(30),
            streamed_list: Duration::from_secs(290),
            page: 500,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(5),
            discovery: Duration::from_secs(60),
            scales: Duration::from_secs(30),
        }
    }
}

/// Pauses between attempts that get longer.
#[derive(Debug)]
pub(super) struct Pauses {
    next: Duration,
    timing: Timing,
}

impl Pauses {
    pub(super) fn new(timing: Timing) -> Self {
        Pauses { next: timing.first_pause, timing }
    }

    /// Waits before the next attempt.
    pub(super) async fn pause(&mut self) {
        let pause = self.next;
        self.next = self.timing.longest_pause.min(pause * 2);
        tokio::time::sleep(pause).await;
    }

    /// Whether there was none since something worked.
    pub(super) fn is_first(&self) -> bool {
        self.next == self.timing.first_pause
    }

    /// Whether it has been going on for as long as anything that passes.
    pub(super) fn is_long(&self) -> bool {
        self.next == self.timing.longest_pause
    }

    /// Something worked.
    pub(super) fn reset(&mut self) {
        self.next = self.timing.first_pause;
    }
}
