//! The read-only HTTP interface: health, and the same answers as `headroom plan` and `headroom explain`.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use tokio::net::TcpListener;

use super::board::{Board, NoAnswer};
use crate::view::{self, explain};

/// Serves until the program ends.
pub(crate) async fn serve(listener: TcpListener, board: Arc<Board>) -> std::io::Result<()> {
    axum::serve(listener, router(board)).await
}

/// Listens at `address`.
pub(crate) async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        anyhow::anyhow!("cannot listen at {address}: {error}; hint: set `http: {{ address: … }}` to a free one")
    })
}

fn router(board: Arc<Board>) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/api/v1/plan", get(plan))
        .route("/api/v1/groups", get(groups))
        .route("/api/v1/explain/{kind}", get(explain_all))
        .route("/api/v1/explain/{kind}/{*name}", get(explain_one))
        .with_state(board)
}

async fn healthz(State(board): State<Arc<Board>>) -> Response {
    match board.stopped() {
        None => "ok\n".into_response(),
        Some(silent) => unavailable(format!("no round for {} s\n", silent.as_secs())),
    }
}

async fn readyz(State(board): State<Arc<Board>>) -> Response {
    match board.waits_for() {
        None => "ok\n".into_response(),
        Some(what) => unavailable(format!("waiting for {what}\n")),
    }
}

/// As Prometheus asks for it.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

async fn metrics(State(board): State<Arc<Board>>) -> Response {
    match board.metrics.text() {
        Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[derive(Deserialize)]
struct Format {
    /// `table`, `wide`, or for programs `json`.
    #[serde(default)]
    output: Output,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Output {
    Table,
    Wide,
    #[default]
    Json,
}

async fn plan(State(board): State<Arc<Board>>, Query(Format { output }): Query<Format>) -> Response {
    match output {
        Output::Table => text(board.ask(|round| view::plan(round, false)).await),
        Output::Wide => text(board.ask(|round| view::plan(round, true)).await),
        Output::Json => json(board.ask(|round| serde_json::to_string(&view::Output::of(round))).await),
    }
}

async fn groups(State(board): State<Arc<Board>>) -> Response {
    json(board.ask(|round| serde_json::to_string(&round.plan.report.groups)).await)
}

async fn explain_all(State(board): State<Arc<Board>>, Path(kind): Path<explain::Kind>) -> Response {
    explain(&board, kind, None).await
}

async fn explain_one(State(board): State<Arc<Board>>, Path((kind, name)): Path<(explain::Kind, String)>) -> Response {
    explain(&board, kind, Some(name)).await
}

async fn explain(board: &Board, kind: explain::Kind, name: Option<String>) -> Response {
    match board.ask(move |round| explain::explain(round, kind, name.as_deref())).await {
        Ok(Err(not_found)) => (StatusCode::NOT_FOUND, format!("{not_found}\n")).into_response(),
        Ok(Ok(answer)) => text(Ok(answer)),
        Err(none) => text(Err(none)),
    }
}

/// Texts hold colour codes, which have no place here.
fn text(answer: Result<String, NoAnswer>) -> Response {
    match answer {
        Ok(text) => anstream::adapter::strip_str(&text).to_string().into_response(),
        Err(none) => unavailable(format!("{none}\n")),
    }
}

fn json(answer: Result<serde_json::Result<String>, NoAnswer>) -> Response {
    match answer {
        Ok(Ok(json)) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
        Err(none) => unavailable(format!("{none}\n")),
    }
}

fn unavailable(text: String) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}
