//! What the tests share.

use std::path::PathBuf;

/// A file of the public data, or `None` with a word about what is skipped.
#[allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test target uses its part"
)]
pub(crate) fn data(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("LLM_FRONT_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let file = folder.join(path);
    if file.exists() {
        return Some(file);
    }
    eprintln!(
        "skipped: {} is not there (set LLM_FRONT_DATA)",
        file.display()
    );
    None
}

/// A debug build runs fewer jobs and allows for it.
#[allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test target uses its part"
)]
pub(crate) const fn scaled(release: usize, debug: usize) -> usize {
    if cfg!(debug_assertions) {
        debug
    } else {
        release
    }
}

/// Asserts a relative error: `release` in a release build, `debug` in a debug build.
#[track_caller]
#[allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test target uses its part"
)]
pub(crate) fn close(what: &str, got: f64, want: f64, release: f64, debug: f64) {
    let tolerance = if cfg!(debug_assertions) {
        debug
    } else {
        release
    };
    let error = (got / want - 1.0).abs();
    eprintln!(
        "{what}: {got:.4} for {want:.4} ({:+.2} %)",
        (got / want - 1.0) * 100.0
    );
    assert!(
        error <= tolerance,
        "{what}: {got} for {want}, off by {:.2} %",
        error * 100.0
    );
}
