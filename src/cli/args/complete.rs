//! Values of arguments for completions: names in the files of this home. Nothing is written, and what cannot be read has no
//! values.

use crate::config::Paths;
use crate::config::settings::{Settings, shown};
use crate::config::user_files::{self, UserFileKind};
use crate::domain::export::Format;
use crate::domain::manual::TOPICS;
use crate::domain::permission::Mode;
use crate::domain::prompt_text::{NO_TEXT, PromptKind};
use crate::domain::sanitise::clean_line;
use crate::domain::session::SessionMeta;
use crate::gateway::home::GatewayFiles;
use crate::gateway::shares::SharedPages;
use crate::keymap;
use crate::keymap::action::Context;
use crate::protocol::Scope;
use crate::runtime::setup;
use crate::store::HistoryKind;
use crate::theme::resolve::builtin_names;
use clap_complete::engine::CompletionCandidate;
use std::collections::BTreeSet;

fn candidate(value: impl Into<String>, about: &str) -> CompletionCandidate {
    let about = clean_line(about);
    let about = (!about.trim().is_empty()).then(|| about.into_owned().into());
    CompletionCandidate::new(value.into()).help(about)
}

fn sessions_where(wanted: impl Fn(&SessionMeta) -> bool) -> Vec<SessionMeta> {
    let Some(home) = setup::glance() else { return Vec::new() };
    let mut all = home.store.list().sessions;
    all.retain(|meta| !meta.hidden && wanted(meta));
    all.sort_by_key(|meta| std::cmp::Reverse(meta.last_message));
    all
}

/// Ids of sessions, latest first.
pub(super) fn ids() -> Vec<CompletionCandidate> {
    sessions_where(|_| true).iter().map(|meta| candidate(meta.id.as_str(), meta.shown_title())).collect()
}

/// Names and ids of sessions.
pub(super) fn sessions() -> Vec<CompletionCandidate> {
    let all = sessions_where(|_| true);
    let named = all.iter().filter_map(|meta| Some(candidate(meta.names.alias.clone()?, meta.shown_title())));
    named.chain(all.iter().map(|meta| candidate(meta.id.as_str(), meta.shown_title()))).collect()
}

fn prompts(kind: PromptKind) -> Vec<CompletionCandidate> {
    let Some(home) = setup::glance() else { return Vec::new() };
    home.prompts.list(kind).iter().map(|file| candidate(file.name.as_str(), file.origin.word())).collect()
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<CompletionCandidate> {
    words.into_iter().map(|word| candidate(word, "")).collect()
}

/// Permission modes.
pub(super) fn modes() -> Vec<CompletionCandidate> {
    words([Mode::Explore, Mode::Ask, Mode::Execute].map(Mode::word))
}

/// Formats of an export.
pub(super) fn formats() -> Vec<CompletionCandidate> {
    words(Format::ALL.map(Format::word))
}

/// Programs whose sessions can be imported.
pub(super) fn history_kinds() -> Vec<CompletionCandidate> {
    HistoryKind::ALL.map(|kind| candidate(kind.word(), kind.name())).into()
}

/// Scopes of a token.
pub(super) fn scopes() -> Vec<CompletionCandidate> {
    words(Scope::ALL.map(Scope::name))
}

/// Ids of shares.
pub(super) fn shares() -> Vec<CompletionCandidate> {
    let Ok(paths) = Paths::find(std::env::var_os("LISLE_HOME").as_deref()) else { return Vec::new() };
    let pages = SharedPages::of(&GatewayFiles::of(&paths.state, None)).list(0);
    pages.into_iter().map(|page| candidate(page.id, page.session.as_str())).collect()
}

/// Groups of `lisle usage`.
pub(super) fn usage_groups() -> Vec<CompletionCandidate> {
    words(["day", "model", "session"])
}

/// Keys of settings.
pub(super) fn settings() -> Vec<CompletionCandidate> {
    let all = shown::shown(&Settings::default(), &Settings::default(), "");
    all.iter().map(|one| candidate(one.key.as_str(), &one.about)).collect()
}

/// Places with keys of their own.
pub(super) fn key_places() -> Vec<CompletionCandidate> {
    words(Context::ALL.iter().map(|place| place.word()))
}

/// Names of keymaps.
pub(super) fn keymaps() -> Vec<CompletionCandidate> {
    let paths = Paths::find(std::env::var_os("LISLE_HOME").as_deref());
    let own = paths.map(|paths| user_files::names(&paths, UserFileKind::Keymap)).unwrap_or_default();
    let own = own.into_iter().map(|name| candidate(name, "your own"));
    own.chain(keymap::names().map(|name| candidate(name, "built-in"))).collect()
}

/// Names of contexts.
pub(super) fn contexts() -> Vec<CompletionCandidate> {
    prompts(PromptKind::Context)
}

/// Names of contexts, and the word that takes one out of a session.
pub(super) fn contexts_or_none() -> Vec<CompletionCandidate> {
    contexts().into_iter().chain([candidate(NO_TEXT, "no context")]).collect()
}

/// Names of strategies, and the word that takes one out of a session.
pub(super) fn strategies_or_none() -> Vec<CompletionCandidate> {
    strategies().into_iter().chain([candidate(NO_TEXT, "no strategy")]).collect()
}

/// Names of patterns.
pub(super) fn patterns() -> Vec<CompletionCandidate> {
    prompts(PromptKind::Pattern)
}

/// Names of strategies.
pub(super) fn strategies() -> Vec<CompletionCandidate> {
    prompts(PromptKind::Strategy)
}

/// Names of connections.
pub(super) fn connections() -> Vec<CompletionCandidate> {
    let Some(home) = setup::glance() else { return Vec::new() };
    home.config.connections.infos().iter().map(|info| candidate(info.name.to_string(), &info.default_model)).collect()
}

/// Models of connections as the configuration names them.
pub(super) fn models() -> Vec<CompletionCandidate> {
    let Some(home) = setup::glance() else { return Vec::new() };
    let infos = home.config.connections.infos();
    let mut named: Vec<_> = infos.iter().filter(|info| !info.default_model.is_empty()).collect();
    let mut seen = BTreeSet::new();
    named.retain(|info| seen.insert(info.default_model.as_str()));
    named.into_iter().map(|info| candidate(info.default_model.as_str(), info.name.as_str())).collect()
}

/// Names of themes.
pub(super) fn themes() -> Vec<CompletionCandidate> {
    let paths = Paths::find(std::env::var_os("LISLE_HOME").as_deref());
    let own = paths.map(|paths| user_files::names(&paths, UserFileKind::Theme)).unwrap_or_default();
    let builtin = builtin_names().map(|name| candidate(name, "built-in"));
    own.into_iter().map(|name| candidate(name, "your own")).chain(builtin).collect()
}

/// Help topics.
pub(super) fn topics() -> Vec<CompletionCandidate> {
    TOPICS.iter().map(|topic| candidate(topic.name, topic.title())).collect()
}
