//! Errors.
/// An error.
#[derive(Debug)]
pub struct Error;
