//! `lisle channel …`: who may write on a channel, secrets of webhooks, a message for scripts, the log.

use super::args::{
    ChannelAllow, ChannelCommand, ChannelList, ChannelLogArgs, ChannelRevoke, ChannelSecret, ChannelSend,
};
use super::definitions::now;
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::channels::{
    ChannelFigures, ChannelFiles, ChannelLogLine, InboundAnswer, InboundMessage, MessageChat, MessageSender,
};
use crate::domain::count::count;
use crate::domain::sanitise::clean_line;
use crate::gateway::dial::{DialError, GatewayRoute};
use crate::gateway::home::random_hex;
use crate::gateway::methods;
use crate::gateway::remote::{self, CallError};
use crate::routes::channel_config::{ChannelConfig, ChannelSettings};
use crate::routes::key::{ChatType, OpaqueChannels};
use crate::runtime;
use crate::runtime::setup::Bootstrap;
use serde::Serialize;
use std::io::Read;

/// Bytes of a message at most.
const LONGEST: u64 = 1 << 20;

pub(super) async fn run(bootstrap: &Bootstrap, command: ChannelCommand) -> Exit {
    let Some(settings) = &bootstrap.settings.channels else {
        return failed("nothing was done, because config.toml has a mistake");
    };
    let files = ChannelFiles::in_folder(runtime::gateway::channel_places(&bootstrap.paths).files);
    match command {
        ChannelCommand::List(args) => list(bootstrap, settings, &files, &args).await,
        ChannelCommand::Allow(args) => allow(settings, &files, &args),
        ChannelCommand::Revoke(args) => revoke(settings, &files, &args),
        ChannelCommand::Secret(args) => secret(settings, &files, &args),
        ChannelCommand::Send(args) => send(bootstrap, args).await,
        ChannelCommand::Log(args) => log(&files, &args),
    }
}

fn failed(why: &str) -> Exit {
    complain(&format!("lisle: {}.", why.trim_end_matches('.')));
    Exit::Failed
}

/// Wrong arguments.
fn usage(why: &str) -> Exit {
    complain(&format!("lisle: {why}."));
    Exit::Usage
}

/// Channel of the settings, by its name.
///
/// # Errors
/// The exit status, with the channels that there are.
fn configured<'a>(settings: &'a ChannelSettings, name: &str) -> Result<(&'a str, &'a ChannelConfig), Exit> {
    settings.channel(name).ok_or_else(|| {
        let all: Vec<&str> = settings.channels.keys().map(String::as_str).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        usage(&format!("no channel {:?}. Available: {all}. Add [channels.NAME] to config.toml", clean_line(name)))
    })
}

/// Channel as it is listed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedChannel<'a> {
    channel: &'a str,
    webhook: bool,
    pairing: bool,
    allowed: Vec<String>,
    requests: Vec<ListedRequest>,
    displaced: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedRequest {
    sender: String,
    name: Option<String>,
    asked_at: crate::domain::At,
}

async fn list(bootstrap: &Bootstrap, settings: &ChannelSettings, files: &ChannelFiles, args: &ChannelList) -> Exit {
    let mut listed = Vec::new();
    for (name, config) in &settings.channels {
        let access = match files.channel_access(name, &config.allow_from) {
            Ok(access) => access,
            Err(error) => return failed(&format!("can't read the list of senders: {error}")),
        };
        let request = |one: crate::routes::allow::PairingRequest| ListedRequest {
            sender: one.sender,
            name: one.name,
            asked_at: one.asked_at,
        };
        listed.push(ListedChannel {
            channel: name,
            webhook: config.webhook.is_some(),
            pairing: config.pairing,
            allowed: access.allowed,
            requests: access.requests.into_iter().map(request).collect(),
            displaced: access.displaced,
        });
    }
    let way = GatewayRoute::Socket(runtime::gateway::files(&bootstrap.paths));
    let figures = remote::call::<ChannelFigures>(&way, methods::CHANNEL_STATUS, &()).await.ok();
    if args.json {
        return print_json(&serde_json::json!({ "channels": listed, "gateway": figures }));
    }
    if listed.is_empty() {
        say("No channels. Add [channels.NAME] to config.toml.\n");
    }
    for one in &listed {
        let out = if one.webhook { "replies to a webhook" } else { "replies stay in the conversation" };
        say(&format!("{}: {out}, pairing {}\n", one.channel, if one.pairing { "on" } else { "off" }));
        for sender in &one.allowed {
            say(&format!("  allowed  {}\n", clean_line(sender)));
        }
        for request in &one.requests {
            let name = request.name.as_deref().map_or_else(String::new, |name| format!(" ({})", clean_line(name)));
            say(&format!("  asks     {}{name}\n", clean_line(&request.sender)));
        }
        if one.displaced > 0 {
            let codes = count(usize::try_from(one.displaced).unwrap_or(usize::MAX), "code is", "codes are");
            say(&format!("  asked    {codes} void: the list of requests was full\n"));
        }
    }
    if let Some(figures) = figures {
        let (messages, replies) =
            (count(figures.messages, "message", "messages"), count(figures.replies, "reply", "replies"));
        say(&format!("Waiting: {messages}, {replies}.\n"));
    }
    Exit::Done
}

fn allow(settings: &ChannelSettings, files: &ChannelFiles, args: &ChannelAllow) -> Exit {
    let channel = match configured(settings, &args.channel) {
        Ok((channel, _)) => channel,
        Err(exit) => return exit,
    };
    let done = match (&args.code, &args.sender) {
        (Some(code), _) => files.approve(channel, code, now()).map(|request| match request {
            Some(request) => {
                say(&format!("{} may write on {channel}.\n", clean_line(&request.sender)));
                Exit::Done
            }
            None => failed(&format!("no open request on {channel} has this code; codes end after an hour")),
        }),
        (None, Some(sender)) if sender.trim().is_empty() => return usage("the sender is empty"),
        (None, Some(sender)) => files.allow(channel, sender.trim()).map(|_| Exit::Done),
        (None, None) => return usage("name a sender or a code"),
    };
    done.unwrap_or_else(|error| failed(&format!("can't change the list of senders: {error}")))
}

fn revoke(settings: &ChannelSettings, files: &ChannelFiles, args: &ChannelRevoke) -> Exit {
    let (channel, config) = match configured(settings, &args.channel) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let (sender, opaque) = (args.sender.trim(), OpaqueChannels::default());
    let removed = match files.revoke(channel, sender, &opaque) {
        Ok(removed) => removed,
        Err(error) => return failed(&format!("can't change the list of senders: {error}")),
    };
    let shown = clean_line(sender);
    match files.channel_access(channel, &config.allow_from) {
        Ok(access) if sender != "*" && access.allows(channel, sender, &opaque) => {
            failed(&format!("{shown} may still write on {channel}: allowFrom in config.toml, or *, names them"))
        }
        Ok(_) if !removed => failed(&format!("{shown} is not on the list of {channel}")),
        Ok(_) => Exit::Done,
        Err(error) => failed(&format!("can't read the list of senders: {error}")),
    }
}

fn secret(settings: &ChannelSettings, files: &ChannelFiles, args: &ChannelSecret) -> Exit {
    let channel = match configured(settings, &args.channel) {
        Ok((channel, _)) => channel,
        Err(exit) => return exit,
    };
    match files.make_secret(channel, args.rotate) {
        Ok(secret) => {
            say(&format!("{secret}\n"));
            Exit::Done
        }
        Err(error) => failed(&format!("can't use the file of secrets: {error}")),
    }
}

async fn send(bootstrap: &Bootstrap, args: ChannelSend) -> Exit {
    let mut text = args.text;
    if text == "-" {
        text.clear();
        match std::io::stdin().take(LONGEST + 1).read_to_string(&mut text) {
            Ok(read) if read as u64 > LONGEST => {
                return failed(&format!("the text on stdin is longer than {LONGEST} bytes"));
            }
            Ok(_) => {}
            Err(error) => return failed(&format!("can't read the text on stdin: {error}")),
        }
    }
    let id = match args.id {
        Some(id) => id,
        None => match random_hex(16) {
            Ok(hex) => format!("cli-{hex}"),
            Err(error) => return failed(&format!("can't make an id: {error}")),
        },
    };
    let message = InboundMessage {
        id,
        channel: args.channel,
        from: MessageSender { id: args.from, name: None },
        chat: args.group.map(|id| MessageChat { chat_type: ChatType::Group, id, name: None }),
        thread: args.thread,
        text,
        ..InboundMessage::default()
    };
    let way = GatewayRoute::Socket(runtime::gateway::files(&bootstrap.paths));
    let answer = match remote::call::<InboundAnswer>(&way, methods::CHANNEL_SEND, &message).await {
        Ok(answer) => answer,
        Err(CallError::Dial(DialError::NoGateway)) => {
            return failed("no gateway runs for this home: \"lisle serve --background\" starts one");
        }
        Err(error) => return failed(&error.to_string()),
    };
    if args.json {
        let printed = print_json(&answer);
        let taken = matches!(answer, InboundAnswer::Accepted { .. } | InboundAnswer::Duplicate { .. });
        return if taken { printed } else { Exit::Failed };
    }
    match answer {
        InboundAnswer::Accepted { key, .. } => {
            say(&format!("{key}\n"));
            Exit::Done
        }
        InboundAnswer::Duplicate { .. } => {
            say("Taken before; nothing was done.\n");
            Exit::Done
        }
        InboundAnswer::Pairing { reply, .. } => failed(&reply),
        InboundAnswer::Refused { reason, .. } => {
            failed(&format!("refused: {}. \"lisle channel allow\" lets a sender write", clean_line(&reason)))
        }
    }
}

fn log(files: &ChannelFiles, args: &ChannelLogArgs) -> Exit {
    let text = match std::fs::read_to_string(files.log()) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return failed(&format!("can't read {}: {error}", files.log().display())),
    };
    let mut lines: Vec<ChannelLogLine> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    lines.drain(..lines.len().saturating_sub(args.last));
    if args.json {
        return print_json(&lines);
    }
    for line in &lines {
        let time =
            jiff::Timestamp::from_millisecond(line.at).unwrap_or_default().to_zoned(jiff::tz::TimeZone::system());
        let facts = [&line.what, &line.channel, &line.person, &line.key, &line.id, &line.why];
        let facts: Vec<&str> = facts.into_iter().map(String::as_str).filter(|fact| !fact.is_empty()).collect();
        say(&format!("{}  {}\n", time.strftime("%Y-%m-%d %H:%M:%S"), clean_line(&facts.join("  "))));
    }
    Exit::Done
}
