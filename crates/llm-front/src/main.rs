//! The binary: reads the settings, builds the stack, serves.
#![forbid(unsafe_code)]

use clap::Parser;
use llm_front::cli::{Cli, Command, StubArgs};
use llm_front::config::types::{Backend, LogFormat, Tenants};
use llm_front::config::{Config, Settings};
use llm_front::server::{self, Patience};
use llm_front::stack;
use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use tokio::runtime::Runtime;

// Answers are kept among short-lived buffers of 8 KiB, of which every request needs two: the system's allocator searches and
// merges its free lists for each, this one has them at hand.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::Stub(args)) => run_stub(&args),
        None => configure(cli).and_then(|config| run_gateway(&config)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("llm-front: {}", llm_front::errors::Chain(error.as_ref()));
            ExitCode::from(2)
        }
    }
}

type Result<T> = std::result::Result<T, tower::BoxError>;

fn configure(cli: Cli) -> Result<Config> {
    let file = cli
        .config
        .as_deref()
        .map(Settings::read)
        .transpose()?
        .unwrap_or_default();
    let settings = cli.settings.or(file);
    settings.check()?;
    let config = settings.or_default();
    config.check()?;
    Ok(config)
}

fn run_gateway(config: &Config) -> Result<()> {
    log_to_stderr(&config.log.0, config.log_format)?;
    config.warn();
    raise_descriptor_limit(config.max_requests);
    let runtime = runtime(config.workers)?;
    let done = runtime.block_on(async {
        let listener =
            server::listen(config.listen).map_err(|error| cannot_listen(config.listen, &error))?;
        let gateway = stack::build(config)?;
        let kept = gateway.kept;
        announce(config, listener.local_addr()?);
        let patience = Patience {
            send: config.send_timeout.0,
            drain: config.drain.0,
        };
        server::serve(
            listener,
            gateway.service,
            server::stop_signal(),
            server::stop_signal(),
            patience,
        )
        .await;
        kept.end().await
    });
    // A look-up of a name that hangs must not hold the end back.
    runtime.shutdown_background();
    done
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    let fix = match error.kind() {
        io::ErrorKind::AddrInUse => ": another program has this port; name another one",
        io::ErrorKind::AddrNotAvailable => {
            ": this machine has no such address; 127.0.0.1 is its own, 0.0.0.0 all it has"
        }
        io::ErrorKind::PermissionDenied => ": ports below 1024 need a privilege; name a higher one",
        _ => "",
    };
    format!("cannot listen on {address} (--listen): {error}{fix}")
}

fn run_stub(args: &StubArgs) -> Result<()> {
    log_to_stderr("info", LogFormat::Text)?;
    raise_descriptor_limit(1_024);
    let listen = args
        .port
        .map_or(args.listen, |port| ([127, 0, 0, 1], port).into());
    runtime(args.workers)?.block_on(async {
        let listener = server::listen(listen).map_err(|error| cannot_listen(listen, &error))?;
        tracing::info!("stub on http://{}", listener.local_addr()?);
        llm_backend::stub::serve(listener, args.stub(), server::stop_signal()).await;
        Ok(())
    })
}

fn runtime(workers: usize) -> Result<Runtime> {
    let workers = match workers {
        0 => std::thread::available_parallelism()?.get(),
        workers => workers,
    };
    // One worker is this very thread: nothing is handed from one to another.
    let mut builder = match workers {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    Ok(builder.worker_threads(workers).enable_all().build()?)
}

fn log_to_stderr(filter: &str, format: LogFormat) -> Result<()> {
    let filter = filter
        .parse::<tracing_subscriber::EnvFilter>()
        .map_err(|error| {
            format!("--log: `{filter}` is not a filter ({error}): write info, or llm_front=debug")
        })?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().init(),
    }
    Ok(())
}

/// Each open caller takes one, and each request at the backend another.
fn raise_descriptor_limit(requests: usize) {
    let wanted = requests.saturating_add(64) as u64;
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit >= wanted => {}
        Ok(limit) => tracing::warn!(
            "only {limit} files may be open, fewer than {requests} requests need ({wanted} and more): raise `ulimit -n`, or lower --max-requests"
        ),
        Err(error) => tracing::warn!(%error, "the limit on open files stays as it is"),
    }
}

fn announce(config: &Config, address: SocketAddr) {
    let backend = &config.backend;
    tracing::info!(
        "llm-front {} on http://{address}, backend: {backend}",
        env!("CARGO_PKG_VERSION")
    );
    let model = match backend {
        Backend::Stub => "stub",
        Backend::Url(_) | Backend::WithCredentials => "MODEL",
    };
    let tenant = match config.tenants {
        Tenants::Header => " -H 'x-tenant: me'",
        Tenants::Credentials => "",
    };
    // On standard output: something to copy.
    #[expect(
        clippy::print_stdout,
        reason = "the one thing a person is told to type"
    )]
    {
        println!(
            "try it (twice: the second answer comes from the cache):\n\n  \
             curl -i http://{address}/v1/chat/completions -H 'content-type: application/json'{tenant} \\\n    \
             -d '{{\"model\":\"{model}\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello\"}}],\"temperature\":0}}'\n"
        );
    }
}
