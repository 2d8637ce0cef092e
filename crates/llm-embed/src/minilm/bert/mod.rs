//! A BERT encoder: token numbers in, one vector a token out.
//!
//! The architecture is that of "BERT: Pre-training of Deep Bidirectional Transformers for Language
//! Understanding" (Devlin et al. 2019), in the layout of its weights on Hugging Face. A batch is
//! the tokens of all its texts one after the other: nothing is padded and nothing masked, and the
//! dense layers see one matrix with a row a token. No number of a text depends on another's: each row
//! is computed by the same steps in the same order wherever it lies.

mod attention;
mod config;
mod dense;
mod encoder;
mod heads;
mod int8;
mod layer;
mod linear;
mod norm;
mod panels;
mod product;
mod scale;
mod weights;
mod work;

pub(super) use self::{config::Config, encoder::Encoder, int8::largest};
