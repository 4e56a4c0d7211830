//! The list of sessions, from the first 8 KiB of each file, read by several threads; what did not change since comes from
//! the cache.
//!
//! Sorting and filtering are left to whoever shows it.

pub use super::index::IndexMark;
use super::index::{self, Basis, Index, Stamp};
use super::session;
use crate::domain::attention::Broken;
use crate::domain::ids::looks_generated;
use crate::domain::nearest::nearest;
use crate::domain::notice::{Level, Notice};
use crate::domain::prompt_text::is_prompt_name;
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::{At, Mode, SessionId};
use crate::store::format::header::{self, First, Home, Second};
use crate::store::format::layout;
use crate::store::io::{How, PathKind, lines, whole_file};
use crate::store::write::lock;
use crate::store::{Store, StoreError};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The sessions of a workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// All of them, hidden and archived ones included, in no order.
    pub sessions: Vec<SessionMeta>,
    /// Sessions that could not be listed.
    pub notices: Vec<Notice>,
}

/// From so many sessions on, another thread is worth its start.
const PER_THREAD: usize = 64;
/// The same where they only come from the cache.
const DECODED_PER_THREAD: usize = 2000;
/// A header that is longer than this is not looked for in a list.
const HEADER_AT_MOST: u64 = 1 << 20;

/// A row, and its entry for the cache if it does not come from there.
struct CachedRow {
    meta: SessionMeta,
    read: Option<Vec<u8>>,
}

/// Maps the items with `each`, on several threads from `per_thread` of them on.
fn in_shares<T: Sync, R: Send>(items: &[T], per_thread: usize, each: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    let share = items.len().div_ceil(threads).max(per_thread);
    let work = |share: &[T]| -> Vec<R> { share.iter().filter_map(&each).collect() };
    let mut shares = items.chunks(share);
    let own = shares.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let others: Vec<_> =
            shares.map(|share| (share, std::thread::Builder::new().spawn_scoped(scope, || work(share)).ok())).collect();
        let mut made = work(own);
        for (share, thread) in others {
            // A thread that could not be had is no reason to leave its share out.
            made.extend(thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| work(share)));
        }
        made
    })
}

impl Store {
    /// Lists the sessions. A directory that cannot be read has a row that says so; one without any session file, as a
    /// death right after its making leaves it, has none.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        let dir = self.inner.layout.sessions();
        let (ids, strange) = match self.ids() {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return listing,
            Err(error) => {
                let text = format!("Can't list the sessions in {}: {error}.", dir.display());
                listing.notices.push(Notice::new(Level::Error, text).hint("Check the directory's permissions."));
                return listing;
            }
        };
        if !strange.is_empty() {
            let text = format!("Not listed (invalid session ids): {}.", strange.join(", "));
            let hint = format!("Rename them in {}: letters, digits, '_' and '-'.", dir.display());
            listing.notices.push(Notice::new(Level::Warning, text).hint(hint));
        }
        let known = Index::read(self);
        let now = self.io().now_ns();
        let rows = in_shares(&ids, PER_THREAD, |id| self.row(id, &known, now));
        self.renew(&known, &rows);
        listing.sessions = rows.into_iter().map(|row| self.as_it_runs(row.meta)).collect();
        listing
    }

    /// A process writes the session, or could not be asked.
    #[must_use]
    pub fn is_held(&self, id: &SessionId) -> bool {
        let lock = self.inner.layout.session(id).join(layout::LOCK);
        self.io().stat(&lock).is_ok() && !lock::is_free(self.io(), &lock)
    }

    /// The session of that id or name. Of two with one name, as a restored one may have, the older one.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<SessionId> {
        if let Ok(id) = SessionId::parse(name)
            && self.session_dir(&id).is_dir()
        {
            return Some(id);
        }
        let all = self.list().sessions;
        let named = all.into_iter().filter(|meta| meta.names.alias.as_deref() == Some(name));
        named.min_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id))).map(|meta| meta.id)
    }

    /// Checks that a session may have a name: it can be one, is no id, and no other session has it.
    ///
    /// # Errors
    /// A sentence.
    pub fn may_be_named(&self, session: &SessionId, name: &str) -> Result<(), String> {
        if !is_prompt_name(name) {
            return Err(format!("invalid session name {name:?}: use letters, digits, '.', '_' and '-', no dot first"));
        }
        if looks_generated(name) {
            return Err(format!("{name} has the form of an id"));
        }
        match self.named(name).filter(|other| other != session) {
            Some(other) => Err(format!("{other} has the name {name:?}")),
            None => Ok(()),
        }
    }

    /// Sentence on an id or name of no session, with the nearest one.
    #[must_use]
    pub fn unknown_session(&self, word: &str) -> String {
        let near = self.nearest_session(word).map_or_else(String::new, |near| format!(". Did you mean {near}?"));
        format!("no session {word} in workspace {}{near}", self.workspace_name())
    }

    /// Name or id of a session that is nearest to a word.
    #[must_use]
    pub fn nearest_session(&self, word: &str) -> Option<String> {
        let all = self.list().sessions;
        let names: Vec<String> =
            all.into_iter().flat_map(|meta| [meta.names.alias, Some(meta.id.to_string())]).flatten().collect();
        nearest(word, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// The sessions as the last [`Store::list`] left them in its cache, which is all that is read: for a first screen.
    /// `None` where there is no such cache. [`Store::changed_since`] or a list has to follow.
    pub fn cached(&self) -> Option<(Vec<SessionMeta>, IndexMark)> {
        let known = Index::read(self);
        let entries = known.entries();
        if entries.is_empty() {
            return None;
        }
        let sessions = in_shares(&entries, DECODED_PER_THREAD, |entry| index::decode(entry, |_, _| true));
        Some((sessions.into_iter().map(|meta| self.as_it_runs(meta)).collect(), known.mark()))
    }

    /// The sessions that are new or other than [`Store::cached`] gave them; whoever has those need not have all of them
    /// twice. `None` where that does not tell all, as when one is gone: a list has to follow then.
    pub fn changed_since(&self, mark: IndexMark) -> Option<Vec<SessionMeta>> {
        let known = Index::read(self);
        let (ids, strange) = self.ids().ok()?;
        if known.mark() != mark || !strange.is_empty() {
            return None;
        }
        let now = self.io().now_ns();
        let same = AtomicUsize::new(0);
        let rows = in_shares(&ids, PER_THREAD, |id| {
            if known.entry(id).and_then(index::basis).is_some_and(|basis| self.holds(id, &basis)) {
                same.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            self.read_row(id, now)
        });
        let still = rows.iter().filter(|row| known.entry(&row.meta.id).is_some()).count();
        if same.into_inner() + still < known.len() {
            return None;
        }
        let news: Vec<CachedRow> =
            rows.into_iter().filter(|row| known.is_news(&row.meta.id, row.read.as_deref())).collect();
        if !news.is_empty() {
            let read = news.iter().filter_map(|row| Some((row.meta.id.as_str().as_bytes(), row.read.as_deref()?)));
            // What comes last for an id stays.
            self.save(known.pairs().chain(read).collect());
        }
        Some(news.into_iter().map(|row| self.as_it_runs(row.meta)).collect())
    }

    /// The row with the turn that another process runs in it. While a turn runs the header has it as interrupted, so only
    /// those are looked at more closely.
    fn as_it_runs(&self, mut meta: SessionMeta) -> SessionMeta {
        if meta.unfinished.as_ref().is_some_and(|last| last.how == Broken::Interrupted) {
            let dir = self.inner.layout.session(&meta.id);
            let lock = dir.join(layout::LOCK);
            if self.is_held(&meta.id) && self.live(&dir).is_ok_and(|(live, _)| live.turn) {
                meta.activity = Activity::Running(meta.used);
                meta.held_by = lock::last_holder(self.io(), &lock).map(|holder| holder.words());
            }
        }
        meta
    }

    /// The names in the directory of sessions: ids, and in order those of directories that cannot be sessions.
    pub(in crate::store) fn ids(&self) -> std::io::Result<(Vec<SessionId>, Vec<String>)> {
        let dir = self.inner.layout.sessions();
        if self.io().lstat(&dir).is_ok_and(|(kind, _)| kind == PathKind::Link) {
            return Err(std::io::Error::other("it is a link, which lisle does not follow to its own files"));
        }
        let (mut ids, mut strange) = (Vec::new(), Vec::new());
        for name in self.io().list(&dir)? {
            match name.to_str().map(SessionId::parse) {
                Some(Ok(id)) => ids.push(id),
                // A session that is being made, or that was left by a death in its making or unmaking.
                _ if name.to_str().is_some_and(layout::is_temp) => {}
                // Files of other programs lie here too; only a directory could be a session.
                _ if self.io().stat(&dir.join(&name)).is_ok_and(|stat| stat.is_dir) => {
                    strange.push(name.to_string_lossy().into_owned());
                }
                _ => {}
            }
        }
        strange.sort();
        Ok((ids, strange))
    }

    fn holds(&self, id: &SessionId, basis: &Basis) -> bool {
        basis.holds(self.io(), &self.inner.layout.session(id))
    }

    /// One row, from the cache if it is as it was; `None` when the directory is no session.
    fn row(&self, id: &SessionId, known: &Index, now: i64) -> Option<CachedRow> {
        if let Some(meta) = known.entry(id).and_then(|entry| index::decode(entry, |id, basis| self.holds(id, basis))) {
            return Some(CachedRow { meta, read: None });
        }
        self.read_row(id, now)
    }

    /// One row, from its files.
    fn read_row(&self, id: &SessionId, now: i64) -> Option<CachedRow> {
        let (meta, basis) = self.list_row(id)?;
        let entry = index::encode(basis.read_at(now), &meta);
        Some(CachedRow { meta, read: Some(entry) })
    }

    /// Writes the cache if it says something else than the rows, which are all there are.
    fn renew(&self, known: &Index, rows: &[CachedRow]) {
        if rows.len() == known.len() && !rows.iter().any(|row| known.is_news(&row.meta.id, row.read.as_deref())) {
            return;
        }
        let entries = rows.iter().filter_map(|row| {
            let entry = row.read.as_deref().or_else(|| known.entry(&row.meta.id))?;
            Some((row.meta.id.as_str().as_bytes(), entry))
        });
        self.save(entries.collect());
    }

    fn save(&self, entries: BTreeMap<&[u8], &[u8]>) {
        if let Err(error) = index::write(self, entries.into_values()) {
            // The list is right without it, only slower the next time.
            tracing::debug!(%error, "the cache of the list was not saved");
        }
    }

    /// One row of the list as its files have it, and what it was made of; `None` when the directory is no session.
    fn list_row(&self, id: &SessionId) -> Option<(SessionMeta, Basis)> {
        let dir = self.inner.layout.session(id);
        // Looked at before it is read: what changes in between is newer than the row, and seen the next time.
        let stat = self.io().stat(&dir.join(layout::SESSION)).ok();
        let first = self.first_bytes(&dir.join(layout::SESSION));
        if let Ok(First::Header { fields, .. }) = &first {
            let modified = At(stat.map_or(0, |stat| stat.modified));
            let mut meta = header::decode(fields, id, Home { dir: &dir, home: &self.inner.home }, modified);
            if !fields.has("messageCount") && stat.is_some_and(|stat| stat.len <= HEADER_AT_MOST) {
                self.count(id, &dir, &mut meta);
            }
            return Some((meta, stat.map_or(Basis::Passing, |stat| Basis::Line(stat.into()))));
        }
        let basis = match Basis::files(self.io(), &dir) {
            Some(files) if files[0] == stat.map(Stamp::from) => Basis::Files(files),
            // Changed since its first bytes were read.
            _ => Basis::Passing,
        };
        let (meta, sure) = match first {
            Ok(_) => match self.second(id, &dir) {
                Ok(Some(meta)) => (meta, true),
                Ok(None) => self.whole_row(id, "Line 1 is not a valid header."),
                Err(_) => (self.whole_row(id, "Line 1 is not a valid header.").0, false),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Gone, or another program is between its unlink and its rename.
                let theirs = self.io().stat(&dir.join(layout::THEIR_TEMP)).is_ok();
                let ours = self.io().stat(&dir.join(layout::HEADER)).is_ok();
                if !theirs && !ours {
                    return None;
                }
                self.whole_row(id, "session.jsonl is missing.")
            }
            // A file beside the sessions.
            Err(error) if error.kind() == ErrorKind::NotADirectory => return None,
            Err(error) => {
                let mut meta = SessionMeta::new(id.clone(), At(0), Mode::default(), dir);
                meta.odd.push(format!("Can't read session.jsonl: {error}."));
                return Some((meta, Basis::Passing));
            }
        };
        // What could not be read this time may be read the next time, with the files as they are.
        Some((meta, if sure { basis } else { Basis::Passing }))
    }

    /// Adds what another program did not count: the number of the rows, the preview, the times.
    fn count(&self, id: &SessionId, dir: &Path, meta: &mut SessionMeta) {
        let reader = session::SessionReader { io: self.io(), id, dir: dir.to_owned(), home: &self.inner.home };
        // What cannot be read now is as the header has it.
        if let Ok(found) = session::find(self.io(), dir)
            && let Ok(counted) = reader.up_to_date(&found, meta)
        {
            counted.put_into(meta);
        }
    }

    /// Content of the first bytes.
    pub(in crate::store) fn first_bytes(&self, path: &Path) -> std::io::Result<First> {
        let file = self.io().open(path, How::Read)?;
        Ok(header::first(&lines::range(self.io(), &file, 0, header::SLOT_MAX as u64)?))
    }

    /// The row from `header.json`, where there is one.
    fn second(&self, id: &SessionId, dir: &Path) -> Result<Option<SessionMeta>, StoreError> {
        let bytes = whole_file::read(self.io(), &dir.join(layout::HEADER))?;
        let Some(second) = bytes.and_then(|bytes| Second::parse(&bytes)) else { return Ok(None) };
        let mut meta = header::decode(&second.header, id, Home { dir, home: &self.inner.home }, At(0));
        meta.odd.push("Can't list from the header in line 1; using header.json.".to_owned());
        Ok(Some(meta))
    }

    /// The row of a session whose header takes a longer look, and whether everything could be read for it.
    fn whole_row(&self, id: &SessionId, otherwise: &str) -> (SessionMeta, bool) {
        let dir = self.inner.layout.session(id);
        let large = match self.io().stat(&dir.join(layout::SESSION)) {
            Ok(stat) => Some(stat.len > HEADER_AT_MOST),
            Err(error) if error.kind() == ErrorKind::NotFound => Some(false),
            Err(_) => None,
        };
        if large == Some(false)
            && let Ok(found) = session::find(self.io(), &dir)
        {
            let reader = session::SessionReader { io: self.io(), id, dir: dir.clone(), home: &self.inner.home };
            let mut meta = reader.meta(&found);
            if !found.head.sound {
                let Ok(page) = reader.page(&found, found.len, 200, meta.created) else { return (meta, false) };
                let mut counted = header::Counted { last_message: At(0), ..header::Counted::default() };
                page.rows.iter().for_each(|row| session::count(&mut counted, row));
                meta.preview = counted.preview;
                meta.messages = counted.messages;
                if counted.last_message > At(0) {
                    meta.last_message = counted.last_message;
                }
            }
            return (meta, true);
        }
        let mut meta = SessionMeta::new(id.clone(), At(0), Mode::default(), dir);
        meta.odd.push(otherwise.to_owned());
        (meta, large == Some(true))
    }
}
