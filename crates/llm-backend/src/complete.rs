//! Is this answer whole?
