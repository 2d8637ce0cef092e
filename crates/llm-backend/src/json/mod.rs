//! The canonical form of a JSON request.
