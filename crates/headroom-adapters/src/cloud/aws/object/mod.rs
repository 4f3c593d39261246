//! The answers of AWS, as far as they are read.

pub(super) mod auto_scaling;
pub(super) mod ec2;
