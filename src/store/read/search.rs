//! Searching every session: a parallel scan of the files, without an index.
//!
//! | file | what |
//! |---|---|
//! | this one | the sessions in order, the threads, and what comes of it |
//! | `one` | one session: its properties, its rows, its live rows |
//! | `sieve` | which lines can hold the words, from their bytes |
//! | `lines` | lines of a file in blocks |
//! | `excerpt` | the line that is shown |
//!
//! The newest sessions are searched first, and each is handed over as soon as it is done, so hits come about in the
//! order of the list. Memory is bounded by a block and a line for each thread and by [`MOST_HITS`] hits for each session. What
//! a query means is `domain::query`'s.

mod excerpt;
mod lines;
mod one;
mod sieve;

use crate::domain::property::Properties;
use crate::domain::query::{NamedFilter, Query, QueryWord, Scope};
use crate::domain::search_hit::{Searched, SessionHits};
use crate::domain::{At, SessionMeta};
use crate::store::Store;
use crate::store::format::row;
use one::{Scan, Scanned};
use sieve::Sieve;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Instant;

/// Maximum number of hits of a session that are reported; the others are counted.
pub const MOST_HITS: usize = 50;
/// After so many rows of a session that hold all words, the rest of it is not looked at: who searches for what stands
/// everywhere waits for nothing, and its total is this or more. A query with `-word` looks at everything.
pub const MOST_COUNTED: u64 = 500;
/// More threads than this only fight for the disk.
const THREADS: usize = 8;
/// Results that wait for whoever takes them.
const WAITING: usize = 64;

/// State shared by all sessions of a search.
#[derive(Debug)]
struct SearchState<'a> {
    store: &'a Store,
    query: &'a Query,
    properties: &'a Properties,
    scope: &'a Scope,
    sieve: &'a Sieve,
    stop: &'a AtomicBool,
    /// Lines are parsed only where the sieve lets them pass; off in tests that compare both.
    sifted: bool,
}

impl Store {
    /// Searches all sessions, archived and hidden ones too. `found` gets each session with its hits, about the newest
    /// first, on the thread of the caller; the search goes no faster than it. It ends soon after `stop` becomes true.
    pub fn search(
        &self,
        query: &Query,
        properties: &Properties,
        stop: &AtomicBool,
        found: &mut dyn FnMut(SessionHits),
    ) -> Searched {
        let begun = Instant::now();
        let sessions = self.list().sessions;
        let mut searched = self.search_among(&sessions, query, properties, stop, found);
        searched.millis = millis(begun);
        searched
    }

    /// The same among sessions that were listed before.
    pub fn search_among(
        &self,
        sessions: &[SessionMeta],
        query: &Query,
        properties: &Properties,
        stop: &AtomicBool,
        found: &mut dyn FnMut(SessionHits),
    ) -> Searched {
        self.scan(sessions, query, properties, true, stop, found)
    }

    #[allow(clippy::too_many_arguments, reason = "one more than a search has, for the tests that compare")]
    pub(in crate::store) fn scan(
        &self,
        sessions: &[SessionMeta],
        query: &Query,
        properties: &Properties,
        sifted: bool,
        stop: &AtomicBool,
        found: &mut dyn FnMut(SessionHits),
    ) -> Searched {
        let begun = Instant::now();
        let query = &with_own_tools(query);
        let scope = match Scope::new(query, properties, sessions, now(), &jiff::tz::TimeZone::system()) {
            Ok(scope) => scope,
            Err(error) => return Searched { error: Some(error.to_string()), ..Searched::default() },
        };
        let mut order: Vec<&SessionMeta> = sessions.iter().filter(|meta| scope.takes(meta)).collect();
        order.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| a.id.cmp(&b.id)));
        let sieve = Sieve::new(query);
        let search = SearchState { store: self, query, properties, scope: &scope, sieve: &sieve, stop, sifted };
        let mut searched = Searched::default();
        let next = AtomicUsize::new(0);
        let work = |take: &mut dyn FnMut(Scanned) -> bool| {
            let mut scan = Scan::new(&search);
            while !stop.load(Ordering::Relaxed) {
                let Some(meta) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                if !take(scan.session(meta)) {
                    return;
                }
            }
        };
        let mut take = |scanned: Scanned| {
            searched.sessions += 1;
            searched.unreadable += u64::from(scanned.unreadable);
            searched.bytes += scanned.bytes;
            if let Some(hits) = scanned.hits {
                found(hits);
            }
            true
        };
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(THREADS).min(order.len());
        std::thread::scope(|scope| {
            let (sender, results) = sync_channel(WAITING);
            let mut running = 0;
            for _ in 0..threads {
                let sender = sender.clone();
                let one = || work(&mut move |scanned| sender.send(scanned).is_ok());
                running += usize::from(std::thread::Builder::new().spawn_scoped(scope, one).is_ok());
            }
            drop(sender);
            for scanned in results {
                take(scanned);
            }
            // Threads that could not be had are no reason to leave sessions out.
            if running == 0 {
                work(&mut take);
            }
        });
        searched.stopped = stop.load(Ordering::Relaxed);
        searched.millis = millis(begun);
        searched
    }
}

/// Tools by the names that rows have here, whichever was written.
fn with_own_tools(query: &Query) -> Query {
    let mut query = query.clone();
    for named in &mut query.tools {
        if let Some(own) = row::tool_called(&named.name)
            && let Some(word) = QueryWord::new(own)
        {
            *named = NamedFilter { name: own.to_owned(), word, ..named.clone() };
        }
    }
    query
}

fn now() -> At {
    At(jiff::Timestamp::now().as_millisecond())
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
