//! Recorded arrivals: Azure's (CSV) and Mooncake's (JSON lines, also compressed), and what they
//! are like.

mod azure;
mod mooncake;
mod stats;

use std::{fs::File, io::Read, path::Path};

pub use self::stats::{Lengths, TraceStats};
use crate::{error::Error, workload::Request};

/// Requests as they were recorded, by arrival.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The name of its file.
    pub name: String,
    /// The requests; the first arrives at 0.
    pub requests: Vec<Request>,
}

impl Trace {
    /// Reads a trace: `.csv` is Azure's format, `.jsonl` and `.jsonl.gz` are Mooncake's.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or does not hold a trace.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into());
        let text = text(path)?;
        let requests = if name.contains(".jsonl") {
            mooncake::parse(&text)?
        } else {
            azure::parse(&text)?
        };
        Ok(Self { name, requests }.sorted())
    }

    fn sorted(mut self) -> Self {
        self.requests
            .sort_by(|a, b| a.arrival_ms.total_cmp(&b.arrival_ms));
        let start = self
            .requests
            .first()
            .map_or(0.0, |request| request.arrival_ms);
        for (id, request) in self.requests.iter_mut().enumerate() {
            request.id = id as u64;
            request.arrival_ms -= start;
        }
        self
    }

    /// Requests a second, over the span of the trace.
    #[must_use]
    pub fn rate_rps(&self) -> f64 {
        let span = self
            .requests
            .last()
            .map_or(0.0, |request| request.arrival_ms)
            / 1000.0;
        if span > 0.0 {
            self.requests.len() as f64 / span
        } else {
            0.0
        }
    }

    /// The trace played faster or slower, over and over, so that `rate_rps` arrive a second on
    /// average; bursts stay as they are in relation.
    pub fn at_rate(&self, rate_rps: f64) -> impl Iterator<Item = Request> + '_ {
        let scale = if rate_rps > 0.0 {
            self.rate_rps() / rate_rps
        } else {
            1.0
        };
        let last = self
            .requests
            .last()
            .map_or(0.0, |request| request.arrival_ms);
        let gap = last / self.requests.len().max(1) as f64;
        let rounds = if self.requests.is_empty() {
            0
        } else {
            u64::MAX
        };
        (0..rounds).flat_map(move |round| {
            self.requests.iter().map(move |request| Request {
                id: request.id + round * self.requests.len() as u64,
                arrival_ms: (request.arrival_ms + round as f64 * (last + gap)) * scale,
                ..request.clone()
            })
        })
    }
}

#[cfg(feature = "gzip")]
fn text(path: &Path) -> Result<String, Error> {
    let mut file = File::open(path).map_err(|source| Error::read(path, source))?;
    let mut text = String::new();
    let read = if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(file).read_to_string(&mut text)
    } else {
        file.read_to_string(&mut text)
    };
    read.map_err(|source| Error::read(path, source))?;
    Ok(text)
}

#[cfg(not(feature = "gzip"))]
fn text(path: &Path) -> Result<String, Error> {
    if path.extension().is_some_and(|extension| extension == "gz") {
        return Err(Error::new("compressed traces need the feature `gzip`"));
    }
    let mut file = File::open(path).map_err(|source| Error::read(path, source))?;
    let mut text = String::new();
    file.read_to_string(&mut text)
        .map_err(|source| Error::read(path, source))?;
    Ok(text)
}
