//! The whole stack in 60 lines: hits at once, one flight for equal requests, one call for several prompts.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use llm_backend::merge::{Part, join, parse, split};
use llm_backend::prompt::Endpoint::Completions;
use llm_backend::stub::Stub as Server; // Or `client::OpenAi`: any OpenAI-compatible server.
use llm_backend::{RequestBody, complete::is_complete};
use std::time::Duration;
use tower::{BoxError, ServiceBuilder, ServiceExt, util::BoxCloneSyncService};
use tower_batch_llm::{BatchLayer, BatchResult, Window, batch_fn};
use tower_coalesce::{CoalesceLayer, http::SharedBody};
use tower_semcache::http::{Answer, FromExtensions, HttpRecord};
use tower_semcache::{Cache, CacheLayer, Lookup, ProbeLayer, Secret};

type Ask = Request<Part>;
type Stack = BoxCloneSyncService<Ask, Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>;

/// The way of a request. The order counts: a cache outside of the flights would miss what has just been answered.
fn stack(server: Server, cache: Cache<Answer>) -> Stack {
    let json = HeaderValue::from_static("application/json");
    let whole = move |a: &Answer| is_complete(a.status(), Some(&json), a.body());
    let record = HttpRecord::new("stack").complete(whole);
    let probe = ProbeLayer::new(cache.clone(), FromExtensions, record.clone());
    let flight = |ask: &Ask| ask.extensions().get().map(Lookup::identity);
    let batch = BatchLayer::new(8).window(Window::Fixed(Duration::from_millis(6)));
    ServiceBuilder::new()
        .boxed_clone_sync()
        .map_response(|reply: Response<_>| reply.map(BodyExt::boxed_unsync))
        .layer(probe)
        .layer(CoalesceLayer::new(flight).share_with(SharedBody::new()))
        .layer(CacheLayer::new(cache, FromExtensions, record))
        .layer(batch.group_by(|ask: &Ask| ask.body().compat().clone()))
        .service(batch_fn(move |asks| merged(server.clone(), asks)))
}

/// Reads a request once, for all the layers. They leave one without a `Lookup` alone: two answers to it may differ.
fn read(secret: &Secret, body: &Bytes) -> Result<Ask, BoxError> {
    let (prompt, part) = parse(Completions, body)?;
    let mut ask = Request::new(part.ok_or("must not be merged")?);
    if !prompt.sampled {
        let lookup = Lookup::new(secret, secret.scope(&[("tenant", b"me")]), prompt.canonical);
        ask.extensions_mut().insert(lookup);
    }
    Ok(ask)
}

/// One call for all of them, and to each its own answer.
async fn merged(server: Server, asks: Vec<Ask>) -> BatchResult<Response<Full<Bytes>>> {
    let parts: Vec<Part> = asks.into_iter().map(Request::into_body).collect();
    let request = Request::post("/v1/completions").body(RequestBody::full(join(&parts)?))?;
    let response = server.oneshot(request).await?;
    let body = response.into_body().collect().await?.to_bytes();
    let answers = split(&parts, &body)?.into_iter().map(Full::new);
    Ok(answers.map(|body| Ok(Response::new(body))).collect())
}

// That was the stack. Here are 16 callers with 3 questions, then one more.

// The clock is paused, so that the server's time costs nothing and the window is exact.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), BoxError> {
    let (server, secret) = (Server::default(), Secret::random());
    let stack = stack(server.clone(), Cache::builder().build()?);
    let ask = |n: usize| {
        let body = format!(r#"{{"model":"stub","prompt":"{n}","temperature":0,"max_tokens":64}}"#);
        read(&secret, &body.into())
    };
    let mut callers = tokio::task::JoinSet::new();
    for n in 0..16 {
        callers.spawn(stack.clone().oneshot(ask(n % 3)?));
    }
    for reply in callers.join_all().await {
        reply?.into_body().collect().await?;
    }
    let seen = server.stats();
    let (prompts, calls) = (seen.generations, seen.requests);
    println!("16 callers, {prompts} prompts, {calls} call");
    assert_eq!((prompts, calls), (3, 1));
    let reply = stack.oneshot(ask(1)?).await?;
    assert_eq!(reply.headers()["cache-status"], "stack; hit; detail=exact");
    Ok(())
}

#[test]
fn sixteen_callers_with_three_questions_make_one_call() -> Result<(), BoxError> {
    main()
}

#[test]
fn the_stack_has_no_more_lines_than_it_says() {
    let lines = include_str!("stack_in_60_lines.rs").lines();
    let stack = lines.take_while(|line| !line.starts_with("// That was"));
    assert!(stack.count() <= 60);
}
