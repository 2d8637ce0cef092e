//! What a request asks for.
