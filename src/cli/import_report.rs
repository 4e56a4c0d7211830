//! Report on an import of many sessions: what became of each, counts, exit status.

use super::exit::Exit;
use crate::store::{HistoryItem, Imported, NotIncluded, Reimport, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;

/// Report on many sessions.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImportReport {
    pub(super) imported: Vec<ReportLine>,
    pub(super) updated: Vec<ReportLine>,
    pub(super) unchanged: usize,
    /// Imports that lie in the trash, which counts as imported.
    pub(super) trashed: Vec<ReportLine>,
    /// Nothing to import: no messages, or a format that is none.
    pub(super) skipped: Vec<ReportLine>,
    pub(super) failed: Vec<ReportLine>,
    /// Size of the sources that are sessions now.
    pub(super) bytes: u64,
    /// Ended early: stopped, or the disk is full.
    pub(super) incomplete: bool,
    /// A signal stopped it.
    pub(super) stopped: bool,
    /// New sessions beside earlier imports, with the reason.
    #[serde(skip)]
    pub(super) apart: Vec<String>,
    /// Parts that were not included, over all sessions.
    not_included: BTreeMap<&'static str, PartCount>,
}

/// Count of one sort of parts.
#[derive(Default, Serialize)]
struct PartCount {
    parts: usize,
    sessions: usize,
}

/// Line of the report.
#[derive(Serialize)]
pub(super) struct ReportLine {
    pub(super) source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

impl ImportReport {
    /// Adds what became of a session; nothing of one that was not done because the import was stopped.
    pub(super) fn add(&mut self, item: &HistoryItem, done: Result<Imported, StoreError>) {
        let line = |session: Option<String>, notes| ReportLine { source: item.words(), session, notes };
        match done {
            Ok(imported) => {
                self.bytes += item.bytes;
                self.add_imported(imported, &line);
            }
            Err(StoreError::Stopped) => {}
            Err(error @ StoreError::Trashed { .. }) => self.trashed.push(line(None, vec![error.to_string()])),
            Err(StoreError::NoImport { why, .. }) => self.skipped.push(line(None, vec![why.to_owned()])),
            Err(error) => self.failed.push(line(None, vec![error.to_string()])),
        }
    }

    fn add_imported(&mut self, imported: Imported, line: &dyn Fn(Option<String>, Vec<String>) -> ReportLine) {
        let Imported { meta, left, again, .. } = imported;
        for part in &left {
            let count = self.not_included.entry(part.what).or_default();
            count.parts += part.count;
            count.sessions += 1;
        }
        if matches!(again, Some(Reimport::Added(_, 0))) {
            self.unchanged += 1;
            return;
        }
        let words = again.as_ref().map(Reimport::words);
        let notes = words.into_iter().chain(left.iter().map(NotIncluded::words)).collect();
        let line = line(Some(meta.id.to_string()), notes);
        if let Some(Reimport::Another(why)) = &again {
            self.apart.push(format!("{}: {why}", line.source));
        }
        match again {
            Some(Reimport::Added(..) | Reimport::Anew(_)) => self.updated.push(line),
            Some(Reimport::Another(_)) | None => self.imported.push(line),
        }
    }

    /// Number of sessions that it is done with, those included that nothing was made of.
    pub(super) fn done(&self) -> usize {
        let lists = [&self.imported, &self.updated, &self.trashed, &self.skipped, &self.failed];
        self.unchanged + lists.iter().map(|lines| lines.len()).sum::<usize>()
    }

    /// Failed, too, where nothing at all could be imported.
    pub(super) fn exit(&self) -> Exit {
        let known = self.imported.len() + self.updated.len() + self.unchanged + self.trashed.len();
        let is_failed = !self.failed.is_empty() || self.incomplete || known == 0;
        if is_failed { Exit::Failed } else { Exit::Done }
    }

    /// Counts in a sentence.
    pub(super) fn sentence(&self) -> String {
        let count = |count: usize, words: &str| (count > 0).then(|| format!("{count} {words}"));
        let parts = [
            Some(format!("{} imported", self.imported.len())),
            count(self.updated.len(), "updated"),
            count(self.unchanged, "unchanged"),
            count(self.trashed.len(), "in the trash"),
            count(self.skipped.len(), "skipped"),
            count(self.failed.len(), "failed"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Parts that were not included, a sentence for each sort.
    pub(super) fn not_included(&self) -> Vec<String> {
        let sentence = |(what, count): (&&'static str, &PartCount)| {
            let words = NotIncluded { what, count: count.parts }.words();
            match count.sessions {
                1 => words,
                n => format!("{} (in {n} sessions).", words.trim_end_matches('.')),
            }
        };
        self.not_included.iter().map(sentence).collect()
    }
}

/// True for an error that every other session would have too.
pub(super) fn is_full(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. }
        if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem))
}
