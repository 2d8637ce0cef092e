//! The proof of `--max-wrong`, kept in a file so that it outlives the process.
//!
//! A state may be resumed once, and only if it is the last one: what was served after it was taken is in no count. So a process
//! that begins marks the file as running, writes it anew every minute, and marks it as ended at its end. One that is found running
//! belongs to a process that was killed: the promise begins anew, and the old file stays beside the new one.
//!
//! The file holds counts, no text and no digest of one. It has two lines: JSON, and a seal made with the secret, so that nobody
//! writes himself a better proof.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tower::BoxError;
use tower_semcache::bounded::{Certificate, Settings, State};
use tower_semcache::http::Answer;
use tower_semcache::{Bounded, Secret};

/// How often it is written.
const EVERY: Duration = Duration::from_secs(60);

/// How long the end waits for comparisons under way: one that is cut off counts as a wrong answer found. Short: whoever sent a
/// second signal waits for it too.
const PATIENCE: Duration = Duration::from_secs(2);

const VERSION: u32 = 1;

/// What of the semantic tier outlives the process: say [`end`](Self::end) at its end.
#[derive(Debug)]
pub struct Kept {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    file: Arc<File>,
    bounded: Bounded<Answer>,
    writer: JoinHandle<()>,
}

/// The file.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    secret: Secret,
    /// What one judge calls wrong, another one need not: a promise is about one of them.
    judge: String,
    /// Whether the last state was written: none comes after it. Held while one is written.
    ended: Mutex<bool>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    /// Its process has ended and written this last; else it is running, or was killed.
    ended: bool,
    judge: String,
    certificate: State,
}

// === impl Kept ===

impl Kept {
    /// Nothing does.
    pub(crate) const fn none() -> Self {
        Self { running: None }
    }

    /// Writes to `file` from now on.
    pub(super) fn new(file: Option<File>, bounded: Bounded<Answer>) -> Result<Self, BoxError> {
        let Some(file) = file.map(Arc::new) else {
            return Ok(Self::none());
        };
        // From here on a state that was resumed is resumed by nobody else; and what cannot be written is told now.
        file.write(bounded.state(), false)?;
        let writer = tokio::spawn(write_on(file.clone(), bounded.clone()));
        let running = Some(Running {
            file,
            bounded,
            writer,
        });
        Ok(Self { running })
    }

    /// Serves nothing similar any more, waits a little for comparisons under way, and writes the last state.
    ///
    /// # Errors
    /// It cannot be written.
    pub async fn end(mut self) -> Result<(), BoxError> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        running.writer.abort();
        let Running { file, bounded, .. } = &running;
        let _ = bounded.stop();
        let settled = async {
            while bounded.snapshot().certificate.pending > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, settled).await;
        file.write(bounded.stop(), true)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

async fn write_on(file: Arc<File>, bounded: Bounded<Answer>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let (file, state) = (file.clone(), bounded.state());
        let written = tokio::task::spawn_blocking(move || file.write(state, false)).await;
        if let Ok(Err(error)) = written {
            tracing::error!("{error}");
        }
    }
}

// === impl File ===

impl File {
    pub(super) fn new(path: &str, secret: Secret, judge: String) -> Self {
        Self {
            path: path.into(),
            secret,
            judge,
            ended: Mutex::new(false),
        }
    }

    /// The certificate that goes on; none where one begins anew, which the log says.
    ///
    /// # Errors
    /// There is a file, and it cannot be read, or is none of ours: it is left alone.
    pub(super) fn resume(&self, promise: Settings) -> Result<Option<Certificate>, BoxError> {
        let shown = self.path.display();
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                tracing::info!("--semantic-state: {shown} is not there yet: the proof begins");
                return Ok(None);
            }
            Err(error) => {
                return Err(format!("--semantic-state: cannot read {shown}: {error}").into());
            }
        };
        let content = self.open(&text).map_err(|why| {
            format!(
                "--semantic-state: {shown} {why}: name another file, or remove it to begin anew"
            )
        })?;
        match self.fits(&content, promise) {
            Ok(certificate) => {
                let standing = certificate.standing();
                tracing::info!(
                    served = standing.served,
                    wrong_at_most = standing.wrong,
                    restarts = standing.restarts,
                    "--semantic-state: {shown}: the proof goes on"
                );
                Ok(Some(certificate))
            }
            Err(why) => {
                let old = beside(&self.path, "old");
                std::fs::rename(&self.path, &old).map_err(|error| {
                    format!("--semantic-state: cannot set {shown} aside: {error}")
                })?;
                tracing::warn!(
                    "--semantic-state: {shown} cannot be resumed ({why}): the proof begins anew, with a grace of its own. The old state is in {}",
                    old.display()
                );
                Ok(None)
            }
        }
    }

    fn open(&self, text: &str) -> Result<Content, String> {
        let (line, seal) = text
            .trim_end()
            .split_once('\n')
            .ok_or("is no state of this program")?;
        if seal != self.seal(line) {
            return Err("was sealed with another secret, or changed".to_owned());
        }
        serde_json::from_str(line).map_err(|error| format!("is of another version ({error})"))
    }

    fn fits(&self, content: &Content, promise: Settings) -> Result<Certificate, String> {
        if content.version != VERSION {
            return Err("it is of another version".to_owned());
        }
        if !content.ended {
            return Err(
                "its process did not come to an orderly end, or still runs, so that what it served last is not in it"
                    .to_owned(),
            );
        }
        if content.judge != self.judge {
            return Err(format!("its judge was `{}`", content.judge));
        }
        Certificate::resume(promise, &content.certificate).map_err(|error| error.to_string())
    }

    /// Writes it beside, and puts it in place in one step: whoever reads finds the old state or the new one.
    fn write(&self, certificate: State, ended: bool) -> Result<(), BoxError> {
        let mut last = self.ended.lock();
        if *last {
            return Ok(());
        }
        let content = Content {
            version: VERSION,
            ended,
            judge: self.judge.clone(),
            certificate,
        };
        let line = serde_json::to_string(&content)?;
        let text = format!("{line}\n{}\n", self.seal(&line));
        let new = beside(&self.path, "new");
        let written = || {
            let mut file = std::fs::File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, &self.path)
        };
        written().map_err(|error| {
            let shown = self.path.display();
            format!("--semantic-state: cannot write {shown}: {error}")
        })?;
        *last = ended;
        Ok(())
    }

    fn seal(&self, line: &str) -> String {
        let seal = self.secret.scope(&[("semantic-state", line.as_bytes())]);
        seal.as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tower_semcache::bounded::{Draw, Judgement};

    const SECRET: Secret = Secret::from_bytes([9; 32]);

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("llm-front-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, secret: Secret, judge: &str) -> File {
            let path = self.0.join("state");
            File::new(path.to_str().unwrap(), secret, judge.to_owned())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn promise(max_wrong: f64) -> Settings {
        Settings::new(max_wrong, 0.95, 110.0)
    }

    fn served(count: u64) -> Certificate {
        let mut certificate = Certificate::new(promise(0.02)).unwrap();
        while certificate.standing().served < count {
            let _ = certificate.draw(0.1, || 0.9);
        }
        if let Some(Draw::Audit(audit)) = certificate.draw(0.1, || 0.0) {
            certificate.judged(audit, Judgement::Different);
        }
        certificate
    }

    #[test]
    fn what_ended_goes_on_where_it_was() {
        let folder = Folder::new("goes-on");
        let file = folder.file(SECRET, "equal");
        assert!(file.resume(promise(0.02)).unwrap().is_none());
        let first = served(50);
        file.write(first.state(), true).unwrap();
        // A writer that was late has nothing more to say.
        file.write(served(9).state(), false).unwrap();
        let second = file.resume(promise(0.02)).unwrap().unwrap();
        assert_eq!(first.standing(), second.standing());
    }

    #[test]
    fn what_was_killed_or_made_another_promise_begins_anew_and_stays_beside() {
        let folder = Folder::new("anew");
        let old = folder.0.join("state.old");
        for (ended, judge, max_wrong) in [
            (false, "equal", 0.02),
            (true, "backend", 0.02),
            (true, "equal", 0.01),
        ] {
            let file = folder.file(SECRET, "equal");
            file.write(served(5).state(), ended).unwrap();
            let next = folder.file(SECRET, judge);
            assert!(next.resume(promise(max_wrong)).unwrap().is_none());
            assert!(old.exists() && !file.path.exists());
            std::fs::remove_file(&old).unwrap();
        }
    }

    #[test]
    fn what_is_none_of_ours_is_refused_and_left_alone() {
        let folder = Folder::new("refused");
        let file = folder.file(SECRET, "equal");
        let refused = |file: &File| file.resume(promise(0.02)).unwrap_err().to_string();
        for foreign in ["", "notes", "{}\n00\n"] {
            std::fs::write(&file.path, foreign).unwrap();
            assert!(refused(&file).contains("remove it to begin anew"));
            assert_eq!(std::fs::read_to_string(&file.path).unwrap(), foreign);
        }
        file.write(served(5).state(), true).unwrap();
        let other = folder.file(Secret::from_bytes([8; 32]), "equal");
        assert!(refused(&other).contains("another secret"));
        let better = std::fs::read_to_string(&file.path).unwrap();
        std::fs::write(&file.path, better.replace("\"served\":5", "\"served\":9")).unwrap();
        assert!(refused(&file).contains("changed"));
        let nowhere = File::new("/does/not/exist/state", SECRET, "equal".to_owned());
        let error = nowhere.write(served(5).state(), true).unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
    }
}
