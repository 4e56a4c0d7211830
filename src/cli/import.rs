//! `lisle sessions import`: one session, a folder of many, or the place where a program keeps its own. Several threads
//! import, this one shows how far they are.

use super::args::Import;
use super::definitions::now;
use super::exit::Exit;
use super::import_report::{self, ImportReport, ReportLine};
use super::output::{complain, print_json, say};
use super::sessions::size;
use super::stop_signals::{StopSignal, StopSignals};
use crate::domain::{Mode, sanitise};
use crate::runtime::environment::history_places;
use crate::runtime::setup::Bootstrap;
use crate::store::{
    Histories, HistoryItem, HistoryKind, ImportRun, ImportStop, NotIncluded, SeenHistories, Store, StoreError,
    histories, histories_in,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

/// Threads that import: they wait for the disk as much as they work.
const THREADS: usize = 4;
/// So many skipped sessions are named; the report has all of them.
const NAMED: usize = 10;

pub(super) fn run(bootstrap: &Bootstrap, args: &Import) -> Exit {
    if args.scan {
        return scan(bootstrap, args);
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
    let (stop, stopped) = stop_at_signals(ImportStop::default());
    match bootstrap.store.import_until(path, Path::new(""), (at_most, now()), &stop) {
        Ok(imported) => {
            let again = imported.again.map(|again| again.words());
            for sentence in again.into_iter().chain(imported.left.iter().map(NotIncluded::words)) {
                complain(&format!("lisle: {sentence}"));
            }
            if args.json {
                return print_json(&imported.meta);
            }
            say(&format!("{}\n", imported.meta.id));
            Exit::Done
        }
        Err(StoreError::Stopped) => {
            complain("lisle: stopped, nothing imported.");
            exit_of(&stopped).unwrap_or(Exit::Failed)
        }
        Err(error) => {
            complain(&format!("lisle: import failed: {error}."));
            Exit::Failed
        }
    }
}

/// First signal that asked for the end.
type Stopped = Arc<OnceLock<StopSignal>>;

/// Has signals stop an import in good order; the second one ends the process.
fn stop_at_signals(stop: ImportStop) -> (ImportStop, Stopped) {
    let stopped = Stopped::default();
    let (sign, by) = (stop.clone(), stopped.clone());
    tokio::runtime::Handle::current().spawn(async move {
        let Ok(mut signals) = StopSignals::listen() else { return };
        let first = signals.next().await;
        let _ = by.set(first);
        sign.set();
        let second = signals.next().await;
        std::process::exit(second.exit() as i32);
    });
    (stop, stopped)
}

fn exit_of(stopped: &Stopped) -> Option<Exit> {
    stopped.get().map(|signal| signal.exit())
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

impl ScanLine {
    fn new(kind: HistoryKind, path: PathBuf) -> Self {
        Self { kind: kind.word(), program: kind.name(), path, sessions: 0, bytes: 0, passed: Vec::new() }
    }
}

/// Histories below a path by what is in them, a line for each program: the counts that an import would give.
fn scan_path(store: &Store, path: &Path, wanted: Option<HistoryKind>) -> Vec<ScanLine> {
    let found = histories(path, wanted);
    let mut lines: Vec<ScanLine> = Vec::new();
    let mut passed: Vec<String> = found.passed.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
    let mut seen = SeenHistories::default();
    for item in &found.items {
        match store.look_at_history(item, wanted) {
            Ok(look) => {
                let line = match lines.iter_mut().find(|line| line.kind == look.kind.word()) {
                    Some(line) => line,
                    None => {
                        lines.push(ScanLine::new(look.kind, path.to_owned()));
                        let last = lines.len() - 1;
                        &mut lines[last]
                    }
                };
                // One that does not tell its rows belongs to the conversation that it names.
                line.sessions += usize::from(store.makes_session(item, &look, &mut seen).unwrap_or(false));
                line.bytes += item.bytes;
            }
            Err(StoreError::NoImport { why, .. }) => passed.push(format!("{}: {why}", item.words())),
            Err(error) => passed.push(format!("{}: {error}", item.words())),
        }
    }
    if lines.is_empty()
        && !passed.is_empty()
        && let Some(kind) = wanted
    {
        lines.push(ScanLine::new(kind, path.to_owned()));
    }
    match lines.first_mut() {
        Some(line) => line.passed = passed,
        None => passed.iter().take(NAMED).for_each(|passed| complain(&format!("lisle: {passed}"))),
    }
    lines
}

/// Path from the root without `.`, and without `..` where the folder is there.
fn normalised(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if absolute.components().any(|part| part == std::path::Component::ParentDir) {
        return absolute.canonicalize().unwrap_or(absolute);
    }
    absolute.components().collect()
}

fn scan(bootstrap: &Bootstrap, args: &Import) -> Exit {
    let lines: Vec<ScanLine> = match &args.path {
        Some(path) => {
            let path = &normalised(path);
            if let Err(error) = path.symlink_metadata() {
                complain(&format!("lisle: can't scan {}: {error}.", path.display()));
                return Exit::Failed;
            }
            scan_path(&bootstrap.store, path, args.from)
        }
        None => {
            let kinds = HistoryKind::ALL.into_iter().filter(|kind| args.from.is_none_or(|wanted| wanted == *kind));
            let all = kinds.flat_map(|kind| places(kind).into_iter().map(move |path| (kind, path)));
            let there = all.filter(|(_, path)| path.symlink_metadata().is_ok());
            there.flat_map(|(kind, path)| scan_path(&bootstrap.store, &path, Some(kind))).collect()
        }
    };
    if args.json {
        return print_json(&lines);
    }
    if lines.is_empty() {
        complain("lisle: no sessions of other programs found.");
        return Exit::Done;
    }
    let mut passed = Vec::new();
    for line in &lines {
        let path = sanitise::clean_line(&line.path.to_string_lossy()).into_owned();
        say(&format!("{:<14} {:>6}  {:>9}  {path}\n", line.kind, line.sessions, size(line.bytes)));
        passed.extend(&line.passed);
    }
    // Behind the table, which is on stdout.
    passed.iter().take(NAMED).for_each(|passed| complain(&format!("lisle: {passed}")));
    if passed.len() > NAMED {
        complain(&format!("lisle: {} more are passed over; --json names all.", passed.len() - NAMED));
    }
    Exit::Done
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
    let (_, stopped) = stop_at_signals(run.stop());
    import_all(&run, &found.items, args.from, &mut report, &bar(found));
    report.stopped = run.stop().is_set();
    let kept = keep(bootstrap, &report);
    let exit = exit_of(&stopped).filter(|_| report.stopped).unwrap_or_else(|| report.exit());
    if args.json {
        let printed = print_json(&report);
        return if exit == Exit::Done { printed } else { exit };
    }
    print(&report, found.items.len() + found.passed.len());
    if let Some(kept) = kept {
        complain(&format!("lisle: report: {}", kept.display()));
    }
    exit
}

/// Prints the ids to stdout and the rest to stderr.
fn print(report: &ImportReport, all: usize) {
    for line in report.imported.iter().chain(&report.updated) {
        line.session.iter().for_each(|id| _ = say(&format!("{id}\n")));
    }
    for line in report.failed.iter().chain(&report.skipped).take(NAMED) {
        complain(&format!("lisle: {}: {}", line.source, line.notes.join(" ")));
    }
    report.apart.iter().take(NAMED).for_each(|why| complain(&format!("lisle: {why}")));
    report.not_included().iter().for_each(|sentence| complain(&format!("lisle: {sentence}")));
    complain(&format!("lisle: {} ({}).", report.sentence(), size(report.bytes)));
    if let Some(line) = report.trashed.first() {
        complain(&format!(
            "lisle: deleted sessions count as imported, such as {}: {}.",
            line.source,
            line.notes.join(" ")
        ));
    }
    if report.stopped {
        let left = all.saturating_sub(report.done());
        complain(&format!("lisle: stopped with {left} of {all} left. Import again: it goes on there."));
    } else if report.incomplete {
        complain("lisle: stopped, because the disk is full. Free some space and import again: it goes on there.");
    }
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
                    if imported.as_ref().is_err_and(import_report::is_full) {
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
    report.incomplete = stopped.load(Ordering::Relaxed) || run.stop().is_set();
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
