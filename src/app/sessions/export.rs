//! The conversation as a file.

use crate::app::effect::Effect;
use crate::app::msg::ShareAnswer;
use crate::app::shell::{overlay, text};
use crate::app::state::State;
use crate::app::state::overlay::{Confirm, Deed};
use crate::domain::export::{Format, Masked, SharedFile};
use crate::domain::nearest::nearest;
use crate::domain::{Level, Notice};
use crate::protocol::{Command, EngineCommand};
use std::path::{Path, PathBuf};

pub(crate) fn export(state: &mut State, to: Option<PathBuf>, format: Option<Format>, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else { return text::nothing_yet(state) };
    fx.push(Effect::Send(Command::Engine(EngineCommand::Export { session, to, format })));
}

/// `/export PATH --format FORMAT`, in whatever order.
pub(crate) fn export_to(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let mut words: Vec<&str> = args.split_whitespace().collect();
    let mut path = args.to_owned();
    let mut format = None;
    if let Some(at) = words.iter().position(|word| *word == "--format" || word.starts_with("--format=")) {
        let flag = words.remove(at);
        let value = match flag.split_once('=') {
            Some((_, value)) => value,
            None if at < words.len() => words.remove(at),
            None => "",
        };
        let Some(known) = Format::parse(value) else {
            let near = nearest(value, Format::ALL.into_iter().map(Format::word));
            let near = near.map_or_else(String::new, |near| format!(" Closest match: {near}"));
            return Err(format!("No format {value:?}.{near}"));
        };
        format = Some(known);
        path = words.join(" ");
    }
    if let Some(flag) = words.iter().find(|word| word.starts_with("--")) {
        return Err(format!("Unknown flag for /export: {flag}"));
    }
    let path = path.trim().trim_matches('"');
    export(state, (!path.is_empty()).then(|| PathBuf::from(path)), format, fx);
    Ok(())
}

pub(crate) fn share(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else { return text::nothing_yet(state) };
    fx.push(Effect::Share { session });
}

/// Revokes the addresses of the shown session.
pub(crate) fn unshare(state: &mut State, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else { return text::nothing_yet(state) };
    fx.push(Effect::Unshare { session });
}

/// A sentence about what was masked.
fn masked_words(masked: Masked) -> String {
    masked.words().map_or_else(String::new, |words| format!(" Masked: {words}."))
}

/// A conversation was written to a file.
pub(crate) fn exported(state: &mut State, path: &Path, masked: Masked) {
    state.notify(Notice::new(Level::Info, format!("Written to {}.{}", path.display(), masked_words(masked))));
}

/// A step of `/share` was done.
pub(crate) fn answered(state: &mut State, answer: ShareAnswer, fx: &mut Vec<Effect>) {
    match answer {
        ShareAnswer::Offered { file, server } => offered(state, file, &server),
        ShareAnswer::Done { file, address } => shared(state, &file, address, fx),
    }
}

/// A conversation is ready for an upload, which the user confirms.
fn offered(state: &mut State, file: SharedFile, server: &str) {
    let says = vec![
        format!("To {server}"),
        String::new(),
        format!("Whoever has its address can read it, until /unshare.{}", masked_words(file.masked)),
        "Only what looks like a key is masked: read the conversation before you share it.".to_owned(),
    ];
    let title = "Upload this conversation?".to_owned();
    overlay::confirm(state, Confirm::new(title, says, "upload", Deed::Upload(file)));
}

/// A conversation is shared, with an address where a gateway or a server has it.
fn shared(state: &mut State, file: &SharedFile, address: Option<String>, fx: &mut Vec<Effect>) {
    let path = file.path.display().to_string();
    let masked = masked_words(file.masked);
    let (title, what, says, verb) = match address {
        Some(address) => (
            "Conversation shared",
            address,
            [
                format!("Whoever has this address can read it, until /unshare.{masked}"),
                "It was copied to the clipboard.".to_owned(),
            ],
            "copy the address again",
        ),
        None => (
            "Conversation exported",
            path,
            [
                format!("Local file only; nothing was uploaded.{masked}"),
                "Its path was copied to the clipboard. A gateway gives it an address (lisle serve --share-listen), or a \
                 server (share.endpoint in config.toml)."
                    .to_owned(),
            ],
            "copy the path again",
        ),
    };
    // The clipboard says its own word, so this one stays until it was read.
    fx.push(Effect::Copy(what.clone()));
    let says = [what.clone(), String::new()].into_iter().chain(says).collect();
    let deed = Deed::Copy(what);
    overlay::confirm(state, Confirm::new(title, says, verb, deed));
}
