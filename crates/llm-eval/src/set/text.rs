//! A text, or a conversation whose last message is the one to be answered.

use serde::Deserialize;
use tower_semcache::guard::{Conversations, Speaker, Turn};

/// What a pair compares.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// A text.
    Plain(String),
    /// A conversation.
    Conversation(Vec<Message>),
}

/// One message of a conversation, as in a request of the OpenAI API.
#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    role: String,
    content: String,
}

// === impl Text ===

impl Text {
    /// As one text, which the guards for conversations take apart again.
    #[must_use]
    pub fn joined(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Conversation(messages) => {
                let turns: Vec<_> = messages.iter().map(Message::turn).collect();
                Conversations::join(&turns)
            }
        }
    }
}

// === impl Message ===

impl Message {
    fn turn(&self) -> Turn<'_> {
        Turn {
            speaker: match self.role.as_str() {
                "assistant" => Speaker::Assistant,
                _ => Speaker::User,
            },
            text: &self.content,
        }
    }
}
