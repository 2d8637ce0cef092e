//! F5: a new version of the model needs no flush, and the old one is warm when it comes back.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure};
use crate::gateway::{Answer, Gateway, chat};
use crate::virtual_time;
use llm_bench::measure::Source;
use llm_front::config::Config;

const HOW: &str = "50 prompts through the whole gateway: model v7, again v7, then v8, a change of max_tokens and another caller's \
credential, then v7 once more; an answer of another version would name its model";
const PROMPTS: usize = 50;

pub(super) fn measure() -> Result<Row, BoxError> {
    virtual_time::run(within())
}

async fn within() -> Result<Row, BoxError> {
    let gateway = Gateway::new(&Config::default())?;
    let (v7, v8) = ("model-v7", "model-v8");
    let first = round(&gateway, v7, "", None).await?;
    let again = round(&gateway, v7, "", None).await?;
    let upgraded = round(&gateway, v8, "", None).await?;
    let shorter = round(&gateway, v7, ",\"max_tokens\":4", None).await?;
    let other = round(&gateway, v7, "", Some("Bearer another")).await?;
    let back = round(&gateway, v7, "", None).await?;
    Ok(Row::new(
        "F5",
        "model version, parameters and tenant in the key",
        Clock::Virtual,
        HOW,
        vec![
            Figure::count(
                "v7, cold: generations",
                PROMPTS,
                of(&first, Source::Generation),
            ),
            Figure::count("v7 again: hits", PROMPTS, of(&again, Source::Hit)),
            Figure::count("v8: answers of v7", 0, stale(&upgraded, v8)),
            Figure::count(
                "v8: generations",
                PROMPTS,
                of(&upgraded, Source::Generation),
            ),
            Figure::count("another max_tokens: hits", 0, of(&shorter, Source::Hit)),
            Figure::count("another tenant: hits", 0, of(&other, Source::Hit)),
            Figure::count(
                "rolled back to v7: hits at once",
                PROMPTS,
                of(&back, Source::Hit),
            ),
            Figure::count("rolled back to v7: answers of v8", 0, stale(&back, v7)),
        ],
    ))
}

async fn round(
    gateway: &Gateway,
    model: &str,
    rest: &str,
    credential: Option<&'static str>,
) -> Result<Vec<Answer>, BoxError> {
    let mut answers = Vec::new();
    for number in 0..PROMPTS {
        let mut request = chat(model, &format!("question {number}"), rest)?;
        if let Some(credential) = credential {
            let value = http::HeaderValue::from_static(credential);
            request
                .headers_mut()
                .insert(http::header::AUTHORIZATION, value);
        }
        answers.push(gateway.ask(request).await?);
    }
    Ok(answers)
}

fn of(answers: &[Answer], source: Source) -> usize {
    answers
        .iter()
        .filter(|answer| answer.source() == source)
        .count()
}

/// Answers that do not name the model that was asked for.
fn stale(answers: &[Answer], model: &str) -> usize {
    let other = |answer: &&Answer| {
        let json: serde_json::Value = serde_json::from_slice(&answer.body()).unwrap_or_default();
        json.get("model").and_then(serde_json::Value::as_str) != Some(model)
    };
    answers.iter().filter(other).count()
}
