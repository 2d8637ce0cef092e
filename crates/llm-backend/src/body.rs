//! Request bodies.
/// A request body.
#[derive(Debug)]
pub struct RequestBody;
