//! What can be asked for.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use super::stream;
use crate::score::Limit;
use crate::{guards, vectors};

/// One trap in fifty. A trap of our own set is one edit away from what is cached.
const DEFAULT_LIMIT: f64 = 0.02;

/// The weights that the verifier is built with.
const WEIGHTS: &str = "crates/tower-semcache/src/guard/verifier/weights.txt";

/// How many paraphrases a semantic cache serves, how many wrong answers it gives, and which threshold to set.
///
/// Without arguments: the project's own labelled pairs. Thresholds are found on one half of a set (dev) and reported on the
/// other (test), with Clopper-Pearson intervals of 95 %; a configuration to paste comes last.
///
/// Your own traffic: `--labelled FILE` takes pairs, one JSON object a line: {"a": "…", "b": "…", "same_answer": true}, with
/// "category" and "split" ("dev" or "test") where you know them; `a` and `b` are texts, or conversations as lists of
/// {"role", "content"}. `--classes FILE` takes a CSV of text,label: texts of one label have one answer.
///
/// `--stream FILE…` sends classified texts one by one through an empty cache that bounds its wrong answers.
///
/// `--set reference` makes the reference system's own evaluation: every published number, and ours beside it. It needs the
/// folder of public data.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "llm-eval",
    bin_name = "cargo xtask cache-eval",
    max_term_width = 110
)]
pub struct Args {
    /// A set that has a name
    #[arg(long, conflicts_with_all = ["labelled", "classes"])]
    pub(super) set: Option<Name>,
    /// A file of labelled pairs
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "classes")]
    pub(super) labelled: Option<PathBuf>,
    /// A file of classified texts
    #[arg(long, value_name = "FILE.csv")]
    pub(super) classes: Option<PathBuf>,
    /// Train the verifier on the project's own pairs, and write its weights to FILE
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = WEIGHTS,
        conflicts_with_all = ["set", "labelled", "classes"]
    )]
    train: Option<PathBuf>,
    /// Who embeds
    #[arg(long, default_value_t = vectors::Named::Minilm)]
    pub(super) embedder: vectors::Named,
    /// Who has the last word
    #[arg(long, default_value_t = guards::Named::English)]
    pub(super) guard: guards::Named,
    /// Report this threshold instead of one that is found
    #[arg(long, value_name = "COSINE")]
    threshold: Option<f64>,
    /// The share of the traps that may be served an answer where thresholds are found
    #[arg(long, value_name = "SHARE", default_value_t = DEFAULT_LIMIT)]
    max_wrong_of_traps: f64,
    /// Instead: the share of what is served that may be wrong, for sets that are mixed as the traffic is
    #[arg(long, value_name = "SHARE", conflicts_with = "max_wrong_of_traps")]
    max_wrong_of_served: Option<f64>,
    /// Compare with expected values, and fail where one differs: those of FILE, a result of an earlier run; for the reference
    /// set, those it published
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    check: Option<Option<PathBuf>>,
    /// Print one line of JSON, and write no file
    #[arg(long)]
    pub(super) json: bool,
    /// The folder that results are written to
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(super) out: PathBuf,
    /// The folder of the public data
    #[arg(
        long,
        value_name = "DIR",
        env = "LLM_FRONT_DATA",
        default_value = "../shared/data"
    )]
    pub(super) data: PathBuf,
    /// The folder of all-MiniLM-L6-v2
    #[arg(
        long,
        value_name = "DIR",
        env = "LLM_FRONT_MODEL",
        default_value = "models/all-MiniLM-L6-v2"
    )]
    model_dir: PathBuf,
    /// The server of `--embedder openai`, up to and without `/embeddings`
    #[arg(long)]
    url: Option<String>,
    /// The model of `--embedder openai`
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Threads that embed [default: all processors]
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    pub(super) stream: stream::Options,
}

/// A set that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Name {
    /// The project's own labelled pairs
    Own,
    /// The reference system's cached prompts and look-ups
    Reference,
}

/// Where the labelled texts come from.
pub(super) enum Source<'a> {
    Own,
    Reference,
    Pairs(&'a Path),
    Classes(&'a Path),
    Stream(&'a [PathBuf]),
    Train(&'a Path),
}

// === impl Args ===

impl Args {
    pub(super) fn source(&self) -> Source<'_> {
        if !self.stream.stream.is_empty() {
            return Source::Stream(&self.stream.stream);
        }
        if let Some(weights) = &self.train {
            return Source::Train(weights);
        }
        match (&self.labelled, &self.classes, self.set) {
            (Some(file), ..) => Source::Pairs(file),
            (_, Some(file), _) => Source::Classes(file),
            (.., Some(Name::Reference)) => Source::Reference,
            (.., Some(Name::Own) | None) => Source::Own,
        }
    }

    pub(super) fn settings(&self) -> vectors::Settings {
        vectors::Settings {
            folder: self.model_dir.clone(),
            threads: self.threads.unwrap_or_else(|| {
                std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
            }),
            url: self.url.clone(),
            model: self.model.clone(),
        }
    }

    /// The threshold that was asked for.
    pub(super) fn fixed_threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// How much may go wrong where thresholds are found.
    pub(super) fn limit(&self) -> Limit {
        self.max_wrong_of_served.map_or(
            Limit::WrongOfTraps(self.max_wrong_of_traps),
            Limit::WrongOfServed,
        )
    }

    /// The share of the traps that may be served an answer.
    pub(super) fn max_wrong_of_traps(&self) -> f64 {
        self.max_wrong_of_traps
    }

    /// Whether to compare with expected values.
    pub(super) fn checks(&self) -> bool {
        self.check.is_some()
    }

    /// The expected values.
    pub(super) fn expected(&self) -> Option<&Path> {
        self.check.as_ref()?.as_deref()
    }

    /// The command that makes these results again; folders that differ from place to place are left out.
    pub(super) fn command(&self) -> String {
        let mut command = "cargo xtask cache-eval".to_owned();
        match self.source() {
            Source::Own => {}
            Source::Reference => command += " --set reference",
            Source::Pairs(file) => command += &format!(" --labelled {}", file.display()),
            Source::Classes(file) => command += &format!(" --classes {}", file.display()),
            Source::Train(_) => command += " --train",
            Source::Stream(_) => command += &self.stream.command(),
        }
        if self.embedder != vectors::Named::Minilm {
            command += &format!(" --embedder {}", self.embedder);
        }
        if self.guard != guards::Named::English {
            command += &format!(" --guard {}", self.guard);
        }
        if let Some(threshold) = self.threshold {
            command += &format!(" --threshold {threshold}");
        }
        match self.limit() {
            Limit::WrongOfTraps(DEFAULT_LIMIT) => {}
            Limit::WrongOfTraps(most) => command += &format!(" --max-wrong-of-traps {most}"),
            Limit::WrongOfServed(most) => command += &format!(" --max-wrong-of-served {most}"),
        }
        command
    }
}
