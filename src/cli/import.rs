//! `lisle sessions import`: one session, a folder of many, or the place where a program keeps its own. Several threads
//! import, this one shows how far they are.

use super::args::Import;
use super::definitions::now;
use super::exit::Exit;
use super::output::{complain, print_json, say};
use super::sessions::size;
use crate::domain::{Mode, sanitise};
use crate::runtime::environment::history_places;
use crate::runtime::setup::Bootstrap;
use crate::store::{
    Histories, HistoryItem, HistoryKind, ImportRun, Imported, Reimport, StoreError, histories, histories_in,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Threads that import: they wait for the disk as much as they work.
const THREADS: usize = 4;
/// So many skipped sessions are named; the report has all of them.
const NAMED: usize = 10;

pub(super) fn run(bootstrap: &Bootstrap, args: &Import) -> Exit {
    if args.scan {
        return scan(args);
    }
    let Some(path) = &args.path else {
        let Some(kind) = args.from else { return Exit::Usage };
        let found = histories_in(&history_places(), kind);
        if found.items.is_empty() {
            let places = places(kind).iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
            complain(&format!("lisle: no sessions of {} in {places}. Name a folder.", kind.name()));
            return Exit::Failed;
        }
        return many(bootstrap, args, &found);
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    if args.from.is_none() && !path.is_dir() && !is_database(&path) {
        return one(bootstrap, args, &path);
    }
    if args.from.is_none() && path.join("session.jsonl").symlink_metadata().is_ok() {
        return one(bootstrap, args, &path);
    }
    if let Err(error) = path.symlink_metadata() {
        complain(&format!("lisle: can't import {}: {error}.", path.display()));
        return Exit::Failed;
    }
    let found = histories(&path, args.from);
    if found.items.is_empty() {
        found.passed.iter().for_each(|(path, why)| complain(&format!("lisle: {}: {why}.", path.display())));
        complain(&format!("lisle: no sessions in {}.", path.display()));
        return Exit::Failed;
    }
    many(bootstrap, args, &found)
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "db")
}

/// Folders of a program that are there.
fn places(kind: HistoryKind) -> Vec<PathBuf> {
    history_places().into_iter().filter(|(of, _)| *of == kind).map(|(_, place)| place).collect()
}

/// One session: its id on stdout.
fn one(bootstrap: &Bootstrap, args: &Import, path: &Path) -> Exit {
    let at_most = bootstrap.wanted.mode.unwrap_or(Mode::Ask);
    match bootstrap.store.import(path, Path::new(""), at_most, now()) {
        Ok(imported) => {
            let again = imported.again.map(|again| again.words());
            for sentence in again.iter().chain(&imported.left) {
                complain(&format!("lisle: {sentence}"));
            }
            if args.json {
                return print_json(&imported.meta);
            }
            say(&format!("{}\n", imported.meta.id));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: import failed: {error}."));
            Exit::Failed
        }
    }
}

/// A place of a program, as `--scan` shows it.
#[derive(Serialize)]
struct ScanLine {
    kind: &'static str,
    program: &'static str,
    path: PathBuf,
    sessions: usize,
    bytes: u64,
    /// Sources that cannot be read or are passed over.
    passed: Vec<String>,
}

fn scan(args: &Import) -> Exit {
    let kinds = HistoryKind::ALL.into_iter().filter(|kind| args.from.is_none_or(|wanted| wanted == *kind));
    let all = kinds.flat_map(|kind| {
        let named = args.path.as_ref().map(|path| vec![path.clone()]);
        named.unwrap_or_else(|| places(kind)).into_iter().map(move |path| (kind, path))
    });
    let lines = all.filter(|(_, path)| path.symlink_metadata().is_ok()).map(|(kind, path)| {
        let found = histories(&path, Some(kind));
        let passed = found.passed.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
        let (sessions, bytes) = (found.items.len(), found.bytes());
        ScanLine { kind: kind.word(), program: kind.name(), path, sessions, bytes, passed }
    });
    let lines: Vec<ScanLine> = lines.filter(|line| line.sessions > 0 || !line.passed.is_empty()).collect();
    if args.json {
        return print_json(&lines);
    }
    if lines.is_empty() {
        complain("lisle: no sessions of other programs found.");
        return Exit::Done;
    }
    for line in &lines {
        let path = sanitise::clean_line(&line.path.to_string_lossy()).into_owned();
        say(&format!("{:<14} {:>6}  {:>9}  {path}\n", line.kind, line.sessions, size(line.bytes)));
        line.passed.iter().for_each(|passed| complain(&format!("lisle: {passed}")));
    }
    Exit::Done
}

/// ImportReport on many sessions.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ImportReport {
    imported: Vec<ReportLine>,
    updated: Vec<ReportLine>,
    unchanged: usize,
    /// Nothing to import: no messages, or a format that is none.
    skipped: Vec<ReportLine>,
    failed: Vec<ReportLine>,
    bytes: u64,
    /// Stopped before its end, because the disk is full.
    incomplete: bool,
}

#[derive(Serialize)]
struct ReportLine {
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl ImportReport {
    fn add(&mut self, item: &HistoryItem, done: Result<Imported, StoreError>) {
        let line = |session: Option<String>, notes| ReportLine { source: item.words(), session, notes };
        self.bytes += item.bytes;
        match done {
            Ok(Imported { again: Some(Reimport::Added(_, 0)), .. }) => self.unchanged += 1,
            Ok(Imported { meta, left, again, .. }) => {
                let words = again.as_ref().map(Reimport::words);
                let line = line(Some(meta.id.to_string()), words.into_iter().chain(left).collect());
                match again {
                    Some(Reimport::Added(..) | Reimport::Anew(_)) => self.updated.push(line),
                    Some(Reimport::Another(_)) | None => self.imported.push(line),
                }
            }
            Err(StoreError::NoImport { why, .. }) => self.skipped.push(line(None, vec![why.to_owned()])),
            Err(error) => self.failed.push(line(None, vec![error.to_string()])),
        }
    }

    fn sentence(&self) -> String {
        let count = |count: usize, words: &str| (count > 0).then(|| format!("{count} {words}"));
        let parts = [
            Some(format!("{} imported", self.imported.len())),
            count(self.updated.len(), "updated"),
            count(self.unchanged, "unchanged"),
            count(self.skipped.len(), "skipped"),
            count(self.failed.len(), "failed"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// True for an error that every other session would have too.
fn is_full(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. }
        if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem))
}

fn many(bootstrap: &Bootstrap, args: &Import, found: &Histories) -> Exit {
    let at_most = bootstrap.wanted.mode.unwrap_or(Mode::Ask);
    let run = match bootstrap.store.import_run(at_most, now()) {
        Ok(run) => run,
        Err(error) => {
            complain(&format!("lisle: import failed: {error}."));
            return Exit::Failed;
        }
    };
    let mut report = ImportReport::default();
    for (path, why) in &found.passed {
        let source = sanitise::clean_line(&path.to_string_lossy()).into_owned();
        report.skipped.push(ReportLine { source, session: None, notes: vec![why.clone()] });
    }
    import_all(&run, &found.items, args.from, &mut report, &bar(found));
    let kept = keep(bootstrap, &report);
    let is_failed = !report.failed.is_empty() || report.incomplete;
    if args.json {
        let printed = print_json(&report);
        return if is_failed { Exit::Failed } else { printed };
    }
    for line in report.imported.iter().chain(&report.updated) {
        line.session.iter().for_each(|id| _ = say(&format!("{id}\n")));
    }
    for line in report.failed.iter().chain(&report.skipped).take(NAMED) {
        complain(&format!("lisle: {}: {}", line.source, line.notes.join(" ")));
    }
    complain(&format!("lisle: {} ({}).", report.sentence(), size(report.bytes)));
    if report.incomplete {
        complain("lisle: stopped, because the disk is full. Free some space and import again: it goes on there.");
    }
    if let Some(kept) = kept {
        complain(&format!("lisle: report: {}", kept.display()));
    }
    if is_failed { Exit::Failed } else { Exit::Done }
}

/// Imports with some threads, and takes in what they did as it comes.
fn import_all(
    run: &ImportRun<'_>,
    items: &[HistoryItem],
    wanted: Option<HistoryKind>,
    report: &mut ImportReport,
    bar: &ProgressBar,
) {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, THREADS).min(items.len());
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let done = done.clone();
            let (next, stopped) = (&next, &stopped);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed)
                    && let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let imported = run.import(item, wanted);
                    if imported.as_ref().is_err_and(is_full) {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    if done.send((item, imported)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        for (count, (item, imported)) in results.iter().enumerate() {
            report.add(item, imported);
            bar.inc(item.bytes);
            bar.set_message(format!("{} of {} sessions", count + 1, items.len()));
        }
    });
    report.incomplete = stopped.load(Ordering::Relaxed);
    bar.finish_and_clear();
}

/// The bar on a terminal; elsewhere it is not shown.
fn bar(found: &Histories) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr_with_hz(5),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(found.bytes()), target);
    let style = ProgressStyle::with_template("{bar:24} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left  {msg}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("━━ "));
    }
    bar.set_message(format!("{} sessions", found.items.len()));
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// Keeps the report among lisle's files; `None` if it cannot be written.
fn keep(bootstrap: &Bootstrap, report: &ImportReport) -> Option<PathBuf> {
    let dir = bootstrap.paths.data.join("imports");
    let path = dir.join(format!("{}.json", now().0));
    let text = serde_json::to_string_pretty(report).ok()?;
    // Like the sessions, for nobody else to read.
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).ok()?;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
    file.write_all(text.as_bytes()).ok()?;
    Some(path)
}
