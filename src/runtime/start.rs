//! Opens the app: themes, keymap and session as the user wants them, over the engine that `setup` puts together.

use super::client::exit::Exit;
use super::client::options::{Options, ScreenOptions};
use super::client::settings_file::SettingsFile;
use super::gateway::{self, EngineChoice};
use super::keymap_files::keymap;
use super::setup::{Bootstrap, StartRequest, Which};
use super::terminal::Mouse;
use super::{linear, screen};
use crate::agent::Link;
use crate::config::user_files::{self, UserFileKind};
use crate::config::{Paths, settings};
use crate::domain::problem::Problem;
use crate::domain::{Level, Notice, SessionId};
use crate::protocol::{Command, SessionCommand};
use crate::theme::{self, ThemeText};
use crate::ui::glyphs::GlyphSet;
use std::path::Path;
use std::sync::Arc;

/// Runs the app until the user leaves it; `prompt` is sent as its first message. `linear` says whether lines are wanted in
/// place of the full screen, where the command line does.
///
/// Returns how it was left, what could not be saved included.
///
/// # Errors
/// When there is no usable terminal, or the session to continue does not exist.
pub async fn app(
    bootstrap: Bootstrap,
    engine: EngineChoice,
    prompt: Option<String>,
    linear: Option<bool>,
) -> anyhow::Result<Exit> {
    let (mut bootstrap, mut prompt, mut news) = (Arc::new(bootstrap), prompt, Vec::new());
    let (mut unsaved, mut ended) = (Vec::new(), true);
    loop {
        let mut exit = shown(&bootstrap, &engine, prompt.take(), linear, std::mem::take(&mut news)).await?;
        // What one workspace could not save is said in the next one, and once more at the end.
        let words = exit.words();
        unsaved.append(&mut exit.unsaved);
        ended &= exit.ended;
        let Some(folder) = exit.workspace.take().filter(|_| exit.trouble.is_none()) else {
            return Ok(Exit { unsaved, ended, ..exit });
        };
        news.extend(words.into_iter().map(|words| Notice::new(Level::Error, words)));
        bootstrap = Arc::new(bootstrap.moved(folder)?);
        let workspaces = bootstrap.workspaces();
        if let Err(error) = workspaces.remember(&workspaces.current) {
            tracing::warn!(%error, "can't save the workspace for the next start");
        }
    }
}

/// Shows one workspace. `news`: what is said there first.
async fn shown(
    bootstrap: &Arc<Bootstrap>,
    engine: &EngineChoice,
    prompt: Option<String>,
    linear: Option<bool>,
    news: Vec<Notice>,
) -> anyhow::Result<Exit> {
    let mut problems = bootstrap.problems.clone();
    let keys = keymap(bootstrap, &mut problems);
    let themes = themes(bootstrap, &mut problems);
    let ui = bootstrap.settings.ui.clone();
    let kept_theme = bootstrap.paths.state.join("theme");
    let theme = if ui.theme == "auto" { chosen_theme(bootstrap).unwrap_or(ui.theme) } else { ui.theme };
    let resume = resumed(bootstrap, engine)?;
    let lines = linear::wanted(linear, bootstrap.settings.ui.linear);
    let program = if lines { "linear" } else { "screen" };
    let gateway::OpenedEngine { link, gateway, news: said } = gateway::open(engine, bootstrap, program, false).await?;
    let first = match &resume {
        Some(session) => {
            let wanted = match engine {
                EngineChoice::Machine(machine) => &machine.wanted,
                EngineChoice::Own | EngineChoice::GatewayIfAny => &bootstrap.wanted,
            };
            catch_up(&link, wanted, session, prompt).await;
            None
        }
        None => prompt,
    };
    let settings = SettingsFile { path: bootstrap.paths.config_file(), started: bootstrap.settings.clone() };
    let notices =
        news.into_iter().chain(said).chain(problems.iter().map(Problem::notice)).chain(offers(bootstrap)).collect();
    let state_dir = bootstrap.paths.state.clone();
    let (workspaces, looked) = (bootstrap.workspaces(), Arc::clone(bootstrap));
    let options = Options {
        gateway,
        keys: Arc::new(keys),
        settings,
        // A server or a key that was added since the start counts.
        examine: Arc::new(move || match looked.reread() {
            Ok(now) => super::doctor::findings(&now),
            Err(_) => super::doctor::findings(&looked),
        }),
        state_dir,
        extensions: bootstrap.rules().extensions(),
        workspaces,
        resume,
        alias: bootstrap.wanted.alias.clone(),
        first,
        notices,
        screen: ScreenOptions {
            themes,
            theme,
            remember_theme: Box::new(move |name| remember(&kept_theme, name)),
            glyphs: match ui.glyphs {
                settings::Glyphs::Auto => None,
                settings::Glyphs::Unicode => Some(GlyphSet::Unicode),
                settings::Glyphs::Ascii => Some(GlyphSet::Ascii),
            },
            fps: ui.fps,
            mouse: match ui.mouse {
                settings::Mouse::On => Mouse::Ours,
                settings::Mouse::Off => Mouse::Theirs,
            },
            pictures: ui.pictures,
            notify: ui.notify,
            status: ui.status,
        },
    };
    Ok(if lines { linear::run(link, options).await? } else { screen::run(link, options).await? })
}

/// The session to begin with, where there is one.
fn resumed(bootstrap: &Bootstrap, engine: &EngineChoice) -> anyhow::Result<Option<SessionId>> {
    Ok(match bootstrap.wanted.which.clone() {
        Which::New => None,
        // Of another machine; here names were looked up.
        Which::Named(name) => Some(SessionId::parse(name)?),
        Which::This(id) if matches!(engine, EngineChoice::Machine(_)) => Some(id),
        Which::This(id) => {
            // Asked before the screen opens, so that a wrong id is reported where it was typed.
            anyhow::ensure!(
                bootstrap.store.session_dir(&id).is_dir(),
                "no session {id} in {}",
                bootstrap.store.workspace_name()
            );
            Some(id)
        }
        Which::Latest => bootstrap.latest().filter(|_| !matches!(engine, EngineChoice::Machine(_))),
    })
}

/// Applies the command line's request to an existing session.
async fn catch_up(link: &Link, wanted: &StartRequest, session: &SessionId, prompt: Option<String>) {
    let mut acts = wanted.acts();
    acts.extend(prompt.map(SessionCommand::send));
    for act in acts {
        // The engine was opened just now: it listens.
        let _ = link.requests.send(Command::Session { id: session.clone(), command: act }).await;
    }
}

/// The user's themes.
pub fn own_themes(paths: &Paths, problems: &mut Vec<Problem>) -> Vec<ThemeText> {
    let mut texts = Vec::new();
    for name in user_files::names(paths, UserFileKind::Theme) {
        match user_files::find(paths, UserFileKind::Theme, &name) {
            Ok(Some(text)) => {
                let file = UserFileKind::Theme.file(paths, &name).display().to_string();
                texts.push(ThemeText { name, file, text });
            }
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    texts
}

/// The user's themes. In debug builds also those of the source folder, which go before the embedded ones in this way.
fn themes(bootstrap: &Bootstrap, problems: &mut Vec<Problem>) -> Vec<ThemeText> {
    let mut texts = own_themes(&bootstrap.paths, problems);
    for name in theme::builtin_names() {
        if let Some(text) = user_files::fresh(UserFileKind::Theme, name) {
            texts.push(ThemeText { name: name.to_owned(), file: format!("themes/{name}.toml"), text });
        }
    }
    texts
}

/// A connection that was found but never chosen is offered once the screen is there.
fn offers(bootstrap: &Bootstrap) -> Option<Notice> {
    let found = bootstrap.offered();
    let first = found.first()?;
    let text = format!("Found {}; nothing is sent until you choose it.", found.join(", "));
    Some(Notice::new(Level::Info, text).hint(format!("/model to choose it, or start with --connection {first}")))
}

/// Theme that was chosen in the app, which counts where config.toml names none.
#[must_use]
pub fn chosen_theme(bootstrap: &Bootstrap) -> Option<String> {
    let name = std::fs::read_to_string(bootstrap.paths.state.join("theme")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn remember(file: &Path, name: &str) -> Result<(), String> {
    let write = || {
        if let Some(dir) = file.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(file, name)
    };
    write().map_err(|error| format!("Theme not saved: can't write {}: {error}.", file.display()))
}
