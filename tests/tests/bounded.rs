//! `--max-wrong`: similar answers are served while audits prove that few of them are wrong; and the shadow mode.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tests::{Answer, Close, Connection, Gateway, Request, Upstream, answer_all, chat, within};

/// Words that all questions share, so that a class is a matter of the rest.
const FILLER: [&str; 8] = [
    "please", "tell", "me", "now", "kindly", "about", "the", "what",
];

/// A header that makes the server take its time.
const SLOW: &str = "x-slow";
const LONG: Duration = Duration::from_millis(100);

/// How many classes of questions there are: within one, all have the same answer.
const CLASSES: usize = 40;

/// Question number `n`, and its class.
fn question(n: usize) -> (usize, String) {
    let class = (n * 7_919) % CLASSES;
    let n = n / CLASSES;
    let [one, two, three] = [n % 8, n / 8 % 8, n / 64 % 8].map(|at| FILLER[at]);
    let text = format!("{one} {two} topic{class} subject{class} matter{class} {three}");
    (class, text)
}

/// A server whose answer to a question is its class, in one wording or another.
#[derive(Clone, Debug, Default)]
struct Server {
    /// Whether its wording depends on that of the question.
    wordy: bool,
    /// How often it was asked to compare two answers.
    judged: Arc<AtomicUsize>,
}

impl Server {
    async fn start(&self) -> String {
        let upstream = Upstream::start().await;
        let url = upstream.url();
        let server = self.clone();
        answer_all(upstream, move |message| {
            let server = server.clone();
            async move {
                if !message.header(SLOW).is_empty() {
                    tokio::time::sleep(LONG).await;
                }
                let asked = message.json();
                let (status, said) = match asked["messages"][0]["role"].as_str() {
                    Some("system") => server.judge(&asked),
                    _ => ("200 OK", server.say(&asked)),
                };
                let body = json!({
                    "object": "chat.completion",
                    "model": "m",
                    "choices": [{
                        "index": 0,
                        "message": { "role": "assistant", "content": said },
                        "finish_reason": "stop",
                    }],
                })
                .to_string();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                Some(((head + &body).into_bytes(), Close::Keep))
            }
        });
        url
    }

    fn say(&self, asked: &Value) -> String {
        let text = asked["messages"][0]["content"].as_str().unwrap_or_default();
        let class = text
            .split(' ')
            .find_map(|word| word.strip_prefix("topic"))
            .unwrap_or("none");
        if self.wordy {
            format!(
                "You say it in {} letters. The answer of {class}.",
                text.len()
            )
        } else {
            format!("The answer of {class}.")
        }
    }

    /// Compares the last words of two answers. The first time it is too busy.
    fn judge(&self, asked: &Value) -> (&'static str, String) {
        assert_eq!(asked["model"], "judge");
        assert_eq!(asked["temperature"], 0);
        let case = asked["messages"][1]["content"].as_str().unwrap_or_default();
        let case: Value = serde_json::from_str(case).expect("the case is JSON");
        assert!(
            case["question"]
                .as_str()
                .is_some_and(|text| text.contains("topic"))
        );
        let last = |answer: &str| case[answer].as_str()?.rsplit(' ').next().map(str::to_owned);
        let same = last("answer_1") == last("answer_2");
        match self.judged.fetch_add(1, Ordering::SeqCst) {
            0 => ("429 Too Many Requests", String::new()),
            _ if same => ("200 OK", "They agree: SAME".to_owned()),
            _ => ("200 OK", "DIFFERENT.".to_owned()),
        }
    }
}

async fn upstream() -> String {
    Server::default().start().await
}

async fn gateway(url: &str, change: impl FnOnce(&mut llm_front::config::Config)) -> Gateway {
    Gateway::before(url, |config| {
        config.semantic = "hashed".parse().expect("an embedder");
        config.guard = "off".parse().expect("a guard");
        config.max_wrong = "0.05".parse().expect("a share");
        change(config);
    })
    .await
}

/// Asks the questions of these numbers, one after the other; gives the number of similar answers served.
async fn ask(gateway: &Gateway, numbers: std::ops::Range<usize>) -> usize {
    let mut connection = gateway.connect().await;
    let mut similar = 0;
    for n in numbers {
        let (class, text) = question(n);
        let answer = once(&mut connection, &text).await;
        assert_eq!(answer.status, 200);
        let body: Value = serde_json::from_str(&answer.text()).expect("JSON");
        let said = &body["choices"][0]["message"]["content"];
        let right = format!("The answer of {class}.");
        assert!(
            said.as_str().is_some_and(|said| said.ends_with(&right)),
            "{text}: {said}"
        );
        similar += usize::from(answer.source().contains("semantic"));
    }
    similar
}

async fn once(connection: &mut Connection, text: &str) -> Answer {
    connection.ask(&Request::chat(&chat(text))).await;
    connection.answer().await
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("llm-front-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("secret"), "5a".repeat(32)).expect("a file");
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn audits_come_first_then_similar_answers_and_the_proof_outlives_the_process() {
    let folder = Folder::new("bounded");
    let url = upstream().await;
    let keep = |config: &mut llm_front::config::Config| {
        config.semantic_state = folder.file("state").parse().expect("a path");
        config.secret_file = folder.file("secret").parse().expect("a path");
    };
    let first = gateway(&url, keep).await;
    assert_eq!(
        ask(&first, 0..80).await,
        0,
        "nothing is served without proof"
    );
    let similar = ask(&first, 80..1_200).await;
    let metrics = first.metrics().await;
    assert!(similar > 100, "{similar} {metrics:?}");
    let value = |name: &str| metrics.value(&format!("llm_front_semcache_{name}"));
    assert_eq!(value("served_total"), similar as f64);
    assert_eq!(value("hits_total{tier=\"semantic\"}"), similar as f64);
    assert!(value("wrong_bound") <= value("wrong_allowed"));
    assert!(value("judged_total{verdict=\"same\"}") > 100.0);
    assert_eq!(value("judged_total{verdict=\"failed\"}"), 0.0);
    assert!(value("audits_total{result=\"begun\"}") > 0.0);
    assert!(value("refused_total{reason=\"no_score\"}") > 0.0);
    assert!(value("credit") > 0.0 && value("evidence") >= 1.0);
    first.stop().await;
    let kept = std::fs::read_to_string(folder.file("state")).expect("a file");
    assert!(kept.contains("\"ended\":true"), "{kept}");

    let second = gateway(&url, keep).await;
    let again = second.metrics().await;
    for name in [
        "served_total",
        "wrong_bound",
        "credit",
        "audits_total{result=\"begun\"}",
    ] {
        let series = format!("llm_front_semcache_{name}");
        assert_eq!(again.value(&series), metrics.value(&series), "{name}");
    }
    // It runs, and whoever were to begin now could not tell what it serves.
    let kept = std::fs::read_to_string(folder.file("state")).expect("a file");
    assert!(kept.contains("\"ended\":false"), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shadow_serves_nothing_and_says_what_it_would() {
    let url = upstream().await;
    let gateway = gateway(&url, |config| {
        config.semantic_mode = "shadow".parse().expect("a mode");
    })
    .await;
    assert_eq!(ask(&gateway, 0..1_200).await, 0);
    let metrics = gateway.metrics().await;
    let value = |name: &str| metrics.value(&format!("llm_front_semcache_{name}"));
    assert_eq!(value("served_total"), 0.0);
    assert!(value("audits_total{result=\"begun\"}") > 100.0);
    assert_eq!(
        value("hits_total{tier=\"shadow\"}"),
        value("audits_total{result=\"begun\"}")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_backend_judges_what_is_worded_differently_past_the_cache() {
    let server = Server {
        wordy: true,
        ..Server::default()
    };
    let url = server.start().await;
    let gateway = gateway(&url, |config| {
        config.judge = "backend".parse().expect("a judge");
        config.judge_model = "judge".parse().expect("a model");
    })
    .await;
    let similar = ask(&gateway, 0..700).await;
    let metrics = gateway.metrics().await;
    let value = |name: &str| metrics.value(&format!("llm_front_semcache_{name}"));
    assert!(similar > 50, "{similar} {metrics:?}");
    assert_eq!(value("audits_total{result=\"wrong\"}"), 0.0);
    assert_eq!(
        value("judged_total{verdict=\"failed\"}"),
        0.0,
        "it tries again"
    );
    let again = value("judged_again_total");
    let told = again
        + value("judged_total{verdict=\"same\"}")
        + value("judged_total{verdict=\"different\"}");
    assert!(again > 5.0, "{again} of {told} with a second answer");
    assert_eq!(value("judge_noise"), 0.0);
    let asked = server.judged.load(Ordering::SeqCst) as f64;
    // One call a comparison, the first one twice, and perhaps some under way.
    assert!(
        (told + 1.0..told + 6.0).contains(&asked),
        "{asked} calls, {told} judgements"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_comes_to_its_end_when_its_caller_leaves() {
    let url = upstream().await;
    // In a shadow all that would be a hit is an audit.
    let gateway = gateway(&url, |config| {
        config.semantic_mode = "shadow".parse().expect("a mode");
    })
    .await;
    ask(&gateway, 0..600).await;
    let audits = async || {
        let metrics = gateway.metrics().await;
        let result = |name: &str| {
            metrics.value(&format!(
                "llm_front_semcache_audits_total{{result=\"{name}\"}}"
            ))
        };
        let pending = metrics.value("llm_front_semcache_audits_pending");
        (result("begun"), result("failed"), pending)
    };
    let (before, ..) = audits().await;
    for n in 600..620 {
        let mut connection = gateway.connect().await;
        let (_, text) = question(n);
        let request = Request::chat(&chat(&text)).header(SLOW, "1");
        connection.ask(&request).await;
        tokio::time::sleep(LONG / 10).await;
    }
    within(async {
        while audits().await.2 > 0.0 {
            tokio::time::sleep(LONG / 10).await;
        }
    })
    .await;
    let (after, failed, _) = audits().await;
    assert!(after > before + 10.0, "{before} {after}");
    assert_eq!(failed, 0.0);
    gateway.quiet().await;
}

#[tokio::test]
async fn a_shadow_of_a_threshold_tells_each_caller_and_serves_none() {
    let gateway = Gateway::before_stub(|config| {
        config.semantic = "hashed".parse().expect("an embedder");
        config.threshold = "0.7".parse().expect("a threshold");
        config.semantic_mode = "shadow".parse().expect("a mode");
    })
    .await;
    let asked = "please summarize the checkout incident of 12 May for the team";
    let rephrased = "for the team please summarize the checkout incident of 12 May";
    assert_eq!(gateway.chat(&chat(asked)).await.source(), "fwd=miss");
    let second = gateway.chat(&chat(rephrased)).await;
    let source = second.source();
    assert!(
        source.starts_with("fwd=miss; detail=\"shadow; sim=0."),
        "{source}"
    );
    assert_eq!(gateway.stub().stats().generations, 2);
    // Equal requests are served as ever.
    assert_eq!(
        gateway.chat(&chat(rephrased)).await.source(),
        "hit; detail=exact"
    );
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.value("llm_front_semcache_hits_total{tier=\"shadow\"}"),
        1.0
    );
    assert_eq!(
        metrics.value("llm_front_semcache_hits_total{tier=\"semantic\"}"),
        0.0
    );
}
