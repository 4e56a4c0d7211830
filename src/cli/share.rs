//! `lisle share`: conversations that everybody reads who has their address.

use super::args::{ShareArgs, ShareCommand};
use super::definitions::now;
use super::exit::Exit;
use super::output::{complain, is_open_or, print_json, say};
use super::sessions::session_named;
use crate::domain::export::Format;
use crate::domain::sanitise::clean_line;
use crate::domain::{At, SessionId};
use crate::gateway::shares::{SharedPage, SharedSession};
use crate::local_export::LocalExport;
use crate::local_time::second;
use crate::runtime;
use crate::runtime::setup::Bootstrap;
use crate::runtime::sharing::Shares;
use serde::Serialize;

/// A share, as programs read it.
#[derive(Serialize)]
struct ShareShown<'a> {
    #[serde(flatten)]
    page: &'a SharedPage,
    /// Address, where one is known.
    url: Option<String>,
}

/// A share that was made, as programs read it.
#[derive(Serialize)]
struct ShareMade<'a> {
    id: &'a str,
    session: &'a SessionId,
    url: Option<&'a str>,
    keys_masked: usize,
    home_paths_masked: usize,
}

pub(super) async fn run(bootstrap: &Bootstrap, args: &ShareArgs) -> Exit {
    let shares = Shares::new(runtime::gateway::files(&bootstrap.paths), bootstrap.settings.share.clone());
    match (&args.command, &args.session) {
        (Some(ShareCommand::List(json)), _) => list(&shares, json.json).await,
        (Some(ShareCommand::Revoke(args)), _) => revoke(bootstrap, &shares, &args.ids).await,
        (None, Some(session)) => match session_named(bootstrap, session) {
            Some(session) => share(bootstrap, &shares, &session, args).await,
            None => Exit::Usage,
        },
        (None, None) => Exit::Usage,
    }
}

fn shared_session<'a>(bootstrap: &'a Bootstrap, id: &'a SessionId) -> SharedSession<'a> {
    SharedSession { workspace: bootstrap.store.dir(), id }
}

fn failed(why: &str) -> Exit {
    complain(&format!("lisle: {}.", why.trim_end_matches('.')));
    Exit::Failed
}

async fn list(shares: &Shares, as_json: bool) -> Exit {
    let pages = shares.list();
    let served = if pages.iter().any(|page| page.upload.is_none()) { shares.served_at().await } else { None };
    let url = |page: &SharedPage| match &page.upload {
        Some(upload) => Some(clean_line(&upload.url).into_owned()),
        None => served.as_ref().map(|at| format!("{at}/s/{}", page.id)),
    };
    if as_json {
        let all: Vec<ShareShown<'_>> = pages.iter().map(|page| ShareShown { page, url: url(page) }).collect();
        return print_json(&all);
    }
    for page in &pages {
        let until = match page.expires {
            None => "until revoked".to_owned(),
            Some(at) if At(at) <= now() => format!("expired {}", second(At(at))),
            Some(at) => format!("until {}", second(At(at))),
        };
        let at = url(page).unwrap_or_else(|| format!("/s/{} (not served now)", page.id));
        if !say(&format!("{}  {}  {until}  {at}\n", page.id, page.session)) {
            break;
        }
    }
    Exit::Done
}

async fn revoke(bootstrap: &Bootstrap, shares: &Shares, ids: &[String]) -> Exit {
    let mut exit = Exit::Done;
    for id in ids {
        let revoked = match (shares.revoke(id).await, SessionId::parse(id)) {
            (Ok(false), Ok(session)) => {
                let session = bootstrap.store.named(session.as_str()).unwrap_or(session);
                shares.revoke_all(shared_session(bootstrap, &session)).await.map(|count| count > 0)
            }
            (revoked, _) => revoked,
        };
        exit = match revoked {
            Ok(true) => exit,
            Ok(false) => failed(&format!("unknown share {}; lisle share list shows all", clean_line(id))),
            Err(why) => failed(&format!("{} is still shared: {why}", clean_line(id))),
        };
    }
    exit
}

async fn share(bootstrap: &Bootstrap, shares: &Shares, session: &SessionId, args: &ShareArgs) -> Exit {
    if !is_open_or("Nothing shared.") {
        return Exit::Failed;
    }
    let format = if shares.endpoint().is_some() { Format::Json } else { Format::Html };
    let mut bytes = Vec::new();
    let written = bootstrap.store.export_to(session, format, &LocalExport, &mut |more| {
        bytes.extend_from_slice(more);
        Ok(())
    });
    let masked = match written {
        Ok(masked) => masked,
        Err(error) => return failed(&format!("{session} was not shared: {error}")),
    };
    if let Some(words) = masked.words() {
        complain(&format!("lisle: masked: {words}."));
    }
    let of = shared_session(bootstrap, session);
    let made = match format {
        Format::Json => shares.upload(of, &bytes, args.expires).await,
        _ => shares.page(of, String::from_utf8_lossy(&bytes).into_owned(), args.expires).await,
    };
    let made = match made {
        Ok(made) => made,
        Err(why) => return failed(&format!("{session} was not shared: {why}")),
    };
    if made.url.is_none() {
        complain(
            "lisle: nobody reads it now, because no gateway listens for shared pages. It is public once one does: \
             \"lisle serve --share-listen ADDR:PORT\". Uploads need share.endpoint in config.toml. Undo with \
             \"lisle share revoke ID\".",
        );
    }
    if args.json {
        let (url, keys_masked) = (made.url.as_deref(), masked.keys);
        return print_json(&ShareMade { id: &made.id, session, url, keys_masked, home_paths_masked: masked.homes });
    }
    say(&format!("{}\n", made.url.unwrap_or_else(|| format!("/s/{}", made.id))));
    Exit::Done
}
