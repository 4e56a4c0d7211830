//! Background tasks of a client: each reports its result to the loop.

use super::event::{Events, RuntimeEvent};
use super::options::Examine;
use super::settings_file::SettingsFile;
use super::ui_state_file::UiStateFile;
use crate::app::Msg;
use crate::app::state::lobby::FoundHistory;
use crate::app::state::sessions::kept::Kept;
use crate::config::log;
use crate::config::settings::write;
use crate::domain::attachment::Attachment;
use crate::domain::finding::Finding;
use crate::domain::{Level, Notice};
use crate::runtime::environment::{env, history_places};
use crate::runtime::extensions::ExtensionFiles;
use crate::runtime::workspaces::Workspaces;
use crate::runtime::{clipboard, editor, picture, viewer};
use crate::store::{HistoryKind, histories_in};
use std::path::PathBuf;
use tokio::sync::mpsc::error::SendError;

/// Says it once when the log cannot be written.
pub(in crate::runtime) fn tell_of_the_log(events: &Events) {
    let events = events.clone();
    log::on_failure(move |problem| {
        let _ = events.send(RuntimeEvent::Msg(Msg::Notice(problem.notice())));
    });
}

/// Gives a text to the programs that keep clipboards, after the terminal was asked.
pub(in crate::runtime) fn copy(events: &Events, text: String, asked: clipboard::ClipboardOutcome) {
    let events = events.clone();
    tokio::spawn(async move {
        let notice = clipboard::copy(text, clipboard::ways(&env), asked).await;
        let _ = events.send(RuntimeEvent::Msg(Msg::Notice(notice)));
    });
}

/// Edits a text in the user's editor, which has the terminal already.
pub(in crate::runtime) fn edit(events: &Events, temp: PathBuf, text: String) {
    let (events, editor) = (events.clone(), editor::command(&env));
    tokio::spawn(async move {
        let edited = editor::edit(&editor, &temp, &text).await.map_err(|error| error.to_string());
        let _ = events.send(RuntimeEvent::Edited(edited));
    });
}

/// Opens a file of a session: its text goes to the viewer, a picture or a PDF goes to the desktop's own program.
pub(in crate::runtime) fn view(events: &Events, file: Attachment) {
    let events = events.clone();
    tokio::spawn(async move {
        let msg = match viewer::view(&file, &env).await {
            Ok(Some(text)) => RuntimeEvent::Show(text),
            Ok(None) => return,
            Err(why) => RuntimeEvent::Msg(Msg::Notice(Notice::new(Level::Warning, why))),
        };
        let _ = events.send(msg);
    });
}

/// Opens an address in the desktop's browser.
pub(in crate::runtime) fn browse(events: &Events, url: String) {
    let events = events.clone();
    tokio::spawn(async move {
        if let Err(why) = viewer::browse(&url, &env).await {
            let _ = events.send(RuntimeEvent::Msg(Msg::NotBrowsed { url, why }));
        }
    });
}

/// Puts the picture of the clipboard into a file.
pub(in crate::runtime) fn picture(events: &Events, temp: PathBuf) {
    let events = events.clone();
    tokio::spawn(async move {
        let found = picture::fetch(&env, &temp).await;
        if let Err(SendError(RuntimeEvent::Msg(Msg::Picture(Ok(file))))) =
            events.send(RuntimeEvent::Msg(Msg::Picture(found)))
        {
            picture::discard(&file);
        }
    });
}

/// Saves the screen state; the loop does not wait for the disk.
pub(in crate::runtime) fn save_ui_state(file: &UiStateFile, kept: Kept) {
    file.want(kept);
    let file = file.clone();
    tokio::task::spawn_blocking(move || {
        if let Err(error) = file.write() {
            tracing::warn!("can't save the list's layout: {error}");
        }
    });
}

/// Lists the workspaces.
pub(in crate::runtime) fn list_workspaces(events: &Events, workspaces: &Workspaces) {
    let (events, workspaces) = (events.clone(), workspaces.clone());
    tokio::task::spawn_blocking(move || {
        let _ = events.send(RuntimeEvent::Msg(Msg::Workspaces(workspaces.list())));
    });
}

/// Looks whether a workspace can be opened.
pub(in crate::runtime) fn find_workspace(
    events: &Events,
    workspaces: &Workspaces,
    (written, create): (String, bool),
    from: Option<PathBuf>,
) {
    let (events, workspaces) = (events.clone(), workspaces.clone());
    tokio::task::spawn_blocking(move || {
        let found = workspaces.find(&written, create, from.as_deref());
        let _ = events.send(RuntimeEvent::Msg(Msg::Workspace(found)));
    });
}

/// Reads what is called by its name, with that of a directory: commands, skills, agents.
pub(in crate::runtime) fn read_commands(events: &Events, files: &ExtensionFiles, cwd: PathBuf) {
    let (events, files) = (events.clone(), files.clone());
    tokio::task::spawn_blocking(move || {
        let (commands, problems) = files.called(&cwd);
        let _ = events.send(RuntimeEvent::Msg(Msg::Commands(commands)));
        for problem in problems {
            let _ = events.send(RuntimeEvent::Msg(Msg::Notice(problem.notice())));
        }
    });
}

/// Looks once, at the first start, for sessions of other programs. They are counted, not read.
pub(in crate::runtime) fn look_for_histories(events: &Events, state_dir: PathBuf) {
    let events = events.clone();
    tokio::task::spawn_blocking(move || {
        let marker = state_dir.join("histories-offered");
        // Where that cannot be kept the offer would come at every start.
        let is_first = std::fs::create_dir_all(&state_dir).and_then(|()| std::fs::File::create_new(&marker)).is_ok();
        if !is_first {
            return;
        }
        let _ = events.send(RuntimeEvent::Msg(Msg::Histories(counted_histories())));
    });
}

/// Sessions of other programs on this machine. They are counted, not read. Blocks.
fn counted_histories() -> Vec<FoundHistory> {
    let places = history_places();
    let counted = |kind: HistoryKind| {
        let sessions = histories_in(&places, kind).items.len();
        FoundHistory { word: kind.word(), program: kind.name(), sessions }
    };
    HistoryKind::ALL.into_iter().map(counted).filter(|found| found.sessions > 0).collect()
}

/// Counts what can be imported; nothing where the engine is on another machine.
pub(in crate::runtime) fn count_histories(events: &Events, is_here: bool) {
    let events = events.clone();
    tokio::task::spawn_blocking(move || {
        let found = if is_here { counted_histories() } else { Vec::new() };
        let _ = events.send(RuntimeEvent::Msg(Msg::Importable(found)));
    });
}

/// Reads the settings.
pub(in crate::runtime) fn read_settings(events: &Events, settings: &SettingsFile) {
    let (events, settings) = (events.clone(), settings.clone());
    tokio::task::spawn_blocking(move || {
        let _ = events.send(RuntimeEvent::Msg(Msg::Settings(settings.shown())));
    });
}

/// Writes a setting into config.toml, and reads all of them again.
pub(in crate::runtime) fn change_setting(events: &Events, settings: &SettingsFile, key: String, value: String) {
    let (events, settings) = (events.clone(), settings.clone());
    tokio::task::spawn_blocking(move || {
        if let Err(why) = write::set(&settings.path, &key, &value) {
            let _ = events.send(RuntimeEvent::Msg(Msg::Notice(Notice::new(Level::Error, why))));
        }
        let _ = events.send(RuntimeEvent::Msg(Msg::Settings(settings.shown())));
    });
}

/// Looks at this machine and this installation.
pub(in crate::runtime) fn examine(events: &Events, examine: &Examine, terminal: Option<Finding>) {
    let (events, examine) = (events.clone(), examine.clone());
    tokio::task::spawn_blocking(move || {
        let mut findings = examine();
        if let Some(terminal) = terminal {
            let at = findings.iter().position(|one| one.about == "characters").unwrap_or(findings.len());
            findings.insert(at, terminal);
        }
        let _ = events.send(RuntimeEvent::Msg(Msg::Doctor(findings)));
    });
}

/// Says how another workspace of another machine is opened.
pub(in crate::runtime) fn workspaces_elsewhere(events: &Events, machine: &str) {
    let notice = Notice::new(Level::Warning, format!("The workspaces are those of {machine}."));
    let notice = notice.hint(format!("lisle ssh {machine} --workspace NAME opens another one"));
    let _ = events.send(RuntimeEvent::Msg(Msg::Notice(notice)));
}
