//! Background tasks for the screen and for linear mode: each reports its result to the loop.

use super::face::Told;
use super::kept::FaceFile;
use super::workspaces::Workspaces;
use super::{Folders, clipboard, commands, editor, picture, viewer};
use crate::app::Msg;
use crate::app::state::sessions::kept::Kept;
use crate::config::log;
use crate::domain::attachment::Attachment;
use crate::domain::{Level, Notice};
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::mpsc::error::SendError;

/// The way to the loop.
pub(super) type Tell = UnboundedSender<Told>;

/// A variable of the environment.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says it once when the log cannot be written.
pub(super) fn tell_of_the_log(tell: &Tell) {
    let tell = tell.clone();
    log::on_failure(move |problem| {
        let _ = tell.send(Told::Msg(Msg::Notice(problem.notice())));
    });
}

/// Gives a text to the programs that keep clipboards, after the terminal was asked.
pub(super) fn copy(tell: &Tell, text: String, asked: clipboard::Asked) {
    let tell = tell.clone();
    tokio::spawn(async move {
        let notice = clipboard::copy(text, clipboard::ways(&env), asked).await;
        let _ = tell.send(Told::Msg(Msg::Notice(notice)));
    });
}

/// Edits a text in the user's editor, which has the terminal already.
pub(super) fn edit(tell: &Tell, temp: PathBuf, text: String) {
    let (tell, editor) = (tell.clone(), editor::command(&env));
    tokio::spawn(async move {
        let edited = editor::edit(&editor, &temp, &text).await.map_err(|error| error.to_string());
        let _ = tell.send(Told::Edited(edited));
    });
}

/// Opens a file of a session: its text goes to the viewer, a picture or a PDF goes to the desktop's own program.
pub(super) fn view(tell: &Tell, file: Attachment) {
    let tell = tell.clone();
    tokio::spawn(async move {
        let msg = match viewer::view(&file, &env).await {
            Ok(Some(text)) => Told::Show(text),
            Ok(None) => return,
            Err(why) => Told::Msg(Msg::Notice(Notice::new(Level::Warning, why))),
        };
        let _ = tell.send(msg);
    });
}

/// Puts the picture of the clipboard into a file.
pub(super) fn picture(tell: &Tell, temp: PathBuf) {
    let tell = tell.clone();
    tokio::spawn(async move {
        let found = picture::fetch(&env, &temp).await;
        if let Err(SendError(Told::Msg(Msg::Picture(Ok(file))))) = tell.send(Told::Msg(Msg::Picture(found))) {
            picture::discard(&file);
        }
    });
}

/// Saves the screen state; the loop does not wait for the disk.
pub(super) fn keep_face(file: &FaceFile, kept: Kept) {
    file.want(kept);
    let file = file.clone();
    tokio::task::spawn_blocking(move || {
        if let Err(error) = file.write() {
            tracing::warn!("how the list is shown could not be kept: {error}");
        }
    });
}

/// Lists the workspaces.
pub(super) fn list_workspaces(tell: &Tell, workspaces: &Workspaces) {
    let (tell, workspaces) = (tell.clone(), workspaces.clone());
    tokio::task::spawn_blocking(move || {
        let _ = tell.send(Told::Msg(Msg::Workspaces(workspaces.list())));
    });
}

/// Looks whether a workspace can be opened.
pub(super) fn find_workspace(
    tell: &Tell,
    workspaces: &Workspaces,
    (written, create): (String, bool),
    from: Option<PathBuf>,
) {
    let (tell, workspaces) = (tell.clone(), workspaces.clone());
    tokio::task::spawn_blocking(move || {
        let found = workspaces.find(&written, create, from.as_deref());
        let _ = tell.send(Told::Msg(Msg::Workspace(found)));
    });
}

/// Reads the user's own commands, with those of a directory.
pub(super) fn read_commands(tell: &Tell, folders: &Folders, cwd: PathBuf) {
    let (tell, folders) = (tell.clone(), folders.clone());
    tokio::task::spawn_blocking(move || {
        let (commands, problems) = commands::read(&folders, &cwd);
        let _ = tell.send(Told::Msg(Msg::Commands(commands)));
        for problem in problems {
            let _ = tell.send(Told::Msg(Msg::Notice(problem.notice())));
        }
    });
}
