//! Pages of conversations with an address, where a gateway of this machine serves them.

use super::ClientFiles;
use super::event::{Events, RuntimeEvent};
use crate::app::Msg;
use crate::domain::sanitise::clean_line;
use crate::domain::{Level, Notice, SessionId};
use crate::gateway::dial::GatewayRoute;
use crate::gateway::home::GatewayFiles;
use crate::gateway::methods::{self, Status};
use crate::gateway::remote;
use crate::gateway::shares::{SharedPages, SharedSession};
use std::path::{Path, PathBuf};

fn gateway_files(files: &ClientFiles) -> GatewayFiles {
    GatewayFiles::of(&files.state_dir, std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from))
}

/// Gives a page an address. One of another machine's engine lies there, and stays a file.
pub(super) fn share(events: &Events, files: &ClientFiles, session: SessionId, path: PathBuf, masked: usize) {
    let (events, gateway, is_here) = (events.clone(), gateway_files(files), files.machine.is_none());
    let workspace = files.workspaces.current.clone();
    tokio::spawn(async move {
        let address = if is_here { address(gateway, workspace, &session, &path).await } else { Ok(None) };
        let address = address.unwrap_or_else(|why| {
            let text = format!("Not shared by an address: {why}.");
            let _ = events.send(RuntimeEvent::Msg(Msg::Notice(Notice::new(Level::Error, text))));
            None
        });
        let _ = events.send(RuntimeEvent::Msg(Msg::Shared { path, masked, address }));
    });
}

async fn address(
    files: GatewayFiles,
    workspace: PathBuf,
    session: &SessionId,
    path: &Path,
) -> Result<Option<String>, String> {
    // Without a gateway there is nobody to ask.
    let status = remote::call::<Status>(&GatewayRoute::Socket(files.clone()), methods::STATUS, &()).await.ok();
    let Some(shares) = status.and_then(|status| status.shares) else { return Ok(None) };
    let (session, path) = (session.clone(), path.to_owned());
    let add = move || {
        let page = std::fs::read_to_string(path)?;
        let of = SharedSession { workspace: &workspace, id: &session };
        SharedPages::of(&files).add(of, &page, now(), None)
    };
    let id = tokio::task::spawn_blocking(add).await.map_err(|error| error.to_string())?;
    let id = id.map_err(|error| error.to_string())?;
    Ok(Some(format!("{}/s/{id}", clean_line(&shares.url))))
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Takes the addresses of a session's pages back.
pub(super) fn unshare(events: &Events, files: &ClientFiles, session: SessionId) {
    let (events, gateway, is_here) = (events.clone(), gateway_files(files), files.machine.is_none());
    let workspace = files.workspaces.current.clone();
    tokio::task::spawn_blocking(move || {
        let of = SharedSession { workspace: &workspace, id: &session };
        let revoked = if is_here { SharedPages::of(&gateway).revoke_all(of) } else { Ok(0) };
        let notice = match revoked {
            Err(error) => Notice::new(Level::Error, format!("A page is still shared: {error}.")),
            Ok(_) if !is_here => Notice::new(Level::Info, "Pages of another machine are revoked there")
                .hint("lisle gateway share --revoke ID"),
            Ok(0) => Notice::new(Level::Info, "No page of this session has an address"),
            Ok(_) => Notice::new(Level::Info, "The addresses of this session's pages lead nowhere now"),
        };
        let _ = events.send(RuntimeEvent::Msg(Msg::Notice(notice)));
    });
}
