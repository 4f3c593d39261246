//! Headroom pretends.
