//! The shape of the encoder, from `config.json`.

use serde::Deserialize;

/// What `config.json` says; fields that only training needs are left out.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::minilm) struct Config {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) vocab_size: usize,
    pub(super) type_vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    #[serde(default = "epsilon")]
    pub(super) layer_norm_eps: f32,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn epsilon() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

// === impl Config ===

impl Config {
    /// Why this encoder cannot be computed here; `None` when it can.
    pub(in crate::minilm) fn unsupported(&self) -> Option<String> {
        let Self {
            hidden_size,
            intermediate_size: _,
            num_attention_heads: heads,
            num_hidden_layers: _,
            vocab_size: _,
            type_vocab_size: _,
            max_position_embeddings: _,
            layer_norm_eps: _,
            hidden_act,
            position_embedding_type,
        } = self;
        if *heads == 0 || hidden_size % heads != 0 {
            return Some(format!(
                "{heads} attention heads do not divide a hidden size of {hidden_size}"
            ));
        }
        if hidden_act != "gelu" {
            return Some(format!("the activation `{hidden_act}` is not `gelu`"));
        }
        match position_embedding_type.as_deref() {
            None | Some("absolute") => None,
            Some(other) => Some(format!("positions are `{other}`, not `absolute`")),
        }
    }

    /// Coordinates of a vector.
    pub(in crate::minilm) fn dimensions(&self) -> usize {
        self.hidden_size
    }

    /// Coordinates that one attention head sees of a token.
    pub(super) fn depth(&self) -> f32 {
        self.hidden_size as f32 / self.num_attention_heads as f32
    }

    /// The most tokens a text may have, special ones included.
    pub(in crate::minilm) fn positions(&self) -> usize {
        self.max_position_embeddings
    }
}
