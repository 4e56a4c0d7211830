//! `lisle gateway share`: pages that everybody reads who has their address.

use super::args::ShareArgs;
use super::exit::Exit;
use super::gateway::failed;
use super::output::{complain, print_json, say};
use crate::domain::export::Format;
use crate::domain::sanitise::clean_line;
use crate::domain::{At, SessionId};
use crate::gateway::dial::GatewayRoute;
use crate::gateway::home::GatewayFiles;
use crate::gateway::methods::{self, Status};
use crate::gateway::remote;
use crate::gateway::shares::{SharedPages, SharedSession};
use crate::runtime::setup::Bootstrap;
use std::time::Duration;

pub(super) async fn run(bootstrap: &Bootstrap, files: &GatewayFiles, way: &GatewayRoute, args: &ShareArgs) -> Exit {
    let pages = SharedPages::of(files);
    if let Some(id) = &args.revoke {
        let of_session = || match SessionId::parse(id) {
            Ok(session) => pages.revoke_all(shared_session(bootstrap, &named(bootstrap, &session))),
            Err(_) => Ok(0),
        };
        return match pages.revoke(id).and_then(|found| if found { Ok(1) } else { of_session() }) {
            Ok(1..) => Exit::Done,
            Ok(0) => failed("unknown page; --list shows the shared pages"),
            Err(error) => failed(&format!("the page was not removed: {error}")),
        };
    }
    match &args.session {
        Some(session) => share(bootstrap, &pages, way, &named(bootstrap, session), args.expires).await,
        None => list(&pages, args.json),
    }
}

/// The session of a name, else of an id.
fn named(bootstrap: &Bootstrap, written: &SessionId) -> SessionId {
    bootstrap.store.named(written.as_str()).unwrap_or_else(|| written.clone())
}

fn shared_session<'a>(bootstrap: &'a Bootstrap, id: &'a SessionId) -> SharedSession<'a> {
    SharedSession { workspace: bootstrap.store.dir(), id }
}

fn now() -> At {
    At(jiff::Timestamp::now().as_millisecond())
}

fn minute(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

fn list(pages: &SharedPages, as_json: bool) -> Exit {
    let pages = pages.list(now().0);
    if as_json {
        return print_json(&pages);
    }
    for page in pages {
        let until = page.expires.map_or_else(|| "until revoked".to_owned(), |at| format!("until {}", minute(At(at))));
        say(&format!("{}  {}  {until}\n", page.id, page.session));
    }
    Exit::Done
}

async fn share(
    bootstrap: &Bootstrap,
    pages: &SharedPages,
    way: &GatewayRoute,
    session: &SessionId,
    expires: Option<Duration>,
) -> Exit {
    let mut page = Vec::new();
    let written = bootstrap.store.export_to(session, Format::Html, &minute, &mut |bytes| {
        page.extend_from_slice(bytes);
        Ok(())
    });
    let masked = match written {
        Ok(masked) => masked,
        Err(error) => return failed(&format!("{session} was not shared: {error}")),
    };
    let page = String::from_utf8_lossy(&page);
    let id = match pages.add(shared_session(bootstrap, session), &page, now().0, expires) {
        Ok(id) => id,
        Err(error) => return failed(&format!("{session} was not shared: {error}")),
    };
    if masked > 0 {
        complain(&format!("lisle: keys masked: {masked}."));
    }
    let status = remote::call::<Status>(way, methods::STATUS, &()).await.ok();
    match status.and_then(|status| status.shares) {
        Some(shares) => say(&format!("{}/s/{id}\n", clean_line(&shares.url))),
        None => {
            complain("lisle: no gateway serves shared pages now: \"lisle serve --share-listen ADDR:PORT\" does.");
            say(&format!("/s/{id}\n"))
        }
    };
    Exit::Done
}
