//! The TOML file: the same names as the flags, with underscores.

use super::Settings;
use std::{fmt, io, path::Path, path::PathBuf};

/// Why a settings file cannot be used.
#[derive(Debug)]
pub struct Unreadable {
    path: PathBuf,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Io(io::Error),
    Toml { line: usize, message: String },
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Io(error) => {
                write!(f, "cannot read {} (--config): {error}", self.path.display())
            }
            // Never the line itself: it may hold a credential.
            Cause::Toml { line, message } => {
                write!(f, "{} line {line}: {message}", self.path.display())
            }
        }
    }
}

impl std::error::Error for Unreadable {}

impl Settings {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, names an unknown setting or gives one a wrong value; the message names
    /// the line, and does not show it.
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        let unreadable = |cause| Unreadable {
            path: path.to_owned(),
            cause,
        };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(Cause::Io(error)))?;
        toml::from_str(&text).map_err(|error| {
            let before = error
                .span()
                .and_then(|span| text.get(..span.start))
                .unwrap_or_default();
            let line = before.matches('\n').count();
            let key = text
                .lines()
                .nth(line)
                .and_then(|line| line.split_once('='))
                .map(|(key, _)| key.trim());
            unreadable(Cause::Toml {
                line: line + 1,
                message: match key {
                    Some(key) => format!("{key}: {}", error.message()),
                    None => error.message().to_owned(),
                },
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_speaks_of_the_same_settings_as_the_flags() {
        let settings: Settings = toml::from_str(
            "listen = \"127.0.0.1:9000\"\nmax_upstream = 8\ncache_bytes = \"1GiB\"\ncache = false\nthreshold = 0.9\ntotal_timeout = \"none\"",
        )
        .unwrap();
        let config = settings.or_default();
        assert_eq!(config.listen.port(), 9000);
        assert_eq!(config.max_upstream, 8);
        assert_eq!(config.cache_bytes.0, 1 << 30);
        assert!(!config.cache.is_on());
    }

    #[test]
    fn a_value_may_be_a_list_or_a_number_as_text_and_else_it_is_said_how_to_write_it() {
        let settings: Settings =
            toml::from_str("key_headers = [\"origin\", \"x-tier\"]\nworkers = \"2\"").unwrap();
        let config = settings.or_default();
        assert_eq!(config.key_headers.0, ["origin", "x-tier"]);
        assert_eq!(config.workers, 2);
        for (wrong, fix) in [
            ("listen = \"localhost:80\"", "write it like 127.0.0.1:8080"),
            ("workers = \"two\"", "write a number like 8"),
            ("backend = \"http://h/v1?x=1\"", "has a query"),
        ] {
            let error = toml::from_str::<Settings>(wrong).unwrap_err().to_string();
            assert!(error.contains(fix), "{error}");
        }
    }

    #[test]
    fn an_unknown_setting_is_refused_by_name() {
        let error = toml::from_str::<Settings>("cache_size = 5")
            .unwrap_err()
            .to_string();
        assert!(error.contains("cache_size"), "{error}");
    }
}
