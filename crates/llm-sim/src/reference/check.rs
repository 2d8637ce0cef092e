//! Comparison with the published file.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;

use super::{Curve, Row};
use crate::error::Error;

#[derive(Debug, Deserialize)]
struct Published {
    curves: BTreeMap<String, Vec<Row>>,
}

/// A number that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Which policy.
    pub policy: String,
    /// At which load, requests a second.
    pub rate_rps: f64,
    /// Which metric.
    pub metric: &'static str,
    /// What is published.
    pub published: f64,
    /// What was computed.
    pub computed: f64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            policy,
            rate_rps,
            metric,
            published,
            computed,
        } = self;
        write!(
            f,
            "{policy} at {rate_rps} req/s: {metric} {computed}, published {published}"
        )
    }
}

/// Compares the table with a published one: how many numbers were compared, and which differ.
///
/// # Errors
///
/// A text that is not a table of the reference.
pub fn check(table: &[Curve], published: &str) -> Result<(usize, Vec<Mismatch>), Error> {
    let published: Published = serde_json::from_str(published)
        .map_err(|source| Error::with("not a table of the reference", source))?;
    let (mut compared, mut mismatches) = (0, Vec::new());
    for (policy, rows) in &published.curves {
        let ours = table.iter().find(|curve| curve.policy == policy);
        for want in rows {
            let got =
                ours.and_then(|curve| curve.rows.iter().find(|row| row.rate_rps == want.rate_rps));
            for (metric, get) in METRICS {
                compared += 1;
                let (published, computed) = (get(want), got.map_or(f64::NAN, get));
                if published.to_bits() != computed.to_bits() {
                    mismatches.push(Mismatch {
                        policy: policy.clone(),
                        rate_rps: want.rate_rps,
                        metric,
                        published,
                        computed,
                    });
                }
            }
        }
    }
    Ok((compared, mismatches))
}

type Metric = (&'static str, fn(&Row) -> f64);

const METRICS: [Metric; 5] = [
    ("throughput_rps", |row| row.throughput_rps),
    ("output_tokens_per_s", |row| row.output_tokens_per_s),
    ("latency_p50_s", |row| row.latency_p50_s),
    ("latency_p95_s", |row| row.latency_p95_s),
    ("slot_utilisation", |row| row.slot_utilisation),
];
