//! `POST /v1/inbound`: a message from a channel, with a token or signed with the channel's secret.

use super::guard::{Caller, Guarding};
use super::problem::{Problem, json};
use super::rest;
use crate::channels::{InboundAnswer, InboundError, InboundProof, SIGNATURE_HEADER, TIME_HEADER};
use crate::gateway::access::EntryRefusal;
use crate::gateway::frame::ErrorCode;
use crate::protocol::Scope;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use std::sync::Arc;
use std::time::Instant;

pub(super) async fn receive(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let proof = match (&caller.grant, text(TIME_HEADER), text(SIGNATURE_HEADER)) {
        (Some(_), ..) => caller.needs(Scope::Write).map(|_| InboundProof::Known)?,
        (None, Some(time), Some(signature)) => InboundProof::Signed { time, signature },
        // Before its body is read.
        (None, ..) => return Err(Problem::refused(EntryRefusal::Wrong)),
    };
    let body = rest::bytes(given, rest::BODY).await?;
    match guarding.gateway.channels.take(&body, proof).await {
        Ok(answer) => {
            let status = match answer {
                InboundAnswer::Accepted { .. } => StatusCode::ACCEPTED,
                InboundAnswer::Duplicate { .. } | InboundAnswer::Pairing { .. } | InboundAnswer::Refused { .. } => {
                    StatusCode::OK
                }
            };
            Ok(json(status, &answer))
        }
        Err(error) => Err(problem(&guarding, &caller, error)),
    }
}

fn problem(guarding: &Guarding, caller: &Caller, error: InboundError) -> Problem {
    match error {
        InboundError::Forged(why) => forged(guarding, caller, &why.to_string()),
        InboundError::UnknownChannel(name) => Problem::not_found(format!(
            "No channel {name:?}: add [channels.NAME] to config.toml and restart the gateway."
        )),
        InboundError::Invalid(why) => Problem::invalid(format!("{}.", capital(&why))),
        InboundError::Unavailable(why) => Problem::unavailable(format!("{}.", capital(&why))),
    }
}

/// A wrong signature counts as a wrong token.
fn forged(guarding: &Guarding, caller: &Caller, why: &str) -> Problem {
    match guarding.gateway.access.refuse(caller.address, Instant::now()) {
        EntryRefusal::Wrong => {
            Problem::new(StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized, format!("{}.", capital(why)))
        }
        refusal @ EntryRefusal::LockedOut(_) => Problem::refused(refusal),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
