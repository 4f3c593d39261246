//! Events in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use jiff::Timestamp;

/// Events of one simulation. Those of the same instant come out in the order in which they were put in.
#[derive(Clone, Debug)]
pub(crate) struct Queue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    count: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Timestamp,
    number: u64,
    event: E,
}

impl<E> Queue<E> {
    pub(crate) fn new() -> Self {
        Queue { heap: BinaryHeap::new(), count: 0 }
    }

    /// Plans an event.
    pub(crate) fn push(&mut self, at: Timestamp, event: E) {
        self.heap.push(Reverse(Entry { at, number: self.count, event }));
        self.count += 1;
    }

    /// When the next event is.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next event, unless it is later than `now`.
    pub(crate) fn pop_until(&mut self, now: Timestamp) -> Option<E> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.event)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_then_in_the_order_of_planning() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut queue = Queue::new();
        for (second, name) in [(2, "c"), (1, "a"), (2, "d"), (1, "b"), (3, "e")] {
            queue.push(at(second), name);
        }
        let until_2: Vec<_> = std::iter::from_fn(|| queue.pop_until(at(2))).collect();
        assert_eq!(until_2, ["a", "b", "c", "d"]);
        assert_eq!(queue.next_at(), Some(at(3)));
    }
}
