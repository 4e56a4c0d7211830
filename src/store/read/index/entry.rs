//! Entries of the list's cache: a row and its basis as bytes, and back.
//!
//! Numbers are little endian; bytes have their length, of 4 bytes, before them. A value that may be missing has a byte
//! before it that says so.

use super::{Basis, Stamp};
use crate::domain::session::{
    Activity, BranchedFrom, SessionMeta, SessionNames, SessionSwitches, SpawnedBy, ThinkingLevel, TitleFrom, Worktree,
};
use crate::domain::usage::Usage;
use crate::domain::{At, CallId, ConnectionName, MessageId, Mode, SessionId};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A row as an entry.
pub fn encode(basis: Basis, meta: &SessionMeta) -> Vec<u8> {
    let mut rest = Vec::with_capacity(512);
    put_bytes(&mut rest, meta.id.as_str().as_bytes());
    match basis {
        Basis::Passing => rest.push(0),
        Basis::Line(stamp) => {
            rest.push(1);
            put_stamp(&mut rest, &stamp);
        }
        Basis::Files(stamps) => {
            rest.push(2);
            stamps.iter().for_each(|stamp| put_some(&mut rest, stamp.as_ref(), put_stamp));
        }
    }
    put_meta(&mut rest, meta);
    let mut out = Vec::with_capacity(rest.len() + 4);
    put_bytes(&mut out, &rest);
    out
}

/// The row of an entry, if what it was made of is what `holds` says; `None` also for what is no entry.
pub fn decode(entry: &[u8], holds: impl FnOnce(&SessionId, &Basis) -> bool) -> Option<SessionMeta> {
    let mut input = In(In(entry).bytes()?);
    let id = SessionId::parse(input.text()?).ok()?;
    let basis = input.basis()?;
    if holds(&id, &basis) { input.meta(id) } else { None }
}

/// Source of the row of an entry; `None` if it is no entry.
pub fn basis(entry: &[u8]) -> Option<Basis> {
    let mut input = In(In(entry).bytes()?);
    input.bytes()?;
    input.basis()
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_time(out: &mut Vec<u8>, time: i64) {
    out.extend_from_slice(&time.to_le_bytes());
}

/// Bytes with their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    // Nothing in a row comes near 4 GiB: it is made of what the list reads, which is less than 2 MiB.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(bytes);
}

fn put_some<T: ?Sized>(out: &mut Vec<u8>, value: Option<&T>, put: impl FnOnce(&mut Vec<u8>, &T)) {
    out.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn put_path(out: &mut Vec<u8>, path: &Path) {
    put_bytes(out, path.as_os_str().as_bytes());
}

fn put_texts(out: &mut Vec<u8>, texts: &[String]) {
    put_number(out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(out, text));
}

fn put_stamp(out: &mut Vec<u8>, stamp: &Stamp) {
    put_number(out, stamp.ino);
    put_number(out, stamp.len);
    put_time(out, stamp.modified_ns);
    put_time(out, stamp.changed_ns);
}

/// The place of `one` among `all`, as one byte.
fn put_place<T: PartialEq>(out: &mut Vec<u8>, all: &[T], one: &T) {
    let at = all.iter().position(|other| other == one).and_then(|at| u8::try_from(at).ok());
    out.push(at.unwrap_or(u8::MAX));
}

const TITLES: [TitleFrom; 3] = [TitleFrom::Provisional, TitleFrom::Generated, TitleFrom::User];

/// Every field is named, so that a new one cannot be forgotten: it goes in here and in [`In::meta`], and `MAGIC` is raised.
fn put_meta(out: &mut Vec<u8>, meta: &SessionMeta) {
    let SessionMeta {
        id: _,
        names: SessionNames { alias, key, program, context: _, strategy: _ },
        title,
        title_from,
        preview,
        status,
        labels,
        flagged,
        archived,
        archived_at,
        hidden,
        unread,
        last_read,
        mode,
        connection,
        connection_locked,
        model,
        thinking,
        cwd,
        first_cwd,
        pending_execution,
        worktree,
        branched_from,
        parent,
        created,
        used,
        last_message,
        messages,
        last_role,
        plan_pending,
        unfinished,
        usage,
        odd,
        // Known of living sessions alone.
        activity: _,
        held_by: _,
        next_cost: _,
        stand_in: _,
        own_model: _,
        switches: _,
        unmapped: _,
    } = meta;
    let Usage {
        input_tokens,
        output_tokens,
        total_tokens,
        context_tokens,
        cost_usd,
        cache_read_tokens,
        cache_creation_tokens,
        context_window,
    } = usage;
    put_some(out, alias.as_deref(), put_text);
    put_some(out, key.as_deref(), put_text);
    put_some(out, program.as_deref(), put_text);
    put_text(out, title);
    put_place(out, &TITLES, title_from);
    put_text(out, preview);
    put_text(out, status);
    put_texts(out, labels);
    for flag in [flagged, archived, hidden, unread, connection_locked, plan_pending] {
        out.push(u8::from(*flag));
    }
    put_some(out, archived_at.as_ref(), |out, at| put_time(out, at.0));
    put_some(out, last_read.as_ref(), |out, id| put_text(out, id.as_str()));
    put_place(out, &Mode::ALL, mode);
    put_some(out, connection.as_ref(), |out, name| put_text(out, name.as_str()));
    put_some(out, model.as_deref(), put_text);
    put_place(out, &ThinkingLevel::ALL, thinking);
    put_path(out, cwd);
    put_some(out, first_cwd.as_deref(), put_path);
    put_some(out, pending_execution.as_ref(), |out, pending| put_text(out, &serde_json::json!(pending).to_string()));
    put_some(out, unfinished.as_ref(), |out, last| put_text(out, &serde_json::json!(last).to_string()));
    put_some(out, worktree.as_ref(), |out, Worktree { repository, path, branch }| {
        put_path(out, repository);
        put_path(out, path);
        put_text(out, branch);
    });
    put_some(out, branched_from.as_ref(), |out, BranchedFrom { session, message }| {
        put_text(out, session.as_str());
        put_text(out, message.as_str());
    });
    put_some(out, parent.as_ref(), |out, SpawnedBy { session, call }| {
        put_text(out, session.as_str());
        put_text(out, call.as_str());
    });
    for time in [created, used, last_message] {
        put_time(out, time.0);
    }
    put_number(out, *messages);
    put_some(out, last_role.as_deref(), put_text);
    for tokens in [input_tokens, output_tokens, total_tokens, context_tokens] {
        put_number(out, *tokens);
    }
    put_number(out, cost_usd.to_bits());
    for tokens in [cache_read_tokens, cache_creation_tokens, context_window] {
        put_some(out, tokens.as_ref(), |out, tokens| put_number(out, *tokens));
    }
    put_texts(out, odd);
}

/// Bytes that are read from their start; every call is `None` when they do not hold what is asked for.
pub struct In<'a>(pub &'a [u8]);

impl<'a> In<'a> {
    /// The next bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn time(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Bytes that have their length before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }

    fn path(&mut self) -> Option<PathBuf> {
        self.bytes().map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)))
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A value that may be missing.
    #[allow(clippy::option_option, reason = "the outer one says that the bytes are sound")]
    fn some<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { take(self).map(Some) } else { Some(None) }
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.number()?;
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(self.text()?);
        }
        Some(texts)
    }

    fn place<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(usize::from(self.byte()?)).copied()
    }

    fn basis(&mut self) -> Option<Basis> {
        match self.byte()? {
            0 => Some(Basis::Passing),
            1 => self.stamp().map(Basis::Line),
            2 => Some(Basis::Files([self.some(Self::stamp)?, self.some(Self::stamp)?, self.some(Self::stamp)?])),
            _ => None,
        }
    }

    fn stamp(&mut self) -> Option<Stamp> {
        Some(Stamp { ino: self.number()?, len: self.number()?, modified_ns: self.time()?, changed_ns: self.time()? })
    }

    // The order is that of `put_meta`.
    fn meta(&mut self, id: SessionId) -> Option<SessionMeta> {
        Some(SessionMeta {
            id,
            names: SessionNames {
                alias: self.some(Self::text)?,
                key: self.some(Self::text)?,
                program: self.some(Self::text)?,
                ..SessionNames::default()
            },
            title: self.text()?,
            title_from: self.place(&TITLES)?,
            preview: self.text()?,
            status: self.text()?,
            labels: self.texts()?,
            flagged: self.flag()?,
            archived: self.flag()?,
            hidden: self.flag()?,
            unread: self.flag()?,
            connection_locked: self.flag()?,
            plan_pending: self.flag()?,
            archived_at: self.some(Self::time)?.map(At),
            last_read: self.some(Self::text)?.map(MessageId::new),
            mode: self.place(&Mode::ALL)?,
            connection: self.some(Self::text)?.map(ConnectionName::new),
            model: self.some(Self::text)?,
            thinking: self.place(&ThinkingLevel::ALL)?,
            cwd: self.path()?,
            first_cwd: self.some(Self::path)?,
            pending_execution: self.some(|input| serde_json::from_str(&input.text()?).ok())?,
            unfinished: self.some(|input| serde_json::from_str(&input.text()?).ok())?,
            worktree: self.some(|input| {
                Some(Worktree { repository: input.path()?, path: input.path()?, branch: input.text()? })
            })?,
            branched_from: self.some(|input| {
                let session = SessionId::parse(input.text()?).ok()?;
                Some(BranchedFrom { session, message: MessageId::new(input.text()?) })
            })?,
            parent: self.some(|input| {
                let session = SessionId::parse(input.text()?).ok()?;
                Some(SpawnedBy { session, call: CallId::new(input.text()?) })
            })?,
            created: self.time().map(At)?,
            used: self.time().map(At)?,
            last_message: self.time().map(At)?,
            messages: self.number()?,
            last_role: self.some(Self::text)?,
            usage: Usage {
                input_tokens: self.number()?,
                output_tokens: self.number()?,
                total_tokens: self.number()?,
                context_tokens: self.number()?,
                cost_usd: self.number().map(f64::from_bits)?,
                cache_read_tokens: self.some(Self::number)?,
                cache_creation_tokens: self.some(Self::number)?,
                context_window: self.some(Self::number)?,
            },
            odd: self.texts()?,
            activity: Activity::Idle,
            held_by: None,
            next_cost: None,
            stand_in: None,
            own_model: None,
            switches: SessionSwitches::default(),
            unmapped: false,
        })
    }
}
