//! The key of all digests.

use crate::config::Config;
use std::path::Path;
use tower::BoxError;
use tower_semcache::Secret;

/// The secret that `config` names, or a new one.
///
/// # Errors
/// Its file cannot be read, or holds something else. The message shows nothing of it.
pub(crate) fn secret(config: &Config) -> Result<Secret, BoxError> {
    match &config.secret_file.0 {
        None => Ok(Secret::random()),
        Some(path) => read(Path::new(&path.0)),
    }
}

fn read(path: &Path) -> Result<Secret, BoxError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("--secret-file: cannot read {shown}: {error}"))?;
    let bytes = bytes(text.trim()).ok_or_else(|| {
        format!("--secret-file: {shown} does not hold 64 hexadecimal digits: make it with `openssl rand -hex 32 > {shown}`")
    })?;
    warn_if_open(path);
    Ok(Secret::from_bytes(bytes))
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let digits = text.as_bytes();
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        let digit = |digit: &u8| char::from(*digit).to_digit(16);
        *byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    }
    Some(bytes)
}

#[cfg(unix)]
fn warn_if_open(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_or(0, |file| file.permissions().mode());
    if mode & 0o077 != 0 {
        tracing::warn!(
            "--secret-file: others than its owner can read {}: chmod 600 it",
            path.display()
        );
    }
}

#[cfg(not(unix))]
fn warn_if_open(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_64_hexadecimal_digits_and_nothing_else() {
        assert_eq!(bytes(&"0f".repeat(32)), Some([15; 32]));
        assert_eq!(bytes(&"A0".repeat(32)), Some([160; 32]));
        for wrong in [
            "",
            "0f",
            &"0g".repeat(32),
            &"0f".repeat(33),
            &"+f".repeat(32),
            &"ä".repeat(32),
        ] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_file_that_holds_no_secret_is_refused_and_not_shown() {
        let path = std::env::temp_dir().join(format!("llm-front-no-secret-{}", std::process::id()));
        std::fs::write(&path, "my password").unwrap();
        let refused = read(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(refused.contains("openssl rand -hex 32"), "{refused}");
        assert!(!refused.contains("my password"), "{refused}");
        assert!(read(&path).unwrap_err().to_string().contains("cannot read"));
    }
}
