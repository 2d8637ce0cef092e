//! F12: a stream passes through at its own pace, piece by piece.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use crate::gateway::{Answer, Gateway, chat, read};
use crate::virtual_time;
use llm_backend::stub::Stub;
use llm_bench::clock::Stamp;
use llm_bench::measure::{Sorted, micros, millis};
use llm_front::config::Config;

const HOW: &str = "the stub streams 300 tokens, the first after 210 ms, then 28 a second, through the whole gateway and beside it: \
each piece must come unchanged, on its own, and no later; the cost of a piece is the real time of streams without delay, with \
the gateway and without it";
const MODEL: &str = "stub?delay=210ms&pace=35714us&tokens=300";
const AT_ONCE: &str = "stub?delay=0ms&pace=0ms&tokens=300";
const STREAM: &str = ",\"stream\":true";

pub(super) fn measure() -> Result<Row, BoxError> {
    let (direct, through) = virtual_time::run(async {
        let direct = read(Stub::default(), chat(MODEL, "a long one", STREAM)?).await?;
        let gateway = Gateway::new(&Config::default())?;
        let through = gateway.ask(chat(MODEL, "a long one", STREAM)?).await?;
        Ok((direct, through))
    })?;
    let late = direct.pieces.iter().zip(&through.pieces);
    let late = late
        .map(|((own, _), (at, _))| millis(at.saturating_sub(*own)))
        .fold(0.0, f64::max);
    Ok(Row::new(
        "F12",
        "streaming",
        Clock::Virtual,
        HOW,
        vec![
            Figure::new(
                "first token",
                "ms",
                210.0,
                millis(through.first_content()),
                Tolerance::Exact,
            ),
            Figure::new(
                "last piece",
                "ms",
                10_889.0,
                millis(through.took),
                Tolerance::Exact,
            ),
            Figure::count("pieces", direct.pieces.len(), through.pieces.len()),
            Figure::count(
                "pieces that came changed, merged or split",
                0,
                changed(&direct, &through),
            ),
            Figure::new(
                "latest piece behind the backend's",
                "ms",
                1.0,
                late,
                Tolerance::AtMost,
            ),
            Figure::new(
                "CPU the gateway adds to a piece",
                "µs",
                1000.0,
                cost_us()?,
                Tolerance::AtMost,
            )
            .by(Clock::Real),
        ],
    ))
}

fn changed(direct: &Answer, through: &Answer) -> usize {
    let at =
        |answer: &Answer, number: usize| answer.pieces.get(number).map(|(_, piece)| piece.clone());
    let pieces = direct.pieces.len().max(through.pieces.len());
    (0..pieces)
        .filter(|number| at(direct, *number) != at(through, *number))
        .count()
}

/// Real time a piece that the gateway adds, in microseconds: the median of 21 rounds.
fn cost_us() -> Result<f64, BoxError> {
    virtual_time::run(async {
        let gateway = Gateway::new(&Config::default())?;
        let mut rounds = Vec::new();
        for round in 0..21 {
            // Each round asks anew: a hit would come in one piece.
            let request = || chat(AT_ONCE, &format!("round {round}"), STREAM);
            let start = Stamp::now();
            let direct = read(Stub::default(), request()?).await?;
            let between = Stamp::now();
            let through = gateway.ask(request()?).await?;
            let added = Stamp::now()
                .since(between)
                .saturating_sub(between.since(start));
            if through.pieces.len() != direct.pieces.len() {
                return Err("the gateway merged pieces of a stream without delay".into());
            }
            rounds.push(micros(added) / direct.pieces.len() as f64);
        }
        Ok(Sorted::new(rounds).median())
    })
}
