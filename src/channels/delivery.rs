//! Delivery of replies: posted to the channel's webhook with a signature, in their order, again where that may help, and
//! else put among the dead letters.
//!
//! A reply may arrive twice, when a death comes between its arrival and the note of it: its id tells.

use super::audit::ChannelLogLine;
use super::hub::ChannelHub;
use super::ledger::written;
use super::record::ChannelReply;
use crate::routes::allow::sign;
use crate::routes::channel_config::WebhookUrl;
use reqwest::{Client, StatusCode, header};
use serde::Serialize;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Time for a server to take a reply.
const TAKES: Duration = Duration::from_secs(30);
/// Attempts, and the pauses between them: doubling from the first to the longest, about half an hour in all.
const ATTEMPTS: u32 = 12;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Header with the time of a request in seconds, and the one with its signature. The same as those of requests to us.
pub const TIME_HEADER: &str = "x-lisle-timestamp";
/// `sha256=` and the HMAC-SHA-256 of time, dot and body, in hex.
pub const SIGNATURE_HEADER: &str = "x-lisle-signature";

/// Reply that was given up.
#[derive(Debug, Serialize)]
struct DeadLetter<'a> {
    at: i64,
    why: &'a str,
    attempts: u32,
    reply: &'a ChannelReply,
}

/// Result of one attempt.
#[derive(Debug)]
enum PostAttempt {
    Taken,
    /// Trying again may help, after this time if the server says one.
    Again(String, Option<Duration>),
    /// It never helps.
    Refused(String),
}

/// Has a reply delivered after those before it.
pub(super) fn deliver(hub: &Arc<ChannelHub>, channel: &str, reply: u64) {
    let (all, name) = (hub.clone(), channel.to_owned());
    hub.outboxes.post(channel, reply, move |from| drop(tokio::spawn(run(all, name, from))));
}

async fn run(hub: Arc<ChannelHub>, channel: String, mut from: UnboundedReceiver<u64>) {
    let client = client(hub.channel(&channel).and_then(|config| config.webhook.as_ref()));
    while let Some(n) = from.recv().await {
        let Some(reply) = hub.ledger.look(|state| state.replies.get(&n).cloned()) else { continue };
        let tried = tokio::select! {
            tried = post_until_taken(&hub, &client, &reply) => tried,
            // It is delivered by the next gateway.
            () = hub.ending.cancelled() => return,
        };
        let over = match tried {
            Ok(()) => true,
            Err((why, attempts)) => bury(&hub, &reply, &why, attempts).await,
        };
        // One that could not be put among the dead letters is tried again by the next gateway.
        if over && let Err(error) = written(hub.ledger.delivered(n)).await {
            tracing::error!(error, "can't note that a reply was delivered");
        }
        if hub.outboxes.retire(&channel, &from) {
            return;
        }
    }
}

fn client(webhook: Option<&WebhookUrl>) -> Result<Client, String> {
    let builder = crate::http::client().timeout(TAKES).redirect(reqwest::redirect::Policy::none());
    // Only this machine is reached without encryption, and no proxy is asked for it.
    let here = webhook.is_some_and(|url| url.as_str().to_lowercase().starts_with("http://"));
    let builder = if here { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| format!("no HTTP client: {error}"))
}

/// Posts a reply until the server takes it.
///
/// # Errors
/// The reason of the last attempt, and how many there were.
async fn post_until_taken(
    hub: &ChannelHub,
    client: &Result<Client, String>,
    reply: &ChannelReply,
) -> Result<(), (String, u32)> {
    let client = client.as_ref().map_err(|why| (why.clone(), 0))?;
    let Some(webhook) = hub.channel(&reply.channel).and_then(|config| config.webhook.clone()) else {
        return Err(("the channel's webhook was removed".to_owned(), 0));
    };
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        let (why, wait) = match post(hub, client, &webhook, reply).await {
            PostAttempt::Taken => return Ok(()),
            PostAttempt::Refused(why) => return Err((why, attempt)),
            PostAttempt::Again(why, wait) => (why, wait),
        };
        if attempt >= ATTEMPTS {
            return Err((why, attempt));
        }
        tracing::info!(why, attempt, channel = reply.channel, "a reply was not taken and is posted again");
        tokio::time::sleep(wait.unwrap_or(pause).clamp(FIRST_PAUSE, LONGEST_PAUSE)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        attempt += 1;
    }
}

async fn post(hub: &ChannelHub, client: &Client, webhook: &WebhookUrl, reply: &ChannelReply) -> PostAttempt {
    // It is made with the first reply, and read again: another one counts at once.
    let (files, channel) = (hub.files.clone(), reply.channel.clone());
    let secret = tokio::task::spawn_blocking(move || files.make_secret(&channel, false));
    let secret = match secret.await.map_err(io::Error::other).flatten() {
        Ok(secret) => secret,
        Err(error) => return PostAttempt::Again(format!("no secret to sign with: {error}"), None),
    };
    let body = match serde_json::to_vec(reply) {
        Ok(body) => body,
        Err(error) => return PostAttempt::Refused(format!("not written as JSON: {error}")),
    };
    let time = jiff::Timestamp::now().as_second().to_string();
    let signature = sign(secret.as_bytes(), &time, &body).unwrap_or_default();
    let request = client
        .post(webhook.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(TIME_HEADER, time)
        .header(SIGNATURE_HEADER, format!("sha256={signature}"))
        .body(body);
    match request.send().await {
        Ok(response) if response.status().is_success() => PostAttempt::Taken,
        Ok(response) => {
            let status = response.status();
            let wait = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
            let wait = wait.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
            let why = format!("the webhook answered {status}");
            let passing = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
            if status.is_server_error() || passing.contains(&status) {
                PostAttempt::Again(why, wait)
            } else {
                PostAttempt::Refused(why)
            }
        }
        // Its address is not repeated: it may hold a key.
        Err(error) => PostAttempt::Again(format!("the webhook was not reached: {}", error.without_url()), None),
    }
}

/// Puts a reply among the dead letters. True if it is there.
async fn bury(hub: &Arc<ChannelHub>, reply: &ChannelReply, why: &str, attempts: u32) -> bool {
    let (letters, reply, text) = (hub.dead_letters.clone(), reply.clone(), why.to_owned());
    hub.log.add(&ChannelLogLine {
        at: jiff::Timestamp::now().as_millisecond(),
        what: "dead".to_owned(),
        channel: reply.channel.clone(),
        person: reply.to.clone(),
        key: reply.key.clone().unwrap_or_default(),
        id: reply.id.clone(),
        why: text.clone(),
    });
    let buried = tokio::task::spawn_blocking(move || {
        let at = jiff::Timestamp::now().as_millisecond();
        letters.keep(&DeadLetter { at, why: &text, attempts, reply: &reply })
    });
    match buried.await {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => tracing::error!(%error, "can't write a dead letter"),
        Err(error) => tracing::error!(%error, "can't write a dead letter"),
    }
    false
}
