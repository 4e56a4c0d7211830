//! The bounds of the store, measured through its library with pages in memory: `cargo bench --bench store`, or with the names
//! of some parts behind `--` (`list open append export`). Every part runs in a process of its own, so that its memory is its
//! own. Prints what was measured beside the bound; judging it is left to the reader, because a machine that is busy with other
//! work measures that work.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program that measures and prints"
)]

#[path = "support/stores.rs"]
mod stores;

use lisle::domain::export::Format;
use lisle::domain::message::{AssistantText, Body, Message, UserText};
use lisle::domain::{At, MessageId, SessionId};
use lisle::local_export::LocalExport;
use lisle::store::{Access, Durability, Options, Store, Writer};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SESSIONS: usize = 10_000;
const LARGE_ROWS: usize = 200_000;
const LARGE_BYTES: u64 = 300_000_000;
/// What the screen asks for when it opens a session.
const SHOWN: usize = 200;

type Part = (&'static str, fn() -> Vec<Row>);
type Row = (String, String, &'static str);

const PARTS: [Part; 4] = [("list", list), ("open", open), ("append", append), ("export", export)];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    if let Some(name) = std::env::var_os("LISLE_BENCH_PART") {
        let part = PARTS.iter().find(|(part, _)| *part == name).expect("a part");
        for (work, measured, bound) in part.1() {
            println!("{work:<58} {measured:>24} {bound:>12}");
        }
        return;
    }
    println!("\n{:<58} {:>24} {:>12}", "work", "measured", "bound");
    println!("{}", "-".repeat(96));
    for (part, _) in PARTS.iter().filter(|(part, _)| asked.is_empty() || asked.iter().any(|name| name == part)) {
        let child = Command::new(std::env::current_exe().unwrap()).env("LISLE_BENCH_PART", part).status().unwrap();
        assert!(child.success(), "{part}: {child}");
    }
}

fn store(root: &Path) -> Store {
    let options = Options { home: "/home/ada".into(), ..Options::new(root.join("work"), root.join("state")) };
    Store::open(options).unwrap()
}

/// 10,000 sessions, 300 of them damaged.
fn list() -> Vec<Row> {
    let root = tempfile::tempdir().unwrap();
    let plan = stores::Plan { sessions: SESSIONS, damaged: 300, rows: 12, padded: true, seed: 1 };
    stores::fill(&root.path().join("work"), plan);
    let store = store(root.path());
    // Files that were just written are not trusted yet.
    std::thread::sleep(Duration::from_millis(2100));
    let before = memory();
    let sessions = store.list().sessions;
    let grown = memory() - before;
    assert_eq!(sessions.len(), SESSIONS);
    drop(sessions);
    let cold = runs(5, || {
        fs::remove_dir_all(root.path().join("state")).unwrap();
        assert_eq!(store.list().sessions.len(), SESSIONS);
    });
    let warm = runs(20, || assert_eq!(store.list().sessions.len(), SESSIONS));
    let cached = runs(20, || assert_eq!(store.cached().unwrap().0.len(), SESSIONS));
    let (_, mark) = store.cached().unwrap();
    let same = runs(20, || assert_eq!(store.changed_since(mark), Some(Vec::new())));
    let index = fs::read_dir(root.path().join("state/index")).unwrap().next().unwrap().unwrap();
    let changed = root.path().join("work/sessions").join(stores::id(SESSIONS - 1)).join("session.jsonl");
    let one = runs(10, || {
        let bytes = fs::read(&changed).unwrap();
        fs::write(&changed, bytes).unwrap();
        assert_eq!(store.list().sessions.len(), SESSIONS);
    });
    vec![
        row("list 10,000 sessions: from the cache alone (median)", cached, "40 ms"),
        row("list 10,000 sessions: whether any changed (median)", same, "-"),
        row("list 10,000 sessions: whole, cache warm (median)", warm, "150 ms"),
        row("list 10,000 sessions: one changed, cache renewed (median)", one, "-"),
        row("list 10,000 sessions: cache deleted (median)", cold, "1500 ms"),
        row("list 10,000 sessions: more memory", format!("{:.1} MB", grown), "-"),
        row("its cache", format!("{:.1} MB", index.metadata().unwrap().len() as f64 / 1e6), "-"),
    ]
}

/// A workspace with one session of 300 MB and 200,000 rows.
fn large() -> (tempfile::TempDir, SessionId) {
    let root = tempfile::tempdir().unwrap();
    stores::fill(&root.path().join("work"), stores::Plan { sessions: 1, damaged: 0, rows: 1, padded: true, seed: 1 });
    let id = "261122-vast-ocean";
    stores::large(&root.path().join("work/sessions").join(id), LARGE_ROWS, LARGE_BYTES, 2);
    (root, SessionId::parse(id).unwrap())
}

/// 200,000 rows, 300 MB, in each format that is read by people or programs.
///
/// Effect of one pass for all shapes of keys: processor time of `sessions export` of 20,000 messages, 8 MB, in the dev profile.
///
/// | Format | before | after |
/// |---|---|---|
/// | md | 6.2 s | 2.9 s |
/// | html | 8.4 s | 5.3 s |
/// | json | 5.2 s | 1.2 s |
/// | text | 5.7 s | 2.2 s |
fn export() -> Vec<Row> {
    let (root, id) = large();
    let store = store(root.path());
    let before = memory();
    let mut out = Vec::new();
    for format in [Format::Markdown, Format::Html, Format::Json, Format::Text] {
        let mut bytes = 0;
        let took = runs(1, || {
            bytes = 0;
            let mut count = |piece: &[u8]| {
                bytes += piece.len();
                Ok(())
            };
            store.export_to(&id, format, &LocalExport, &mut count).unwrap();
        });
        let work = format!("export 200,000 rows: {} ({} MB written)", format.word(), bytes / 1_000_000);
        out.push((work, took, "5 s"));
    }
    let mut rows: Vec<Row> = out.into_iter().map(|(work, took, bound)| row(&work, took, bound)).collect();
    rows.push(row("export 200,000 rows: more memory", format!("{:.1} MB", memory() - before), "20 MB"));
    rows
}

fn open() -> Vec<Row> {
    let (root, id) = large();
    let store = store(root.path());
    let path = store.session_dir(&id).join("session.jsonl");
    let length = fs::metadata(&path).unwrap().len();
    assert!(length.abs_diff(LARGE_BYTES) < LARGE_BYTES / 50, "{length}");
    let before = memory();
    reset_peak();
    let begun = Instant::now();
    let loaded = store.load(&id, SHOWN).unwrap();
    let first = begun.elapsed();
    let (kept, peak) = (memory() - before, peak() - before);
    assert!(!loaded.rows.is_empty() && loaded.rows.len() <= SHOWN);
    let mut cursor = loaded.earlier;
    drop(loaded);
    let again = runs(20, || drop(store.load(&id, SHOWN).unwrap()));
    let pages = runs(50, || {
        let page = store.page(&id, cursor.unwrap(), SHOWN).unwrap();
        cursor = page.earlier;
    });
    let in_small = small(&root);
    let begun = Instant::now();
    reset_peak();
    let before = memory();
    let rows = store.context(&id).unwrap();
    let context = begun.elapsed();
    let highest = self::peak() - before;
    assert_eq!(rows.len(), LARGE_ROWS);
    vec![
        row("open 300 MB, 200,000 rows: last screen, first time", millis(first), "100 ms"),
        row("open 300 MB, 200,000 rows: last screen (median)", again, "100 ms"),
        row("open 300 MB: more memory, kept / at its peak", format!("{kept:.1} / {peak:.1} MB"), "60 MB"),
        row("open 300 MB: a page upward (median)", pages, "-"),
        row("open 4 MB, which is looked through (median)", in_small, "-"),
        row("all rows of 300 MB as a model's context", millis(context), "-"),
        row("all rows of 300 MB: memory at its peak", format!("{highest:.0} MB"), "-"),
    ]
}

/// Opening a session that is just small enough to be looked through whole.
fn small(root: &tempfile::TempDir) -> String {
    let id = SessionId::parse("261122-small-pond").unwrap();
    stores::large(&root.path().join("work/sessions").join(id.as_str()), 2700, 4_000_000, 3);
    let store = store(root.path());
    runs(10, || drop(store.load(&id, SHOWN).unwrap()))
}

fn append() -> Vec<Row> {
    const ROWS: u64 = 2000;
    let (root, id) = large();
    let store = store(root.path());
    let Access::Writer(mut journal) = store.load(&id, SHOWN).unwrap().access else { panic!("held") };
    let mut words = stores::Words::new(5);
    let rows: Vec<Message> = (0..ROWS)
        .map(|n| {
            let text = words.text(1200);
            let body = match n % 2 {
                0 => Body::User(UserText { text, ..UserText::default() }),
                _ => Body::Assistant(AssistantText { text, ..AssistantText::default() }),
            };
            Message::new(MessageId::new(format!("msg-new-{n}")), At(stores::FIRST + n as i64), body)
        })
        .collect();
    // The first one mends the file.
    let begun = Instant::now();
    journal.append(&rows[..1], Durability::Written).unwrap();
    let first = begun.elapsed();
    let used = cpu();
    let begun = Instant::now();
    for row in &rows[1..] {
        journal.append(std::slice::from_ref(row), Durability::Written).unwrap();
    }
    let (wall, used) = (begun.elapsed(), cpu() - used);
    let per_row = |all: Duration| millis(all / u32::try_from(ROWS).unwrap());
    // With header and thread, as sessions are written.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let writer = Writer::spawn(*journal);
    let before = cpu();
    runtime.block_on(async {
        for (n, mut row) in rows.into_iter().enumerate() {
            row.id = MessageId::new(format!("msg-more-{n}"));
            let durability = if n % 10 == 0 { Durability::Synced } else { Durability::Written };
            writer.append(vec![row], durability).await.unwrap();
        }
        writer.turn(false).await.unwrap();
    });
    let by_writer = cpu() - before;
    runtime.block_on(writer.close()).unwrap();
    vec![
        row("append to 300 MB: the first row", millis(first), "-"),
        row("append to 300 MB: CPU a row", per_row(used), "1 ms"),
        row("append to 300 MB: wall a row", per_row(wall), "-"),
        row("append to 300 MB by the writer, every 10th synced: CPU", per_row(by_writer), "1 ms"),
    ]
}

fn row(work: &str, measured: String, bound: &'static str) -> Row {
    (work.to_owned(), measured, bound)
}

fn millis(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1000.0)
}

/// The median time of `count` runs, and their CPU on average: on a busy machine that says more.
fn runs(count: u32, run: impl FnMut()) -> String {
    let before = all_cpu();
    let median = times(count as usize, run);
    format!(
        "{:.1} ms (CPU {:.0})",
        median.as_secs_f64() * 1000.0,
        (all_cpu() - before).as_secs_f64() * 1000.0 / f64::from(count)
    )
}

/// The median time of `count` runs.
fn times(count: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// CPU time of all threads that live.
fn cpu() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let nanos = tasks.map(|task| {
        let text = fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
    });
    Duration::from_nanos(nanos.sum())
}

/// CPU time of all threads that ever were, in steps of 10 ms.
fn all_cpu() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    // Behind the name, which is in brackets: state, and ten more.
    let ticks = text.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2).map(|n| n.parse::<u64>().unwrap());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

/// A line of this process's status, in MB.
fn status(key: &str) -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1000.0
}

/// The memory of this process in MB.
fn memory() -> f64 {
    status("VmRSS:")
}

/// The most that it was since [`reset_peak`], in MB.
fn peak() -> f64 {
    status("VmHWM:")
}

fn reset_peak() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}
