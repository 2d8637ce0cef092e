//! From a text to the numbers of its tokens.

use tokenizers::Tokenizer;
use tower::BoxError;

use crate::error::TooLong;

/// Bytes a token of the window, beyond which a text is not even read: real tokens have about four.
const BYTES_A_TOKEN: usize = 64;

/// A tokenizer and the most tokens that a text may have.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    window: usize,
}

// === impl Tokens ===

impl Tokens {
    /// Reads the bytes of a `tokenizer.json`.
    pub(super) fn parse(file: &[u8], window: usize) -> Result<Self, BoxError> {
        let mut tokenizer = Tokenizer::from_bytes(file)?;
        // The published file pads every text to 128 tokens and cuts it there.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None)?;
        // A text is data: "[SEP]" written in one is five characters, not the end of a sentence.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { tokenizer, window })
    }

    pub(super) fn window(&self) -> usize {
        self.window
    }

    /// The tokens of a text, special ones included.
    pub(super) fn of(&self, text: &str) -> Result<Vec<u32>, BoxError> {
        let window = self.window;
        if text.len() > BYTES_A_TOKEN * window {
            return Err(TooLong::bytes(text.len(), window).into());
        }
        let encoding = self.tokenizer.encode_fast(text, true)?;
        let tokens = encoding.get_ids();
        if tokens.len() > window {
            return Err(TooLong::tokens(tokens.len(), window).into());
        }
        Ok(tokens.to_vec())
    }
}
