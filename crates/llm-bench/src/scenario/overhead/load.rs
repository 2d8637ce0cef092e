//! A closed loop over connections that stay open.

use super::super::chat::Form;
use super::path::Path;
use crate::BoxError;
use crate::arrivals::Cursor;
use crate::client::{Connection, Recording};
use tokio::task::JoinSet;

/// Sends the requests `from .. from + count` of a path over `connections`, which it gives back.
pub(super) async fn closed_loop(
    connections: Vec<Connection>,
    path: Path,
    from: usize,
    count: usize,
) -> Result<Vec<Connection>, BoxError> {
    let cursor = Cursor::new(count);
    let mut callers = JoinSet::new();
    for connection in connections {
        callers.spawn(call(connection, path, from, cursor.clone()));
    }
    let mut kept = Vec::new();
    while let Some(caller) = callers.join_next().await {
        kept.push(caller??);
    }
    Ok(kept)
}

async fn call(
    mut connection: Connection,
    path: Path,
    from: usize,
    cursor: Cursor,
) -> Result<Connection, BoxError> {
    let mut recording = Recording::default();
    while let Some(number) = cursor.take() {
        connection
            .exchange(&path.request(from + number, Form::Whole), &mut recording)
            .await
            .map_err(|error| format!("{}, request {number}: {error}", path.word()))?;
        let (status, source) = (recording.status(), recording.source());
        if status != 200 || source != path.source() {
            return Err(format!("{}: answered {status}, {source:?}", path.word()).into());
        }
    }
    Ok(connection)
}
