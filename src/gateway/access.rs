//! Clients over the network: which token lets them in and what they may do, addresses that guess, and one-time links for
//! browsers.
//!
//! A correct token is let in whatever its address did before: a lock-out refuses wrong ones alone. Links and browsers are left
//! to `browsers`.

use super::browsers::{Browser, Browsers, LinkMaker};
use super::methods::ClientShown;
use super::tokens::{self, FileStamp, StoredToken, TokenFile};
use crate::protocol::{Scope, Scopes};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// So many wrong tokens …
const FAILURES: usize = 10;
/// … within this time …
const WINDOW: Duration = Duration::from_secs(60);
/// … lock an address out for this long.
const LOCKED: Duration = Duration::from_secs(300);
/// Addresses that are remembered.
const ADDRESSES: usize = 4_096;
/// Client that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Name of its token.
    pub name: String,
    /// Commands that it may send.
    pub scopes: Scopes,
    /// SHA-256 of what it showed.
    sha256: String,
    /// Address that showed a token.
    address: Option<IpAddr>,
}

impl Grant {
    /// Token and address, for names of clients.
    pub fn peer(&self) -> String {
        let address = self.address.map(|address| format!(" at {}", address.to_canonical()));
        format!("token {}{}", self.name, address.unwrap_or_default())
    }
}

/// Reason why a client was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryRefusal {
    /// The token is wrong.
    Wrong,
    /// The token is wrong, and its address is locked out for this time.
    LockedOut(Duration),
}

#[derive(Debug, Default)]
struct Failures {
    times: VecDeque<Instant>,
    locked_until: Option<Instant>,
}

#[derive(Debug, Default)]
struct AccessState {
    stamp: Option<FileStamp>,
    tokens: Vec<StoredToken>,
    failures: HashMap<IpAddr, Failures>,
    browsers: Browsers,
}

/// Access of clients over the network.
#[derive(Debug)]
pub(super) struct NetworkAccess {
    file: TokenFile,
    state: Mutex<AccessState>,
}

/// Address that counts as one: of IPv6 a network of 64 bits, which one machine has to itself.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        short => short,
    }
}

impl NetworkAccess {
    pub fn new(file: TokenFile) -> Self {
        Self { file, state: Mutex::default() }
    }

    /// State with the tokens that the file has now.
    fn state(&self) -> MutexGuard<'_, AccessState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.file.stamp();
        if state.stamp != stamp {
            // Without a file that can be read nobody is let in.
            state.tokens = self.file.read().unwrap_or_else(|error| {
                tracing::warn!(%error, "can't read the gateway's tokens");
                Vec::new()
            });
            let AccessState { tokens, browsers, .. } = &mut *state;
            browsers.keep_those_of(tokens);
            state.stamp = stamp;
        }
        state
    }

    /// Counts a request that was not signed as it should be, as a wrong token.
    pub fn refuse(&self, address: IpAddr, now: Instant) -> EntryRefusal {
        self.state().fail(address, now)
    }

    /// Lets the owner of a token in.
    pub fn admit(&self, address: IpAddr, token: &str, now: Instant) -> Result<Grant, EntryRefusal> {
        let shown = tokens::hash(token);
        let mut state = self.state();
        // All are compared, so that the time says nothing of which one was nearly right.
        let mut found = None;
        for known in &state.tokens {
            if bool::from(known.sha256.as_bytes().ct_eq(shown.as_bytes())) {
                found = Some(known);
            }
        }
        if let Some(known) = found {
            let (name, scopes) = (known.name.clone(), known.scopes.clone());
            return Ok(Grant { name, scopes, sha256: shown, address: Some(address) });
        }
        Err(state.fail(address, now))
    }

    /// Lets a browser in that opened a link before. What it shows is no guess of a person, so nobody is locked out for it.
    pub fn admit_browser(&self, cookie: &str, now: Instant) -> Option<Grant> {
        let shown = tokens::hash(cookie);
        let state = self.state();
        let found = state.browsers.find(&shown, now)?;
        Some(Grant { name: found.id.clone(), scopes: Scopes::of([Scope::Read]), sha256: shown, address: None })
    }

    /// True as long as what let a client in still would.
    pub fn is_valid(&self, grant: &Grant) -> bool {
        let state = self.state();
        state.tokens.iter().any(|known| known.sha256 == grant.sha256 && known.scopes == grant.scopes)
            || state.browsers.find(&grant.sha256, Instant::now()).is_some()
    }

    /// A link that lets one browser in, once. It belongs to the token that asks, on this machine to the owner's.
    pub fn new_link(&self, grant: Option<&Grant>, now: Instant) -> io::Result<String> {
        let maker = match grant {
            Some(grant) => LinkMaker { token: grant.name.clone(), sha256: grant.sha256.clone() },
            None => LinkMaker { token: tokens::OWNER.to_owned(), sha256: tokens::hash(&self.file.owner()?) },
        };
        let mut state = self.state();
        if !state.tokens.iter().any(|token| token.sha256 == maker.sha256) {
            return Err(io::Error::other("its token was revoked"));
        }
        state.browsers.link(maker, now)
    }

    /// Opens a link: what the browser shows from now on.
    pub fn open_link(&self, address: IpAddr, link: &str, now: Instant) -> Result<io::Result<String>, EntryRefusal> {
        let mut state = self.state();
        state.browsers.open(address, link, now).ok_or_else(|| state.fail(address, now))
    }

    /// Browsers that are let in, as clients are listed.
    pub fn browsers(&self, now: Instant) -> Vec<ClientShown> {
        let shown = |one: &Browser| ClientShown {
            id: one.id.clone(),
            name: format!("browser at {}", one.address),
            version: String::new(),
            connected: true,
            seconds: now.saturating_duration_since(one.since).as_secs(),
            workspaces: Vec::new(),
            token: Some(one.maker.token.clone()),
        };
        self.state().browsers.open_at(now).map(shown).collect()
    }

    /// Shuts a browser out. False if there is none of this id.
    pub fn detach_browser(&self, id: &str) -> bool {
        self.state().browsers.remove(id)
    }
}

impl AccessState {
    fn fail(&mut self, address: IpAddr, now: Instant) -> EntryRefusal {
        let address = counted(address);
        if self.failures.len() >= ADDRESSES && !self.failures.contains_key(&address) {
            let oldest = self.failures.iter().min_by_key(|(_, one)| one.times.back().copied());
            let oldest = oldest.map(|(address, _)| *address);
            oldest.map(|address| self.failures.remove(&address));
        }
        let known = self.failures.entry(address).or_default();
        if let Some(left) = known.locked_until.and_then(|until| until.checked_duration_since(now)) {
            return EntryRefusal::LockedOut(left);
        }
        known.times.retain(|time| now.saturating_duration_since(*time) < WINDOW);
        known.times.push_back(now);
        if known.times.len() < FAILURES {
            return EntryRefusal::Wrong;
        }
        tracing::warn!(%address, "an address is locked out of the gateway for {} s: {FAILURES} wrong tokens", LOCKED.as_secs());
        known.times.clear();
        known.locked_until = Some(now + LOCKED);
        EntryRefusal::LockedOut(LOCKED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::browsers::{BROWSER_LIVES, LINK_LIVES, MOST};
    use crate::gateway::home::GatewayFiles;

    fn access(dir: &tempfile::TempDir) -> (NetworkAccess, TokenFile) {
        let file = TokenFile::of(&GatewayFiles::of(dir.path(), None));
        (NetworkAccess::new(file.clone()), file)
    }

    #[test]
    fn ten_wrong_tokens_lock_an_address_out_and_never_the_right_one() {
        let dir = tempfile::tempdir().unwrap();
        let (access, file) = access(&dir);
        let (token, here, now) = (file.owner().unwrap(), IpAddr::from([10, 0, 0, 1]), Instant::now());
        for n in 1..FAILURES {
            assert_eq!(access.admit(here, "wrong", now), Err(EntryRefusal::Wrong), "{n}");
        }
        assert_eq!(access.admit(here, "", now), Err(EntryRefusal::LockedOut(LOCKED)));
        assert_eq!(access.admit(here, &token, now).unwrap().name, tokens::OWNER);
        assert_eq!(access.admit(IpAddr::from([10, 0, 0, 2]), "wrong", now), Err(EntryRefusal::Wrong));
        let later = now + Duration::from_secs(200);
        assert_eq!(access.admit(here, "wrong", later), Err(EntryRefusal::LockedOut(Duration::from_secs(100))));
        assert_eq!(access.admit(here, "wrong", now + LOCKED + Duration::from_secs(1)), Err(EntryRefusal::Wrong));
    }

    #[test]
    fn slow_mistakes_lock_nobody_out_and_few_addresses_are_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let (access, _) = access(&dir);
        let now = Instant::now();
        for n in 0..40 {
            let at = now + Duration::from_secs(7 * n);
            assert_eq!(access.admit(IpAddr::from([127, 0, 0, 1]), "wrong", at), Err(EntryRefusal::Wrong), "{n}");
        }
        for n in 0..u32::try_from(ADDRESSES).unwrap() + 10 {
            let _ = access.admit(IpAddr::from(n.to_be_bytes()), "wrong", now);
        }
        assert!(access.state().failures.len() <= ADDRESSES);
        let one = counted("2001:db8:1:2:3:4:5:6".parse().unwrap());
        assert_eq!(one, counted("2001:db8:1:2:ffff::".parse().unwrap()));
        assert_eq!(counted("::ffff:10.0.0.1".parse().unwrap()), IpAddr::from([10, 0, 0, 1]));
    }

    #[test]
    fn a_token_that_was_revoked_or_rotated_lets_nobody_in() {
        let dir = tempfile::tempdir().unwrap();
        let (access, file) = access(&dir);
        let (here, now) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
        let token = file.add("phone", [Scope::Write]).unwrap().unwrap();
        let grant = access.admit(here, &token, now).unwrap();
        assert!(access.is_valid(&grant) && grant.scopes.cover(Scope::Read) && !grant.scopes.cover(Scope::Admin));
        file.rotate("phone").unwrap();
        assert!(!access.is_valid(&grant));
        let token = file.rotate("phone").unwrap().unwrap();
        assert!(access.admit(here, &token, now).is_ok());
        file.revoke("phone").unwrap();
        assert_eq!(access.admit(here, &token, now), Err(EntryRefusal::Wrong));
    }

    #[test]
    fn a_link_lets_one_browser_in_once_and_for_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let (access, _) = access(&dir);
        let (here, now) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
        let link = access.new_link(None, now).unwrap();
        let cookie = access.open_link(here, &link, now).unwrap().unwrap();
        assert_eq!(access.open_link(here, &link, now).map(|_| ()), Err(EntryRefusal::Wrong));
        let grant = access.admit_browser(&cookie, now).unwrap();
        assert!(access.is_valid(&grant) && grant.scopes.cover(Scope::Read) && !grant.scopes.cover(Scope::Write));
        assert_eq!(access.admit_browser(&cookie, now + BROWSER_LIVES), None);
        assert_eq!(access.admit_browser("", now), None);
        let late = access.new_link(None, now).unwrap();
        assert_eq!(access.open_link(here, &late, now + LINK_LIVES).map(|_| ()), Err(EntryRefusal::Wrong));
        for _ in 0..2 * MOST {
            access.new_link(None, now).unwrap();
        }
        assert_eq!(access.state().browsers.links(), MOST);
    }

    #[test]
    fn links_and_browsers_end_with_the_token_that_made_them() {
        type End = fn(&TokenFile);
        let ends: [(&str, End); 2] = [
            ("revoked", |file| assert!(file.revoke("phone").unwrap())),
            ("rotated", |file| assert!(file.rotate("phone").unwrap().is_some())),
        ];
        for (case, end) in ends {
            let dir = tempfile::tempdir().unwrap();
            let (access, file) = access(&dir);
            let (here, now) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
            let token = file.add("phone", Scope::ALL).unwrap().unwrap();
            let maker = access.admit(here, &token, now).unwrap();
            let browser = |grant: Option<&Grant>| {
                let link = access.new_link(grant, now).unwrap();
                access.open_link(here, &link, now).unwrap().unwrap()
            };
            let (of_phone, of_owner) = (browser(Some(&maker)), browser(None));
            let link = access.new_link(Some(&maker), now).unwrap();
            let grant = access.admit_browser(&of_phone, now).unwrap();
            let tokens: Vec<Option<String>> = access.browsers(now).into_iter().map(|one| one.token).collect();
            assert_eq!(tokens, [Some("phone".to_owned()), Some(tokens::OWNER.to_owned())], "{case}");
            end(&file);
            assert!(!access.is_valid(&grant) && access.admit_browser(&of_phone, now).is_none(), "{case}");
            assert_eq!(access.open_link(here, &link, now).map(|_| ()), Err(EntryRefusal::Wrong), "{case}");
            assert!(access.admit_browser(&of_owner, now).is_some(), "{case}");
            file.rotate(tokens::OWNER).unwrap();
            assert!(access.admit_browser(&of_owner, now).is_none() && access.browsers(now).is_empty(), "{case}");
        }
    }

    #[test]
    fn a_browser_that_was_detached_is_shut_out() {
        let dir = tempfile::tempdir().unwrap();
        let (access, _) = access(&dir);
        let (here, now) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
        let link = access.new_link(None, now).unwrap();
        let cookie = access.open_link(here, &link, now).unwrap().unwrap();
        let id = access.browsers(now).remove(0).id;
        assert!(access.detach_browser(&id) && !access.detach_browser(&id));
        assert!(access.admit_browser(&cookie, now).is_none() && access.browsers(now).is_empty());
    }
}
