//! The files of a model.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Precision;
use super::bert::{self, Config, Encoder};
use super::tokens::Tokens;
use crate::embedder::EmbedderId;
use crate::error::NotLoaded;

/// Changes whenever the same files begin to give other vectors.
fn kind(precision: Precision) -> &'static str {
    match (precision, bert::largest()) {
        (Precision::Fp32, _) => "bert, mean, 1",
        (Precision::Int8, i8::MAX) => "bert, mean, int8, 1",
        (Precision::Int8, _) => "bert, mean, int8, weights of 7 bits, 1",
    }
}

/// The window where none is written down: that of all-MiniLM-L6-v2.
const WINDOW: usize = 256;

/// What the files of a folder make together.
pub(super) struct Loaded {
    pub(super) encoder: Encoder,
    pub(super) tokens: Tokens,
    pub(super) dimensions: usize,
    pub(super) id: EmbedderId,
}

#[derive(Deserialize)]
struct SentenceBert {
    max_seq_length: usize,
}

pub(super) fn load(folder: &Path, precision: Precision) -> Result<Loaded, NotLoaded> {
    let config_file = folder.join("config.json");
    let config_bytes = read(&config_file)?;
    let config: Config = parse(&config_file, &config_bytes)?;
    let tokenizer_file = folder.join("tokenizer.json");
    let tokenizer = read(&tokenizer_file)?;
    let window = window(folder)?.min(config.positions());
    let tokens = Tokens::parse(&tokenizer, window)
        .map_err(|source| NotLoaded::new(&tokenizer_file, source))?;
    let weights_file = folder.join("model.safetensors");
    let weights = read(&weights_file)?;
    let dimensions = config.dimensions();
    let encoder = Encoder::load(config, precision, &weights)
        .map_err(|source| NotLoaded::new(&weights_file, source))?;
    Ok(Loaded {
        encoder,
        tokens,
        dimensions,
        id: EmbedderId::digest(kind(precision), &[&config_bytes, &tokenizer, &weights]),
    })
}

fn window(folder: &Path) -> Result<usize, NotLoaded> {
    let file = folder.join("sentence_bert_config.json");
    if !file.exists() {
        return Ok(WINDOW);
    }
    let bytes = read(&file)?;
    parse(&file, &bytes).map(|SentenceBert { max_seq_length }| max_seq_length)
}

fn read(file: &PathBuf) -> Result<Vec<u8>, NotLoaded> {
    fs::read(file).map_err(|source| NotLoaded::new(file, source))
}

fn parse<T: DeserializeOwned>(file: &Path, bytes: &[u8]) -> Result<T, NotLoaded> {
    serde_json::from_slice(bytes).map_err(|source| NotLoaded::new(file, source))
}
