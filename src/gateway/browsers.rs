//! Browsers that read sessions: links that let one in, once, and what each shows from then on.
//!
//! A link belongs to the token that made it, and so does the browser that opened it: both end when that token is revoked or
//! rotated. All of them end with the gateway.

use super::home;
use super::tokens::{self, StoredToken};
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// Time in which a link can be opened.
pub(super) const LINK_LIVES: Duration = Duration::from_secs(600);
/// Time for which a browser is let in.
pub(super) const BROWSER_LIVES: Duration = Duration::from_secs(30 * 24 * 3_600);
/// Links and browsers at a time; the oldest goes.
pub(super) const MOST: usize = 64;
/// Beginning of a browser's id.
const ID: &str = "browser-";

/// Token that made a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkMaker {
    /// Name.
    pub token: String,
    /// SHA-256 of the token, in hexadecimal: another token of the same name is another maker.
    pub sha256: String,
}

#[derive(Clone, Debug)]
struct BrowserLink {
    sha256: String,
    until: Instant,
    maker: LinkMaker,
}

/// Browser that opened a link.
#[derive(Clone, Debug)]
pub(super) struct Browser {
    /// Id for people.
    pub id: String,
    /// SHA-256 of its cookie, in hexadecimal.
    pub sha256: String,
    /// Address that opened the link.
    pub address: IpAddr,
    /// Time when it did.
    pub since: Instant,
    /// Token that made the link.
    pub maker: LinkMaker,
}

/// Links and browsers of a gateway.
#[derive(Debug, Default)]
pub(super) struct Browsers {
    links: VecDeque<BrowserLink>,
    all: VecDeque<Browser>,
}

fn remember<T>(all: &mut VecDeque<T>, new: T) {
    while all.len() >= MOST {
        all.pop_front();
    }
    all.push_back(new);
}

impl Browsers {
    /// Ends what tokens made that are not there any more.
    pub fn keep_those_of(&mut self, tokens: &[StoredToken]) {
        let is_there = |maker: &LinkMaker| tokens.iter().any(|token| token.sha256 == maker.sha256);
        self.links.retain(|link| is_there(&link.maker));
        self.all.retain(|browser| is_there(&browser.maker));
    }

    /// Makes a link.
    pub fn link(&mut self, maker: LinkMaker, now: Instant) -> io::Result<String> {
        let link = home::random_hex(24)?;
        self.links.retain(|one| one.until > now);
        remember(&mut self.links, BrowserLink { sha256: tokens::hash(&link), until: now + LINK_LIVES, maker });
        Ok(link)
    }

    /// Uses a link up. Returns what the browser shows from now on; `None` for an unknown link.
    pub fn open(&mut self, address: IpAddr, link: &str, now: Instant) -> Option<io::Result<String>> {
        let shown = tokens::hash(link);
        let at = self.links.iter().position(|known| known.sha256 == shown && known.until > now)?;
        let maker = self.links.remove(at)?.maker;
        let made = home::random_hex(32).and_then(|cookie| Ok((cookie, home::random_hex(4)?)));
        Some(made.map(|(cookie, id)| {
            let (id, sha256) = (format!("{ID}{id}"), tokens::hash(&cookie));
            remember(&mut self.all, Browser { id, sha256, address, since: now, maker });
            cookie
        }))
    }

    /// The browser that shows this hash. All are compared, so that the time says nothing of which one was nearly right.
    pub fn find(&self, sha256: &str, now: Instant) -> Option<&Browser> {
        let mut found = None;
        for known in self.open_at(now) {
            if bool::from(known.sha256.as_bytes().ct_eq(sha256.as_bytes())) {
                found = Some(known);
            }
        }
        found
    }

    /// Browsers that are let in, oldest first.
    pub fn open_at(&self, now: Instant) -> impl Iterator<Item = &Browser> {
        self.all.iter().filter(move |one| now.saturating_duration_since(one.since) < BROWSER_LIVES)
    }

    /// Shuts a browser out. False if there is none of this id.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.all.len();
        self.all.retain(|one| one.id != id);
        self.all.len() < before
    }

    #[cfg(test)]
    pub fn links(&self) -> usize {
        self.links.len()
    }
}
