//! Closed forms that the simulator must agree with.
//!
//! Times in any one unit; `load` is ρ, arrival rate × mean service time.

/// Mean time in an M/G/1 queue, service included (Pollaczek and Khinchine):
/// E\[S\] + ρ·E\[S²\] / (2·E\[S\]·(1 − ρ)).
#[must_use]
pub fn mg1_sojourn(load: f64, mean_service: f64, mean_square_service: f64) -> f64 {
    mean_service + load * mean_square_service / (2.0 * mean_service * (1.0 - load))
}

/// Mean time under processor sharing, whatever the law of service: E\[S\] / (1 − ρ).
#[must_use]
pub fn processor_sharing_sojourn(load: f64, mean_service: f64) -> f64 {
    mean_service / (1.0 - load)
}

/// The probability that an arrival has to wait in an M/M/c queue with `offered` = λ/μ (Erlang C).
#[must_use]
pub fn erlang_c(servers: u32, offered: f64) -> f64 {
    // Erlang B by its recursion, then C from B: no factorials, no overflow.
    let blocking = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    let load = offered / f64::from(servers);
    blocking / (1.0 - load + load * blocking)
}

/// Mean time in an M/M/c queue, service included.
#[must_use]
pub fn mmc_sojourn(servers: u32, offered: f64, mean_service: f64) -> f64 {
    let waits = erlang_c(servers, offered);
    mean_service * (1.0 + waits / (f64::from(servers) - offered))
}

/// What a saturated server does, in tokens a second.
///
/// `step`, `per_sequence` and `per_prompt_token` are the coefficients of
/// [`Affine`](crate::cost::Affine), in milliseconds; the means are in tokens.
#[derive(Clone, Copy, Debug)]
pub struct Saturation {
    /// Milliseconds a step.
    pub step: f64,
    /// Milliseconds a sequence.
    pub per_sequence: f64,
    /// Milliseconds a prompt token.
    pub per_prompt_token: f64,
    /// E\[P\], tokens.
    pub mean_prompt: f64,
    /// E\[O\], tokens.
    pub mean_output: f64,
}

impl Saturation {
    /// Continuous batching with `seats` seats: 1 / (A/B + β + C·E\[P\]/E\[O\]).
    #[must_use]
    pub fn continuous(&self, seats: f64) -> f64 {
        1000.0
            / (self.step / seats
                + self.per_sequence
                + self.per_prompt_token * self.mean_prompt / self.mean_output)
    }

    /// One request at a time: continuous batching with one seat.
    #[must_use]
    pub fn sequential(&self) -> f64 {
        self.continuous(1.0)
    }

    /// Padded static batches of `seats`, whose longest output is `mean_longest` on average:
    /// B·E\[O\] / (E\[max\]·(A + β·B) + B·C·E\[P\]).
    #[must_use]
    pub fn padded(&self, seats: f64, mean_longest: f64) -> f64 {
        1000.0 * seats * self.mean_output
            / (mean_longest * (self.step + self.per_sequence * seats)
                + seats * self.per_prompt_token * self.mean_prompt)
    }

    /// Static batches that shrink as their members end:
    /// B·E\[O\] / (E\[max\]·A + B·(β·E\[O\] + C·E\[P\])).
    #[must_use]
    pub fn unpadded(&self, seats: f64, mean_longest: f64) -> f64 {
        1000.0 * seats * self.mean_output
            / (mean_longest * self.step
                + seats
                    * (self.per_sequence * self.mean_output
                        + self.per_prompt_token * self.mean_prompt))
    }
}
