//! Errors of HTTP, as JSON: `{"error":{"code","message","retryable","retryAfterMs"}}`.

use super::bodies::HttpError;
use crate::gateway::access::EntryRefusal;
use crate::gateway::connection;
use crate::gateway::frame::{ErrorCode, FrameError};
use crate::protocol::{self, CommandError};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Reason why a request was not done.
#[derive(Debug)]
pub(super) struct Problem {
    pub status: StatusCode,
    pub error: FrameError,
}

impl Problem {
    pub fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, error: FrameError::new(code, message) }
    }

    /// A request that is not understood.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, message)
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
    }

    /// It may be done later.
    pub fn unavailable(message: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message);
        problem.error.retryable = true;
        problem
    }

    /// Error of a client that was not let in.
    pub fn refused(refusal: EntryRefusal) -> Self {
        let status = match refusal {
            EntryRefusal::Wrong => StatusCode::UNAUTHORIZED,
            EntryRefusal::LockedOut(_) => StatusCode::TOO_MANY_REQUESTS,
        };
        Self { status, error: connection::refused(refusal) }
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let (status, code) = match error.code {
            protocol::ErrorCode::Forbidden => (StatusCode::FORBIDDEN, ErrorCode::Forbidden),
            protocol::ErrorCode::Duplicate | protocol::ErrorCode::Stale => (StatusCode::CONFLICT, ErrorCode::Refused),
            protocol::ErrorCode::Failed => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Refused),
            protocol::ErrorCode::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable),
        };
        let mut problem = Self::new(status, code, error.message);
        (problem.error.retryable, problem.error.details) = (error.retryable, Some(error.code));
        problem
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, error } = self;
        let wait = error.retry_after_ms;
        let mut response = json(status, &HttpError { error });
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lisle\""));
        }
        if let Some(wait) = wait {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.div_ceil(1_000)));
        }
        response
    }
}

/// A value as the body of a response.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).unwrap_or_else(|error| {
        // Values of ours have string keys and no numbers that JSON lacks.
        tracing::error!(%error, "can't write a response as JSON");
        Vec::new()
    });
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
