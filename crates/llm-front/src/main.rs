//! The gateway.
#![forbid(unsafe_code)]

fn main() {}
