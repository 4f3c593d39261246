//! Headroom touches.
