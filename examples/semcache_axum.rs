//! The cache on an axum router: the second request is a hit, and so is a third that asks the same in other words.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use axum::body::Body;
use axum::error_handling::HandleErrorLayer;
use axum::extract::Query;
use axum::response::Response;
use axum::routing::get;
use axum::{BoxError, Router};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde::Deserialize;
use tower::{ServiceBuilder, ServiceExt};
use tower_semcache::guard::Literal;
use tower_semcache::hashed::{HashedEmbedder, Ngrams};
use tower_semcache::http::{Answer, HttpRecord};
use tower_semcache::{Cache, CacheLayer, Control, Lookup, Matching, Policy, Secret};

#[derive(Deserialize)]
struct Ask {
    question: String,
}

/// The handler that we would rather not run twice.
async fn answer(Query(Ask { question }): Query<Ask>) -> String {
    format!("You asked: {question}")
}

/// What may share an answer.
#[derive(Clone)]
struct Questions {
    secret: Secret,
    matching: Matching,
}

impl Policy<Request<Body>> for Questions {
    fn lookup(&self, request: &Request<Body>) -> Option<Lookup> {
        // `None`: not for the cache. A router answers HEAD as it does GET, but without the body.
        if request.method() != Method::GET {
            return None;
        }
        let Query(Ask { question }) = Query::try_from_uri(request.uri()).ok()?;
        // The scope holds all that must agree. The caller belongs into it, or one would be told what another has asked.
        let path = request.uri().path().as_bytes();
        let mut scope = self.secret.scope_builder().part("path", path);
        for caller in request.headers().get_all("authorization") {
            scope = scope.part("caller", caller.as_bytes());
        }
        let lookup = Lookup::new(&self.secret, scope.finish(), question.clone().into())
            // The one thing in which a similar request may differ.
            .text(question)
            .matching(self.matching)
            // `Cache-Control: no-cache` and its like are obeyed. They can only make reuse stricter.
            .control(Control::from_headers(request.headers()));
        Some(lookup)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let cache: Cache<Answer> = Cache::builder()
        .max_bytes(64 << 20)
        .ttl(Duration::from_secs(600))
        .build()?;
    let questions = Questions {
        secret: Secret::random(),
        matching: Matching::threshold(0.8)?,
    };
    let caching = CacheLayer::new(cache.clone(), questions, HttpRecord::new("example"))
        // The embedder is a tower service: a neural one, with a time limit and a batcher around it, goes in its place. The guard
        // has the last word: to an embedder, five and six kilometres are nearly the same.
        .semantic(HashedEmbedder::new(Ngrams::Words), Literal);

    let app = Router::new().route("/answer", get(answer)).layer(
        ServiceBuilder::new()
            // A router's services do not fail, so what fails in a layer must become a response.
            .layer(HandleErrorLayer::new(|error: BoxError| async move {
                (StatusCode::BAD_GATEWAY, error.to_string())
            }))
            .layer(caching),
    );

    let asked = [
        ("how+many+miles+are+5+km", "example; fwd=miss"),
        ("how+many+miles+are+5+km", "example; hit; detail=exact"),
        (
            "5+km+are+how+many+miles",
            "example; hit; detail=\"semantic; sim=1.000\"",
        ),
        ("how+many+miles+are+6+km", "example; fwd=miss"),
    ];
    for (question, status) in asked {
        let response = ask(&app, question).await?;
        let said = response
            .headers()
            .get("cache-status")
            .ok_or("nothing said")?;
        assert_eq!(said, status);
        println!("{question}: {}", said.to_str()?);
        // An answer is stored when its body has come to a clean end, and before its reader learns of that.
        response.into_body().collect().await?;
    }

    // A hit is the stored answer, byte for byte, and says how old it is.
    let response = ask(&app, "5+km+are+how+many+miles").await?;
    assert!(response.headers().contains_key("age"));
    let body = response.into_body().collect().await?.to_bytes();
    assert_eq!(body, "You asked: how many miles are 5 km");

    let stats = cache.stats();
    assert_eq!(
        (stats.misses, stats.hits_exact, stats.hits_semantic),
        (2, 1, 2)
    );
    assert_eq!(stats.guard_rejected, 1);
    Ok(())
}

async fn ask(app: &Router, question: &str) -> Result<Response, BoxError> {
    let request = Request::get(format!("/answer?question={question}")).body(Body::empty())?;
    Ok(app.clone().oneshot(request).await?)
}

#[test]
fn equal_and_similar_questions_are_hits() -> Result<(), BoxError> {
    main()
}
