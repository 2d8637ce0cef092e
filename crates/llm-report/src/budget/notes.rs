//! Arithmetic that is often done wrong.

/// What a reader has to know to read the table right.
pub const NOTES: &[&str] = &[
    "A batch of 13 costs 6 + 1.2 · 13 = 21.6 ms, so that one replica makes 13 / 21.6 ms = 602 req/s at most, and 600 req/s are a load of 0.997.",
    "Means of stages add up; percentiles do not. The sum of the stages' 99th percentiles is a bound above the 99th percentile of the whole, not the percentile itself.",
    "Percentiles of replicas cannot be averaged either: merge their histograms, then ask for the percentile.",
    "A hit rate computed from H(k) / H(N) is that of a perfect cache, which holds the k most popular of N. LRU needs 4,439 entries for the 52 % that a perfect cache has with 1,000.",
    "A miss pays for the look-up too: look-up + backend, not the backend alone.",
    "Little's law: 600 req/s × 40 ms = 24 in flight; 8 workers / 40 ms = 200 req/s, and no queue makes it more.",
    "The wait in a queue grows with ρ / (1 − ρ), its 99th percentile with ln(100 ρ) / (1 − ρ): from ρ = 0.91 to 0.70 it falls from 61 to 17 ms, not to the 14 ms that scaling by the mean would say.",
    "Virtual time shows what waits, not what computes: the CPU time of the front end is in `overhead.json`.",
];
