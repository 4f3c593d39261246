//! How fast waiting pods become machines, with the workloads of the public benchmarks of other autoscalers.
//!
//! Each is timed from a snapshot: `estimate` is the estimator alone, `round` a whole decision, `growth` decisions of which
//! one thing becomes more and more. What it takes to build the
//! snapshots is timed beside them, in `round::building`. Every answer is checked once before it is timed.

mod cluster;
mod diverse;
mod estimate;
mod growth;
mod round;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}
