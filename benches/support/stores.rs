//! Workspaces of any size, as other programs and accidents leave them; the same seed makes the same bytes. Used by benchmarks
//! and tests, each of which uses only a part.
#![allow(dead_code, missing_docs, clippy::unwrap_used, reason = "a part of programs that measure and test")]

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// The time of the first session, in milliseconds.
pub const FIRST: i64 = 1_780_000_000_000;
const MINUTE: i64 = 60_000;

/// What is made.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// All sessions.
    pub sessions: usize,
    /// So many of them damaged, in every way in turn.
    pub damaged: usize,
    /// Rows in each.
    pub rows: usize,
    /// Line 1 has 4,096 bytes, as lisle writes it; else it is as long as it is.
    pub padded: bool,
    /// Other seeds, other words.
    pub seed: u64,
}

/// Fills `workspace` and says which sessions are damaged, and how.
pub fn fill(workspace: &Path, plan: Plan) -> Vec<(String, &'static str)> {
    let sessions = workspace.join("sessions");
    fs::create_dir_all(&sessions).unwrap();
    fs::write(workspace.join("config.json"), json!({"name": "Many", "slug": "many"}).to_string()).unwrap();
    let mut damaged = Vec::new();
    // Spread over the whole, so that every thread and every page meets some.
    let every = plan.sessions.checked_div(plan.damaged).unwrap_or(usize::MAX).max(1);
    for n in 0..plan.sessions {
        let id = id(n);
        let session = Session::make(&id, n, plan);
        let folder = sessions.join(&id);
        fs::create_dir(&folder).unwrap();
        if n % every == 0 && damaged.len() < plan.damaged {
            let (how, damage) = DAMAGES[damaged.len() % DAMAGES.len()];
            for (name, bytes) in damage(&session) {
                fs::write(folder.join(name), bytes).unwrap();
            }
            damaged.push((id, how));
        } else {
            fs::write(folder.join(FILE), session.bytes()).unwrap();
        }
    }
    damaged
}

/// The n-th session's id.
pub fn id(n: usize) -> String {
    const WORDS: [&str; 8] = ["calm", "swift", "amber", "noble", "quiet", "bold", "jade", "warm"];
    const THINGS: [&str; 8] = ["brook", "river", "ridge", "maple", "harbor", "falcon", "comet", "grove"];
    format!("26{:02}{:02}-{}-{}-{n}", n / 28 % 12 + 1, n % 28 + 1, WORDS[n % 8], THINGS[n / 8 % 8])
}

const FILE: &str = "session.jsonl";
const TEMP: &str = "session.jsonl.tmp";

/// A session's lines, each without its newline.
pub struct Session {
    pub id: String,
    pub header: Vec<u8>,
    pub rows: Vec<Vec<u8>>,
}

impl Session {
    /// The n-th session of a plan.
    pub fn make(id: &str, n: usize, plan: Plan) -> Self {
        let mut words = Words::new(plan.seed.wrapping_add(n as u64));
        let start = FIRST + n as i64 * 7 * MINUTE;
        let rows: Vec<Vec<u8>> = (0..plan.rows).map(|row| words.row(row, start, 300).to_string().into()).collect();
        let mut header = words.header(id, n, start, plan.rows).to_string().into_bytes();
        if plan.padded {
            header.resize(4095, b' ');
        }
        Self { id: id.to_owned(), header, rows }
    }

    /// The whole file.
    pub fn bytes(&self) -> Vec<u8> {
        lines(std::iter::once(&self.header).chain(&self.rows))
    }

    fn with_header(&self, header: impl Into<Vec<u8>>) -> Vec<u8> {
        lines(std::iter::once(&header.into()).chain(&self.rows))
    }

    /// The file after its lines were changed; line 0 is the header.
    fn changed(&self, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<u8> {
        let mut all = vec![self.header.clone()];
        all.extend(self.rows.iter().cloned());
        change(&mut all);
        lines(&all)
    }

    /// The header with another value for one key.
    fn keyed(&self, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Vec<u8> {
        let mut header: Value = serde_json::from_slice(&self.header).unwrap();
        change(header.as_object_mut().unwrap());
        header.to_string().into_bytes()
    }
}

fn lines<'a>(lines: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}

fn only(bytes: Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    vec![(FILE, bytes)]
}

fn half(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() / 2]
}

/// The files that a damage leaves.
pub type Damage = fn(&Session) -> Vec<(&'static str, Vec<u8>)>;

/// The ways in which sessions are found damaged. Those whose name begins with `header` or `file` are seen in a list; the
/// others are in the rows, and sessions need three of them.
pub const DAMAGES: [(&str, Damage); 27] = [
    ("file-zero-bytes", |_| only(Vec::new())),
    ("file-nul-all", |s| only(vec![0; s.bytes().len()])),
    ("file-only-tmp", |s| vec![(TEMP, s.bytes())]),
    ("file-only-tmp-torn", |s| vec![(TEMP, half(&s.bytes()).to_vec())]),
    ("header-torn", |s| only(s.with_header(half(s.header.trim_ascii_end())))),
    ("header-array", |s| only(s.with_header("[]"))),
    ("header-null", |s| only(s.with_header("null"))),
    ("header-missing", |s| only(lines(&s.rows))),
    ("header-8193", |s| {
        only(s.with_header(s.keyed(|keys| {
            let more = 8193 - Value::Object(keys.clone()).to_string().len() - r#","draft":"""#.len();
            keys.insert("draft".into(), json!("x".repeat(more)));
        })))
    }),
    ("header-20k", |s| {
        only(s.with_header(s.keyed(|keys| drop(keys.insert("draft".into(), json!("x".repeat(20_000)))))))
    }),
    ("header-wrong-types", |s| {
        only(s.with_header(s.keyed(|keys| {
            keys.insert("name".into(), json!(5));
            keys.insert("labels".into(), json!("bug"));
            keys.insert("createdAt".into(), json!("2026"));
            keys.insert("tokenUsage".into(), json!(null));
        })))
    }),
    ("header-other-id", |s| only(s.with_header(s.keyed(|keys| drop(keys.insert("id".into(), json!("another"))))))),
    ("bom", |s| only([b"\xef\xbb\xbf".to_vec(), s.bytes()].concat())),
    ("leading-blank", |s| only([b"\n".to_vec(), s.bytes()].concat())),
    ("crlf", |s| {
        only(s.bytes().iter().flat_map(|b| if *b == b'\n' { vec![b'\r', b'\n'] } else { vec![*b] }).collect())
    }),
    ("no-final-newline", |s| only(s.bytes().strip_suffix(b"\n").unwrap().to_vec())),
    ("torn-tail", |s| only(s.bytes()[..s.bytes().len() - 40].to_vec())),
    ("torn-tail-utf8", |s| only([s.bytes(), b"{\"id\":\"m\",\"content\":\"\xf0\x9f\x98".to_vec()].concat())),
    ("torn-then-appended", |s| {
        only(s.changed(|all| {
            let torn = half(&all[2]).to_vec();
            let next = all.remove(3);
            all[2] = [torn, next].concat();
        }))
    }),
    ("glued-lines", |s| {
        only(s.changed(|all| {
            let next = all.remove(2);
            all[1].extend(next);
        }))
    }),
    ("twice-header", |s| only(s.changed(|all| all.insert(2, all[0].clone())))),
    ("corrupt-middle", |s| only(s.changed(|all| all[2] = b"@@@ not json @@@".to_vec()))),
    ("corrupt-bytes", |s| {
        only(s.changed(|all| {
            let end = all[2].len() / 2;
            all[2].splice(end..end, [0xff, 0xfe, 0x80]);
        }))
    }),
    ("corrupt-values", |s| {
        only(s.changed(|all| all.extend(["null", "42", "[]", "{}"].map(|v| v.as_bytes().to_vec()))))
    }),
    ("huge-line", |s| only(s.changed(|all| all.insert(2, vec![b'x'; 400_000])))),
    ("nul-tail", |s| only([s.bytes(), vec![0; 4096]].concat())),
    ("deep-nesting", |s| {
        let deep = format!("{}1{}", "[".repeat(600), "]".repeat(600));
        let row = format!(r#"{{"id":"deep","content":"x","timestamp":1,"toolInput":{deep},"type":"tool"}}"#);
        only(s.changed(|all| all.insert(2, row.into_bytes())))
    }),
];

/// One session of `rows` rows and about `bytes` bytes, a few of its rows much longer than the others.
pub fn large(folder: &Path, rows: usize, bytes: u64, seed: u64) {
    fs::create_dir_all(folder).unwrap();
    let id = folder.file_name().unwrap().to_string_lossy().into_owned();
    let mut words = Words::new(seed);
    let mut header = words.header(&id, 0, FIRST, rows).to_string().into_bytes();
    header.resize(4095, b' ');
    header.push(b'\n');
    let mut file = BufWriter::with_capacity(1 << 20, File::create(folder.join(FILE)).unwrap());
    file.write_all(&header).unwrap();
    let mut written = header.len() as u64;
    for row in 0..rows {
        // What is left, shared among the rows that are left; less what a row has beside its text.
        let share = bytes.saturating_sub(written) / (rows - row) as u64;
        let length = usize::try_from(share.saturating_sub(200)).unwrap().min(4 << 20);
        let length = if row % 1000 == 999 { length.max(1) * 40 } else { length };
        let line = format!("{}\n", words.row(row, FIRST, length));
        file.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
    }
    file.flush().unwrap();
}

/// Words from a seed.
pub struct Words(u64);

const VOCABULARY: [&str; 32] = [
    "the", "parser", "reads", "a", "line", "and", "then", "returns", "an", "error", "when", "cache", "is", "stale",
    "window", "buffer", "of", "test", "fails", "on", "redirect", "because", "query", "string", "was", "dropped", "we",
    "should", "keep", "session", "naïve", "→",
];

impl Words {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    /// The next number (SplitMix64, so that no library's version changes the bytes).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// About `length` bytes of words.
    pub fn text(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 12);
        let mut bits = 0u64;
        while text.len() < length {
            if bits < 32 {
                bits = self.next() | 1 << 63;
            }
            text.push_str(VOCABULARY[(bits & 31) as usize]);
            text.push(if bits & 0x1e0 == 0 { '\n' } else { ' ' });
            bits >>= 5;
        }
        text
    }

    /// A row as Craft Agents writes it: `type` stands last.
    pub fn row(&mut self, n: usize, start: i64, length: usize) -> Value {
        let at = start + n as i64 * 1000;
        let id = format!("msg-{at}-{:06x}", self.below(1 << 24));
        let turn = format!("turn_{}", n / 5);
        match n % 5 {
            0 => json!({"id": id, "content": self.text(length / 4), "timestamp": at, "type": "user"}),
            1 => json!({
                "id": id, "content": self.text(length / 2), "timestamp": at, "isIntermediate": true, "turnId": turn,
                "type": "assistant",
            }),
            2 | 3 => json!({
                "id": id, "content": "Running Bash...", "timestamp": at, "toolName": "Bash",
                "toolUseId": format!("toolu_{n}"), "toolInput": {"command": format!("cargo test case_{n}")},
                "toolStatus": "completed", "isError": false, "toolResult": self.text(length * 7 / 4), "turnId": turn,
                "toolDuration": 10 + self.below(900), "type": "tool",
            }),
            _ => json!({
                "id": id, "content": self.text(length * 3 / 4), "timestamp": at, "turnId": turn, "type": "assistant",
            }),
        }
    }

    /// A header with the keys that Craft Agents writes.
    pub fn header(&mut self, id: &str, n: usize, start: i64, rows: usize) -> Value {
        const STATUS: [&str; 5] = ["todo", "in-progress", "needs-review", "done", "cancelled"];
        let end = start + rows as i64 * 1000;
        let mut header = json!({
            "id": id, "workspaceRootPath": "~/workspaces/many", "sdkCwd": format!("~/code/project-{}", n % 20),
            "workingDirectory": format!("~/code/project-{}", n % 20), "createdAt": start, "lastUsedAt": end,
            "lastMessageAt": end, "name": self.text(30).trim(), "sessionStatus": STATUS[n % 5],
            "permissionMode": "ask", "model": "claude-sonnet", "llmConnection": "main", "connectionLocked": true,
            "thinkingLevel": "medium", "messageCount": rows, "lastMessageRole": "assistant",
            "preview": self.text(140).replace('\n', " ").trim(),
            "tokenUsage": {"inputTokens": 88_000, "outputTokens": 4_100, "totalTokens": 92_100,
                "contextTokens": 88_000, "costUsd": 0.3255, "cacheReadTokens": 70_400,
                "cacheCreationTokens": 8_800, "contextWindow": 200_000},
        });
        let keys = header.as_object_mut().unwrap();
        if n.is_multiple_of(3) {
            keys.insert("labels".into(), json!(["code", format!("priority::{}", n % 4)]));
        }
        if n.is_multiple_of(11) {
            keys.insert("isFlagged".into(), json!(true));
        }
        if n.is_multiple_of(7) {
            keys.insert("isArchived".into(), json!(true));
            keys.insert("archivedAt".into(), json!(end));
        }
        header
    }
}
