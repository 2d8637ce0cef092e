//! Several callers in one call.
