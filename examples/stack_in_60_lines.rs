//! The whole stack: 16 callers ask 3 questions, the server gets one call with 3 prompts.
use bytes::Bytes;
use http::{Request, Response, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Full};
use llm_backend::complete::is_complete;
use llm_backend::merge::{Part, join, split};
use llm_backend::prompt::{Endpoint::Completions, Prompt};
use llm_backend::{RequestBody, stub::Stub as Server}; // Or `client::OpenAi`: any OpenAI-compatible server.
use tokio::task::JoinSet;
use tower::{BoxError, ServiceBuilder, ServiceExt};
use tower_batch_llm::{BatchLayer, batch_fn};
use tower_coalesce::{CoalesceLayer, http::SharedBody};
use tower_semcache::http::{Answer, HttpRecord};
use tower_semcache::{Cache, CacheLayer, Lookup, ProbeLayer, Secret};

/// Reads a request once, for all the layers. Without a `Lookup` they leave it alone: two answers to it may differ.
fn read(secret: &Secret, body: &Bytes) -> Result<Request<Part>, BoxError> {
    let prompt = Prompt::parse(Completions, body)?;
    let part = Part::new(Completions, body).ok_or("goes alone")?;
    let mut request = Request::new(part);
    if !prompt.sampled && !prompt.choices {
        let scope = secret.scope(&[("tenant", b"me")]);
        request
            .extensions_mut()
            .insert(Lookup::new(secret, scope, prompt.canonical));
    }
    Ok(request)
}

/// One call for all of them, and each one's own answer.
async fn complete(
    server: Server,
    asked: Vec<Request<Part>>,
) -> Result<Vec<Result<Response<Full<Bytes>>, BoxError>>, BoxError> {
    let parts: Vec<Part> = asked.into_iter().map(Request::into_body).collect();
    let request = Request::post("/v1/completions").body(RequestBody::full(join(&parts)?))?;
    let body = server
        .oneshot(request)
        .await?
        .into_body()
        .collect()
        .await?
        .to_bytes();
    let answer = |body| {
        Ok(Response::builder()
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))?)
    };
    Ok(split(&parts, &body)?.into_iter().map(answer).collect())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let (server, secret) = (Server::default(), Secret::random());
    let cache: Cache<Answer> = Cache::builder().build()?;
    let lookup = |request: &Request<Part>| request.extensions().get::<Lookup>().cloned();
    let flight = move |request: &Request<Part>| {
        lookup(request).map(|key| (*key.scope(), key.canonical().clone()))
    };
    let whole = |answer: &Answer| {
        is_complete(
            Completions,
            answer.status(),
            answer.headers().get(CONTENT_TYPE),
            answer.body(),
        )
    };
    let record = HttpRecord::new("stack").complete(whole);
    let upstream = server.clone();
    let stack = ServiceBuilder::new()
        .layer(ProbeLayer::new(cache.clone(), lookup, record.clone())) // Hits: at once, before all else.
        .layer(CoalesceLayer::new(flight).share_with(SharedBody::new())) // Equal ones at the same time: one flight.
        .layer(CacheLayer::new(cache, lookup, record)) // Its leader looks once more, and stores the answer.
        .layer(
            BatchLayer::new(8).group_by(|request: &Request<Part>| request.body().compat().clone()),
        )
        .service(batch_fn(move |asked| complete(upstream.clone(), asked)));

    let ask = |n| {
        read(
            &secret,
            &format!(
                r#"{{"model":"stub","prompt":"question {n}","temperature":0,"max_tokens":64}}"#
            )
            .into(),
        )
    };
    let asks = (0..16).map(|n| Ok(stack.clone().oneshot(ask(n % 3)?)));
    let callers: JoinSet<_> = asks
        .collect::<Result<Vec<_>, BoxError>>()?
        .into_iter()
        .collect();
    for response in callers.join_all().await {
        response?.into_body().collect().await?;
    }
    assert_eq!(
        server.stats().batches.into_iter().collect::<Vec<_>>(),
        [(3, 1)]
    );
    assert_eq!(
        stack.oneshot(ask(1)?).await?.headers()["cache-status"],
        "stack; hit; detail=exact"
    );
    Ok(())
}

#[test]
fn sixteen_callers_of_three_questions_make_one_call() -> Result<(), BoxError> {
    main()
}
