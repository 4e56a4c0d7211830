//! `/share` and `/unshare`: what is asked of the engine, and the answers of a gateway or of a server for shares.

use super::ClientFiles;
use super::event::{Events, RuntimeEvent};
use crate::app::{Msg, ShareAnswer};
use crate::domain::export::SharedFile;
use crate::domain::{Level, Notice, SessionId};
use crate::gateway::home::GatewayFiles;
use crate::gateway::shares::SharedSession;
use crate::runtime::sharing::Shares;
use std::path::PathBuf;

/// Shares of this home, with the settings as they are now.
fn shares(files: &ClientFiles) -> Shares {
    let gateway = GatewayFiles::of(&files.state_dir, std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    Shares::new(gateway, files.settings.now().share)
}

fn failed(text: String) -> Msg {
    Msg::Notice(Notice::new(Level::Error, text))
}

fn send(events: &Events, msg: Msg) {
    let _ = events.send(RuntimeEvent::Msg(msg));
}

/// True where conversations are uploaded. A file of another machine's engine can't be.
pub(super) fn uploads(files: &ClientFiles) -> bool {
    files.machine.is_none() && shares(files).endpoint().is_some()
}

/// Gives a page an address. One of another machine's engine lies there, and stays a file.
pub(super) fn page(events: &Events, files: &ClientFiles, file: SharedFile) {
    let (events, shares, is_here) = (events.clone(), shares(files), files.machine.is_none());
    let workspace = files.workspaces.current.clone();
    tokio::spawn(async move {
        let of = SharedSession { workspace: &workspace, id: &file.session };
        let address = if is_here { shares.page_of_file(of, &file.path).await } else { Ok(None) };
        let address = address.unwrap_or_else(|why| {
            send(&events, failed(format!("Not shared by an address: {why}.")));
            None
        });
        send(&events, Msg::Share(ShareAnswer::Done { file, address }));
    });
}

/// Says where the lines of a session would be uploaded.
pub(super) fn offer(events: &Events, files: &ClientFiles, file: SharedFile) {
    match shares(files).endpoint() {
        Some(server) => send(events, Msg::Share(ShareAnswer::Offered { file, server: server.to_owned() })),
        None => send(events, failed("Not uploaded: share.endpoint is no longer set.".to_owned())),
    }
}

/// Uploads the lines of a session.
pub(super) fn upload(events: &Events, files: &ClientFiles, file: SharedFile) {
    let (events, shares, workspace) = (events.clone(), shares(files), files.workspaces.current.clone());
    tokio::spawn(async move {
        let of = SharedSession { workspace: &workspace, id: &file.session };
        let uploaded = match tokio::fs::read(&file.path).await {
            Ok(lines) => shares.upload(of, &lines, None).await,
            Err(error) => Err(error.to_string()),
        };
        // It was made for the upload.
        let _ = tokio::fs::remove_file(&file.path).await;
        match uploaded {
            Ok(published) => send(&events, Msg::Share(ShareAnswer::Done { file, address: published.url })),
            Err(why) => send(&events, failed(format!("Not shared: {why}."))),
        }
    });
}

/// Revokes the addresses of a session.
pub(super) fn unshare(events: &Events, files: &ClientFiles, session: SessionId) {
    let (events, shares, is_here) = (events.clone(), shares(files), files.machine.is_none());
    let workspace = files.workspaces.current.clone();
    tokio::spawn(async move {
        let of = SharedSession { workspace: &workspace, id: &session };
        let revoked = if is_here { shares.revoke_all(of).await } else { Ok(0) };
        let notice = match revoked {
            Err(why) => Notice::new(Level::Error, format!("Still shared: {why}.")),
            Ok(0) if !is_here => {
                Notice::new(Level::Info, "Shares of another machine are revoked there").hint("lisle share revoke ID")
            }
            Ok(0) => Notice::new(Level::Info, "This session is not shared"),
            Ok(_) => Notice::new(Level::Info, "This session is no longer shared"),
        };
        send(&events, Msg::Notice(notice));
    });
}
