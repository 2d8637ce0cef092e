//! Single flight on a gRPC server: identical unary calls that are in flight at the same time run once.
//!
//! The layers stand around the whole tonic server, at the level of HTTP, so the services behind them need not know. One answer,
//! its trailers included (they hold the gRPC status), is given to every caller.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::uri::PathAndQuery;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::transport::{Channel, Endpoint, Server, server::TcpIncoming};
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::util::MapErrLayer;
use tower::{BoxError, Service, service_fn};
use tower_coalesce::CoalesceLayer;
use tower_coalesce::error::Overloaded;
use tower_coalesce::http::{CollectLayer, MaybeCollected, PayloadTooLarge, SharedBody};

const SQUARE: &str = "/example.Numbers/Square";

/// What makes two calls the same: the method, the caller, and the message, byte for byte. If your methods read other metadata,
/// that belongs here too.
///
/// Only a method that may be shared is collected below: one that acts must run as often as it is called.
fn key(request: &http::Request<MaybeCollected<Body>>) -> Option<Key> {
    let message = request.body().collected()?.data().clone();
    let header = |name| request.headers().get_all(name).iter().cloned().collect();
    Some(Key {
        path: SQUARE,
        authorization: header("authorization"),
        // How the message is to be read, and how the answer may be written.
        encoding: header("grpc-encoding"),
        accept_encoding: header("grpc-accept-encoding"),
        message,
    })
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    path: &'static str,
    authorization: Vec<HeaderValue>,
    encoding: Vec<HeaderValue>,
    accept_encoding: Vec<HeaderValue>,
    message: Bytes,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let coalesce = CoalesceLayer::new(key).share_with(SharedBody::new());
    let stats = coalesce.stats();
    let numbers = Numbers {
        permits: Arc::new(Semaphore::new(0)),
    };
    let permits = numbers.permits.clone();

    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
    let address = incoming.local_addr()?;
    let server = Server::builder()
        // Above them all: tonic resets the stream on an error that is not a `Status`.
        .layer(MapErrLayer::new(status))
        // The message is part of the key, so it must be read before the key is made. All other methods stream through: one that
        // answers while its requests still come would otherwise wait here for ever.
        .layer(CollectLayer::new(64 * 1024).only_if(|head| head.uri.path() == SQUARE))
        .layer(coalesce)
        .add_service(numbers)
        .serve_with_incoming(incoming);
    let server = tokio::spawn(server);

    // Ten calls over one connection, as HTTP/2 has it.
    let channel = Endpoint::from_shared(format!("http://{address}"))?
        .connect()
        .await?;
    let mut callers = JoinSet::new();
    for _ in 0..10 {
        callers.spawn(call(channel.clone(), Number { value: 12 }));
    }
    // The method waits for a permit, and gets just one when all the callers are there.
    let all_there = async {
        while stats.snapshot().followers < 9 {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(10), all_there).await?;
    permits.add_permits(1);
    for answer in callers.join_all().await {
        assert_eq!(answer?, 144);
    }
    assert_eq!(stats.snapshot().leaders, 1);
    println!("10 calls, {} run", stats.snapshot().leaders);

    // A gRPC error is an answer too: its status reaches the caller whole.
    permits.add_permits(1);
    let answer = call(channel.clone(), Number { value: 1 << 20 }).await;
    assert_eq!(answer.map_err(|error| error.code()), Err(Code::OutOfRange));
    // And so is an error of a layer.
    let answer = call(channel, vec![1_u8; 1 << 20]).await;
    assert_eq!(
        answer.map_err(|error| error.code()),
        Err(Code::ResourceExhausted)
    );
    server.abort();
    Ok(())
}

/// What the caller is told if it was one of the layers that failed, and not the method.
fn status(error: BoxError) -> Status {
    if error.is::<PayloadTooLarge>() {
        Status::resource_exhausted(error.to_string())
    } else if error.is::<Overloaded>() {
        Status::unavailable(error.to_string())
    } else {
        Status::internal(error.to_string())
    }
}

/// One call of the client.
async fn call<M>(channel: Channel, message: M) -> Result<u32, Status>
where
    M: prost::Message + Default + 'static,
{
    let mut client = tonic::client::Grpc::new(channel);
    let ready = client.ready().await;
    ready.map_err(|error| Status::from_error(error.into()))?;
    let path = PathAndQuery::from_static(SQUARE);
    let codec = ProstCodec::<M, Number>::default();
    let answer = client.unary(Request::new(message), path, codec).await?;
    Ok(answer.into_inner().value)
}

// What `tonic-prost-build` makes of a .proto file, written by hand so that this needs no `protoc`.

#[derive(Clone, PartialEq, prost::Message)]
struct Number {
    #[prost(uint32, tag = "1")]
    value: u32,
}

#[derive(Clone)]
struct Numbers {
    permits: Arc<Semaphore>,
}

impl Numbers {
    async fn square(self, request: Request<Number>) -> Result<Response<Number>, Status> {
        let permit = self.permits.acquire().await;
        permit.map_err(|_| Status::unavailable("closed"))?.forget();
        let value = request.into_inner().value;
        let value = value.checked_mul(value);
        let value =
            value.ok_or_else(|| Status::out_of_range("the square needs more than 32 bits"))?;
        Ok(Response::new(Number { value }))
    }
}

impl NamedService for Numbers {
    const NAME: &'static str = "example.Numbers";
}

impl Service<http::Request<Body>> for Numbers {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let numbers = self.clone();
        Box::pin(async move {
            let method = service_fn(|request| numbers.clone().square(request));
            let mut grpc = tonic::server::Grpc::new(ProstCodec::<Number, Number>::default());
            Ok(grpc.unary(method, request).await)
        })
    }
}

#[test]
fn ten_identical_calls_run_once() -> Result<(), BoxError> {
    main()
}
