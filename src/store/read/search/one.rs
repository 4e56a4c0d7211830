//! Searching one session: title, id and labels as the list has them, the rows of its file, and what is live.

use super::excerpt::excerpt;
use super::lines::LineBuffer;
use super::{MOST_COUNTED, MOST_HITS, SearchState};
use crate::domain::message::{Body, Message, UserText};
use crate::domain::property::{Label, split_label};
use crate::domain::search_hit::{HitIn, RowHit, SessionHits};
use crate::domain::{At, SessionId, SessionMeta, fold, query};
use crate::store::StoreError;
use crate::store::format::header::{self, First};
use crate::store::format::live::Live;
use crate::store::format::{json, layout, portable_paths, row};
use crate::store::io::{How, whole_file};
use crate::store::read::session;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Result for one session.
#[derive(Debug)]
pub(super) struct Scanned {
    /// Hits; `None` if the query does not select it.
    pub hits: Option<SessionHits>,
    /// The file could not be read, or not to its end.
    pub unreadable: bool,
    /// Bytes of it that were looked at.
    pub bytes: u64,
}

/// Buffers for one session after the other.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    search: &'a SearchState<'a>,
    lines: LineBuffer,
    folded: Vec<u8>,
}

/// Hits so far.
struct Tally<'a> {
    search: &'a SearchState<'a>,
    created: At,
    /// The words that were met, as bits.
    bits: u64,
    /// A word was met that must not be there.
    excluded: bool,
    total: u64,
    /// Number of hits that contain all words.
    full: u64,
    /// The best hits, each with the number of its words, in no order.
    kept: Vec<(u32, u64, RowHit)>,
    folded: Vec<u8>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(search: &'a SearchState<'a>) -> Self {
        Self { search, lines: LineBuffer::new(), folded: Vec::new() }
    }

    pub(super) fn session(&mut self, meta: &SessionMeta) -> Scanned {
        let query = self.search.query;
        let mut tally = Tally {
            search: self.search,
            created: meta.created,
            bits: 0,
            excluded: false,
            total: 0,
            full: 0,
            kept: Vec::new(),
            folded: Vec::new(),
        };
        let mut scanned = Scanned { hits: None, unreadable: false, bytes: 0 };
        if !query.asks_for_rows() {
            if self.search.scope.takes_time(meta.last_message) {
                scanned.hits = Some(tally.hits(meta));
            }
            return scanned;
        }
        tally.properties(meta);
        let rows = [HitIn::User, HitIn::Assistant, HitIn::Tool, HitIn::Other];
        if rows.into_iter().any(|place| query.takes_place(place)) && !tally.excluded {
            let dir = self.search.store.session_dir(&meta.id);
            scanned.unreadable = self.rows(&meta.id, &dir, &mut tally, &mut scanned.bytes).is_err();
        }
        let whole = tally.bits == query.all() && !(query.only_rows() && tally.total == 0);
        if whole && !tally.excluded && !self.search.stop.load(Ordering::Relaxed) {
            let by_time = query.words.is_empty() && !query.only_rows();
            if !by_time || self.search.scope.takes_time(meta.last_message) {
                scanned.hits = Some(tally.hits(meta));
            }
        }
        scanned
    }

    fn rows(&mut self, id: &SessionId, dir: &Path, tally: &mut Tally<'_>, bytes: &mut u64) -> Result<(), StoreError> {
        let io = self.search.store.io();
        // Read before the rows, so that a row is not missed that becomes final meanwhile.
        let live = whole_file::read(io, &dir.join(layout::LIVE))?.filter(|bytes| !bytes.is_empty());
        let live = live.map(|bytes| Live::parse(&bytes, dir));
        let lacking = self.lacking(id, dir)?;
        let Some((file, body)) = self.open(dir)? else {
            lacking.iter().for_each(|row| tally.row(row, 0));
            return Ok(());
        };
        let error = |error| StoreError::io("search", &dir.join(layout::SESSION), error);
        let minds_token = self.search.sieve.minds_token(dir);
        // With several words a first look at the bytes tells most sessions that cannot hold all of them.
        if self.search.query.words.len() > 1 && self.search.sifted {
            let mut missing = self.search.query.all() & !tally.bits;
            let mut end = body;
            while missing != 0 {
                let Some(line) = self.lines.next(io, &file).map_err(error)? else { break };
                if self.search.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                end = line.at + line.bytes.len() as u64;
                self.folded.clear();
                fold::fold_into(line.bytes, &mut self.folded);
                missing &= !self.search.sieve.bits(&self.folded, minds_token);
            }
            *bytes = end;
            if missing != 0 && live.is_none() && lacking.is_empty() {
                return Ok(());
            }
            self.lines.begin(body);
        }
        let mut end = body;
        while let Some(line) = self.lines.next(io, &file).map_err(error)? {
            if self.search.stop.load(Ordering::Relaxed) || tally.excluded || tally.is_enough() {
                *bytes = end.max(*bytes);
                return Ok(());
            }
            end = line.at + line.bytes.len() as u64;
            if self.search.sifted {
                self.folded.clear();
                fold::fold_into(line.bytes, &mut self.folded);
                if self.search.sieve.bits(&self.folded, minds_token) == 0 {
                    continue;
                }
            }
            if line.part {
                tally.raw(&String::from_utf8_lossy(line.bytes), line.at);
            } else if !line.bytes.iter().all(u8::is_ascii_whitespace) {
                let read = row::read(line.bytes, line.at, 0, dir);
                let single = read.rows.len() == 1;
                for row in &read.rows {
                    match &row.body {
                        Body::Odd(_) if single => tally.odd(row, line.bytes, line.at, dir),
                        _ => tally.row(row, line.at),
                    }
                }
            }
        }
        *bytes = end.max(*bytes);
        for row in &lacking {
            if !tally.excluded && !tally.is_enough() {
                tally.row(row, end);
            }
        }
        match live {
            Some(live) if !tally.excluded => self.live(live, id, dir, (end, &lacking), tally),
            _ => Ok(()),
        }
    }

    /// The session's file and where its rows begin; `None` when it has no file, only a header.
    fn open(&mut self, dir: &Path) -> Result<Option<(File, u64)>, StoreError> {
        let io = self.search.store.io();
        let path = dir.join(layout::SESSION);
        let error = |error| StoreError::io("search", &path, error);
        match io.open(&path, How::Read) {
            Ok(file) => {
                let first = self.lines.first(io, &file).map_err(error)?;
                let body = match header::first(first) {
                    First::Header { end, ended: true, .. } => Some(end),
                    First::Message { start } => Some(start),
                    First::Broken { end, .. } if first.contains(&b'\n') => Some(end),
                    First::Header { .. } | First::Broken { .. } | First::Empty => None,
                };
                if let Some(body) = body {
                    self.lines.skip_to(body as u64);
                    return Ok(Some((file, body as u64)));
                }
            }
            Err(missing) if missing.kind() == ErrorKind::NotFound => {}
            Err(other) => return Err(error(other)),
        }
        // Another program is in the middle of writing, or the header is longer than the first block.
        let found = session::find(io, dir)?;
        self.lines.begin(found.head.body);
        Ok(found.file.map(|file| (file, found.head.body)))
    }

    /// Rows of ours that another program left out of the file.
    fn lacking(&self, id: &SessionId, dir: &Path) -> Result<Vec<Message>, StoreError> {
        let store = self.search.store;
        // Most sessions have none: then there is nothing to compare.
        let ours = dir.join(layout::OURS);
        match store.io().stat(&ours) {
            Ok(_) => {}
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("search", &ours, error)),
        }
        let reader = session::SessionReader { io: store.io(), id, dir: dir.to_owned(), home: &store.inner.home };
        store.lacking_rows(&reader, &session::find(store.io(), dir)?)
    }

    /// Rows that can still change, and what waits in the queue. `end`: so much of the file was searched. `lacking`: these
    /// rows are final though the file lacks them.
    fn live(
        &self,
        live: Live,
        id: &SessionId,
        dir: &Path,
        (end, lacking): (u64, &[Message]),
        tally: &mut Tally<'_>,
    ) -> Result<(), StoreError> {
        let store = self.search.store;
        if let Some(from) = live.rows.iter().map(|entry| entry.from).min() {
            let reader = session::SessionReader { io: store.io(), id, dir: dir.to_owned(), home: &store.inner.home };
            let mut found = session::find(store.io(), dir)?;
            found.len = found.len.min(end);
            let mut open = live.open_rows(&reader.finals(&found, from)?);
            open.retain(|row| lacking.iter().all(|there| there.id != row.id));
            open.iter().for_each(|row| tally.row(row, end));
        }
        for queued in live.queue {
            let body = Body::User(UserText::with(queued.text, queued.attachments));
            tally.row(&Message::new(queued.id, queued.at, body), end);
        }
        Ok(())
    }
}

impl Tally<'_> {
    /// Title, id and labels.
    fn properties(&mut self, meta: &SessionMeta) {
        let search = self.search;
        if search.query.only_rows() || !search.scope.takes_time(meta.last_message) {
            return;
        }
        let names = meta.labels.iter().map(|entry| {
            let (id, value) = split_label(entry);
            match (label_name(&search.properties.labels, id), value) {
                (Some(name), Some(value)) => format!("{name}: {value}"),
                (Some(name), None) => name.to_owned(),
                (None, _) => String::new(),
            }
        });
        let names: Vec<String> = names.collect();
        let labels = meta.labels.iter().zip(&names);
        let labels = labels.map(|(entry, name)| (HitIn::Label, vec![name.as_str(), entry.as_str()]));
        let title = [(HitIn::Title, vec![meta.title.as_str()]), (HitIn::Id, vec![meta.id.as_str()])];
        // The words of an id are chance: somebody who types one begins at its beginning.
        let is_meant = |place| place != HitIn::Id || search.query.begins_a_part_of(meta.id.as_str());
        for (place, texts) in title.into_iter().chain(labels) {
            if search.query.takes_place(place) && is_meant(place) {
                self.texts(&texts, Where { place, row: None, at: 0, when: meta.last_message });
            }
        }
    }

    fn row(&mut self, row: &Message, at: u64) {
        self.row_with(row, at, |row| query::texts(&row.body));
    }

    /// A line that is shown as it is: its texts where it is JSON of any sort, else all of it.
    fn odd(&mut self, row: &Message, line: &[u8], at: u64, dir: &Path) {
        let raw = String::from_utf8_lossy(line);
        let value = json::value_of(&portable_paths::expand(raw.trim(), dir));
        self.row_with(row, at, |_| {
            let mut texts = Vec::new();
            query::leaves(&value, &mut |_, text| texts.push(text));
            texts
        });
    }

    /// A part of a line that is too long to be parsed.
    fn raw(&mut self, text: &str, at: u64) {
        let what = "a line too long to read".to_owned();
        let odd = crate::domain::message::Odd { what, line: 0, raw: String::new() };
        let id = crate::domain::MessageId::new(format!("line-{at}"));
        self.row_with(&Message::new(id, At(0), Body::Odd(odd)), at, |_| vec![text]);
    }

    fn row_with<'t>(&mut self, row: &'t Message, at: u64, texts: impl FnOnce(&'t Message) -> Vec<&'t str>) {
        let when = if row.at == At(0) { self.created } else { row.at };
        if self.search.query.takes_row(row) && self.search.scope.takes_time(when) {
            let place = query::place_of(&row.body);
            self.texts(&texts(row), Where { place, row: Some(row), at, when });
        }
    }

    fn texts(&mut self, texts: &[&str], place: Where<'_>) {
        let query = self.search.query;
        let (mut bits, mut best) = (0, (0, 0));
        for (n, text) in texts.iter().enumerate() {
            self.folded.clear();
            fold::fold_into(text.as_bytes(), &mut self.folded);
            let (these, excluded) = query.holds(&self.folded);
            if excluded {
                self.excluded = true;
                return;
            }
            if these.count_ones() > best.0 {
                best = (these.count_ones(), n);
            }
            bits |= these;
            if bits == query.all() && query.without.is_empty() && !query.words.is_empty() {
                break;
            }
        }
        if bits == 0 && !(query.words.is_empty() && query.only_rows()) {
            return;
        }
        self.bits |= bits;
        self.total += 1;
        self.full += u64::from(bits == query.all());
        let words = bits.count_ones();
        if self.kept.len() == MOST_HITS {
            // The last one of those with the fewest words gives way to one with more.
            let worst = self.kept.iter().enumerate().min_by_key(|(_, (words, n, _))| (*words, std::cmp::Reverse(*n)));
            match worst.map(|(at, (words, ..))| (at, *words)) {
                Some((at, fewest)) if fewest < words => drop(self.kept.swap_remove(at)),
                _ => return,
            }
        }
        let first = texts.iter().position(|text| !text.trim().is_empty()).unwrap_or(0);
        let text = texts.get(if words > 0 { best.1 } else { first }).copied().unwrap_or_default();
        let (line, marks) = excerpt(query, text);
        let row = place.row.map(|row| row.id.clone());
        let hit = RowHit { place: place.place, row, at: place.at, when: place.when, line, marks };
        self.kept.push((words, self.total, hit));
    }

    /// More rows would change nothing that is shown.
    fn is_enough(&self) -> bool {
        self.full >= MOST_COUNTED && self.search.query.without.is_empty()
    }

    fn hits(mut self, meta: &SessionMeta) -> SessionHits {
        self.kept.sort_by_key(|(words, n, _)| (std::cmp::Reverse(*words), *n));
        SessionHits {
            session: meta.id.clone(),
            title: meta.shown_title().to_owned(),
            last_message: meta.last_message,
            hits: self.kept.into_iter().map(|(.., hit)| hit).collect(),
            total: self.total,
        }
    }
}

struct Where<'a> {
    place: HitIn,
    row: Option<&'a Message>,
    at: u64,
    when: At,
}

fn label_name<'a>(labels: &'a [Label], id: &str) -> Option<&'a str> {
    labels.iter().find_map(
        |label| {
            if label.id == id { Some(label.name.as_str()) } else { label_name(&label.children, id) }
        },
    )
}
