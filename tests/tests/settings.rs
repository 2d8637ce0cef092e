//! Settings of the binary: where they come from, which are refused, and that help and README tell of all of them.

use llm_front::config::Settings;
use std::process::Output;
use tests::Request;
use tests::binary::{Process, command, free_address, run};

fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn help_tells_of_every_setting_its_default_and_its_variable() {
    let output = run(["--help"]);
    assert!(output.status.success());
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    // Lines are wrapped.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, default, variable) in Settings::table() {
        assert!(help.contains(&format!("{} <", flag(name))), "{name}");
        assert!(help.contains(&format!("[env: {variable}]")), "{variable}");
        assert!(
            words.contains(&format!("[default: {default}]")) || default.contains(','),
            "{name}: {default}"
        );
    }
    assert!(help.contains("stub"), "the subcommand");
}

#[test]
fn the_table_in_the_readme_is_the_table_in_the_code() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let row = |(name, default, variable): &(&str, &str, &str)| {
        format!("| `{}` | `{default}` | `{variable}` |", flag(name))
    };
    let expected: Vec<String> = Settings::table().iter().map(row).collect();
    let found: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("| `--"))
        .collect();
    assert_eq!(
        found,
        expected,
        "the README should have these lines:\n{}",
        expected.join("\n")
    );
}

#[tokio::test]
async fn a_flag_wins_over_the_environment_which_wins_over_the_file_which_wins_over_the_default() {
    let [file, variable, flag] = [free_address(), free_address(), free_address()];
    let path = std::env::temp_dir().join(format!("llm-front-{}.toml", std::process::id()));
    std::fs::write(
        &path,
        format!("listen = \"{file}\"\nbody_limit = \"1KiB\"\ncache = false\n"),
    )
    .expect("a file");
    let config = path.to_str().expect("a path");

    let from_file = command(["--config", config]);
    let mut process = Process::start(from_file, file).await;
    // It answers once it has said so.
    let health = Request::new("GET", "/healthz").send(file).await;
    assert_eq!(health.status, 200);
    assert!(
        process.stdout().contains(&file.to_string()),
        "the line to copy names it"
    );

    let mut from_variable = command(["--config", config]);
    from_variable.env("LLM_FRONT_LISTEN", variable.to_string());
    drop(Process::start(from_variable, variable).await);

    let mut from_flag = command([]);
    from_flag
        .env("LLM_FRONT_LISTEN", variable.to_string())
        .env("LLM_FRONT_CONFIG", config);
    from_flag.arg("--listen").arg(flag.to_string());
    let process = Process::start(from_flag, flag).await;

    // What only the file says, holds; the rest are the defaults.
    let large = tests::Request::chat(&tests::chat(&"x".repeat(2_000)));
    assert_eq!(large.send(process.address).await.status, 413);
    let small = tests::Request::chat(&tests::chat("Hello"));
    for _ in 0..2 {
        assert_eq!(
            small.send(process.address).await.source(),
            "fwd=miss",
            "no cache, but coalescing"
        );
    }
    std::fs::remove_file(path).expect("the file");
}

#[test]
fn a_wrong_setting_is_refused_at_start_with_the_fix() {
    for (args, fix) in [
        (&["--threshold", "0"][..], "write 0.96"),
        (&["--threshold", "NaN"], "write 0.96"),
        (&["--cache-ttl", "0s"], "write 1ms or more"),
        (&["--cache-ttl=-1s"], "--cache-ttl"),
        (&["--batch-items", "0"], "must be at least 1"),
        (&["--max-requests", "0"], "must be at least 1"),
        (&["--cache-bytes", "1MiB"], "raise --cache-bytes"),
        (&["--cache-bytes", "7 bananas"], "bananas"),
        (&["--backend", "localhost:8000"], "http://"),
        (
            &["--semantic", "hashed", "--cache", "off"],
            "leave out --cache off",
        ),
        (
            &[
                "--semantic",
                "hashed",
                "--max-wrong",
                "0.02",
                "--threshold",
                "0.9",
            ],
            "--threshold exclude each other",
        ),
        (&["--max-wrong", "0.02"], "add --semantic minilm"),
        (&["--max-wrong", "2"], "write 0.02 for 2 %"),
        (
            &[
                "--semantic",
                "hashed",
                "--max-wrong",
                "0.02",
                "--grace",
                "1",
            ],
            "raise it, or audit more",
        ),
        (&["--semantic-state", "state"], "--max-wrong 0.02"),
        (
            &[
                "--semantic",
                "hashed",
                "--max-wrong",
                "0.02",
                "--semantic-state",
                "state",
            ],
            "openssl rand -hex 32",
        ),
        (
            &["--secret-file", "/does/not/exist"],
            "cannot read /does/not/exist",
        ),
        (
            &["--history", "guarded", "--guard", "off"],
            "--guard english or verified",
        ),
        (&["--sampled", "maybe"], "bypass reuse"),
        (&["--backend-key", "x"], "--backend"),
        (&["--log", "a=b=c=d"], "--log"),
        (&["--cache-size", "5"], "--cache"),
        (
            &["--config", "/does/not/exist.toml"],
            "/does/not/exist.toml",
        ),
    ] {
        let output = run(args.iter().copied());
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(fix), "{args:?} should say `{fix}`: {told}");
        assert!(!told.contains("panicked"), "{told}");
    }
}

#[test]
fn a_wrong_variable_or_line_of_the_file_is_refused_by_name() {
    let output = command([])
        .env("LLM_FRONT_THRESHOLD", "2")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("threshold"), "{}", stderr(&output));

    for (line, words) in [
        ("cache_size = 5", "cache_size"),
        ("threshold = 0", "0.96"),
        ("listen = 7", "listen"),
    ] {
        let path =
            std::env::temp_dir().join(format!("llm-front-wrong-{}.toml", std::process::id()));
        std::fs::write(&path, line).expect("a file");
        let output = run(["--config", path.to_str().expect("a path")]);
        std::fs::remove_file(path).expect("the file");
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(
            stderr(&output).contains(words),
            "{line}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn an_address_in_use_is_told_with_the_setting() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = run(["--listen", &address]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--listen") && stderr(&output).contains(&address),
        "{}",
        stderr(&output)
    );
}
