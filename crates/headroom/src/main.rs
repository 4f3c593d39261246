//! Headroom.
fn main() {}
