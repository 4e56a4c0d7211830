//! Values of arguments for completions: names in the files of this home. Nothing is written, and what cannot be read has no
//! values.

use crate::config::Paths;
use crate::config::connections::vendors;
use crate::config::settings::{Settings, shown};
use crate::config::user_files::{self, UserFileKind};
use crate::domain::export::Format;
use crate::domain::manual::TOPICS;
use crate::domain::permission::Mode;
use crate::domain::prompt_text::{NO_TEXT, PromptKind};
use crate::domain::property::Properties;
use crate::domain::sanitise::clean_line;
use crate::domain::session::SessionMeta;
use crate::gateway::home::GatewayFiles;
use crate::gateway::shares::SharedPages;
use crate::gateway::tokens::TokenFile;
use crate::keymap;
use crate::keymap::action::Context;
use crate::protocol::Scope;
use crate::runtime::setup;
use crate::sources::files::folders as source_folders;
use crate::store::HistoryKind;
use crate::theme::resolve::builtin_names;
use crate::tools::registry::Registry;
use clap_complete::engine::CompletionCandidate;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The program's arguments, which this file knows from above.
static PROGRAM: OnceLock<fn() -> clap::Command> = OnceLock::new();

/// Takes in the arguments whose words `commands` offers.
pub fn know_program(program: fn() -> clap::Command) {
    // The first one stays: there is one program.
    let _ = PROGRAM.set(program);
}

fn candidate(value: impl Into<String>, about: &str) -> CompletionCandidate {
    let about = clean_line(about);
    let about = (!about.trim().is_empty()).then(|| about.into_owned().into());
    CompletionCandidate::new(value.into()).help(about)
}

/// Home and workspace of the line that is completed: `--workspace` of the line counts.
fn glance() -> Option<setup::Glance> {
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let after =
        words.iter().zip(words.iter().skip(1)).find(|(option, _)| *option == "--workspace").map(|(_, next)| next);
    let joined = words.iter().find_map(|word| word.to_str()?.strip_prefix("--workspace="));
    // One that is not there yet is made by no completion.
    let wanted = after.map(PathBuf::from).or_else(|| joined.map(PathBuf::from)).filter(|folder| folder.is_dir());
    setup::glance(wanted.as_deref())
}

fn sessions_where(wanted: impl Fn(&SessionMeta) -> bool) -> Vec<SessionMeta> {
    let Some(home) = glance() else { return Vec::new() };
    let mut all = home.store.list().sessions;
    all.retain(|meta| !meta.hidden && wanted(meta));
    all.sort_by_key(|meta| std::cmp::Reverse(meta.last_message));
    all
}

/// Names and ids of sessions.
pub(super) fn sessions() -> Vec<CompletionCandidate> {
    let all = sessions_where(|_| true);
    let named = all.iter().filter_map(|meta| Some(candidate(meta.names.alias.clone()?, meta.shown_title())));
    named.chain(all.iter().map(|meta| candidate(meta.id.as_str(), meta.shown_title()))).collect()
}

fn prompts(kind: PromptKind) -> Vec<CompletionCandidate> {
    let Some(home) = glance() else { return Vec::new() };
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
    let Some(home) = glance() else { return Vec::new() };
    home.config.connections.infos().iter().map(|info| candidate(info.name.to_string(), &info.default_model)).collect()
}

/// Models of connections as the configuration names them.
pub(super) fn models() -> Vec<CompletionCandidate> {
    let Some(home) = glance() else { return Vec::new() };
    let infos = home.config.connections.infos();
    let named = infos.iter().flat_map(|info| {
        let all = std::iter::once(&info.default_model).chain(&info.models);
        all.map(|model| (model.as_str(), info.name.as_str()))
    });
    let mut seen = BTreeSet::new();
    let once = named.filter(|(model, _)| !model.is_empty() && seen.insert(*model));
    once.map(|(model, connection)| candidate(model, connection)).collect()
}

/// Names of connections, and of those that a key alone makes.
pub(super) fn connections_to_add() -> Vec<CompletionCandidate> {
    let known = connections();
    let more = vendors().filter(|(name, _)| known.iter().all(|one| one.get_value() != *name));
    let more: Vec<_> = more.map(|(name, host)| candidate(name, host)).collect();
    known.into_iter().chain(more).collect()
}

/// Names of sessions in the trash, latest first.
pub(super) fn trash() -> Vec<CompletionCandidate> {
    let mut all = glance().map(|home| home.store.trash()).unwrap_or_default();
    all.sort_by_key(|one| std::cmp::Reverse(one.deleted));
    all.into_iter().filter(|one| !one.cleared).map(|one| candidate(one.trash.0, &one.title)).collect()
}

fn of_properties(list: impl Fn(&Properties) -> Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    glance().map(|home| list(&home.store.properties())).unwrap_or_default()
}

/// Ids of statuses.
pub(super) fn statuses() -> Vec<CompletionCandidate> {
    of_properties(|all| all.statuses.iter().map(|one| candidate(one.id.as_str(), &one.label)).collect())
}

/// Ids of labels.
pub(super) fn labels() -> Vec<CompletionCandidate> {
    of_properties(|all| all.walk().into_iter().map(|(_, one)| candidate(one.id.as_str(), &one.name)).collect())
}

/// Names of views.
pub(super) fn views() -> Vec<CompletionCandidate> {
    of_properties(|all| all.views.iter().map(|one| candidate(one.name.as_str(), &one.expression)).collect())
}

/// Names of sources in the workspace.
pub(super) fn sources() -> Vec<CompletionCandidate> {
    let folders = glance().map(|home| source_folders(&home.workspace)).unwrap_or_default();
    folders.iter().filter_map(|folder| Some(candidate(folder.file_name()?.to_str()?, ""))).collect()
}

/// Names of channels.
pub(super) fn channels() -> Vec<CompletionCandidate> {
    let settings = glance().and_then(|home| home.config.settings.channels);
    settings.iter().flat_map(|all| all.channels.keys()).map(|name| candidate(name.as_str(), "")).collect()
}

/// Names of machines for `lisle ssh`.
pub(super) fn machines() -> Vec<CompletionCandidate> {
    let machines = glance().map(|home| home.config.settings.machines).unwrap_or_default();
    machines.keys().map(|name| candidate(name.as_str(), "")).collect()
}

/// Names of tokens.
pub(super) fn tokens() -> Vec<CompletionCandidate> {
    let Ok(paths) = Paths::find(std::env::var_os("LISLE_HOME").as_deref()) else { return Vec::new() };
    let all = TokenFile::of(&GatewayFiles::of(&paths.state, None)).list().unwrap_or_default();
    all.into_iter().map(|one| candidate(one.name, &one.scopes.names().join(","))).collect()
}

/// Beginnings of rules: lisle's tools.
pub(super) fn tools() -> Vec<CompletionCandidate> {
    Registry::standard().specs().into_iter().map(|tool| candidate(tool.name, "tool")).collect()
}

/// Types of the value of a label.
pub(super) fn value_types() -> Vec<CompletionCandidate> {
    words(["string", "number", "date"])
}

/// Words of commands, at every depth.
pub(super) fn commands() -> Vec<CompletionCandidate> {
    fn into(command: &clap::Command, out: &mut Vec<CompletionCandidate>) {
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            if out.iter().all(|known| known.get_value() != below.get_name()) {
                out.push(candidate(below.get_name(), &below.get_about().map(ToString::to_string).unwrap_or_default()));
            }
            into(below, out);
        }
    }
    let mut out = Vec::new();
    PROGRAM.get().iter().for_each(|program| into(&program(), &mut out));
    out
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
