//! Import of every session that another program keeps on this machine: `/import claude-code`.

use super::blocking::blocking;
use super::clock::now;
use super::session_ops::SessionOps;
use crate::domain::notice::{Level, Notice};
use crate::domain::{Mode, SessionMeta};
use crate::protocol::EngineEvent;
use crate::store::{Histories, HistoryKind, Imported, Reimport, Store, StoreError, histories_in};

/// Outcome of an import of many.
#[derive(Default)]
struct ImportCounts {
    /// Sessions that are new, or have more now.
    changed: Vec<SessionMeta>,
    unchanged: usize,
    /// Sessions that a running lisle writes, this one included: what they hold now is theirs.
    in_use: usize,
    /// Sessions whose imports lie in the trash, which counts as imported.
    trashed: usize,
    skipped: usize,
    failed: usize,
    /// The first failure.
    why: Option<String>,
}

impl ImportCounts {
    fn notice(&self, program: &str) -> Notice {
        let part = |count: usize, word: &str| (count > 0).then(|| format!("{count} {word}"));
        let parts = [
            Some(format!("{} imported or updated", self.changed.len())),
            part(self.unchanged, "unchanged"),
            part(self.in_use, "in use"),
            part(self.trashed, "in the trash"),
            part(self.skipped, "skipped"),
            part(self.failed, "failed"),
        ];
        let text = format!("Sessions of {program}: {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
        match &self.why {
            Some(why) => Notice::new(Level::Warning, format!("{text}. The first failure: {why}")),
            None => Notice::new(Level::Info, text),
        }
    }
}

impl SessionOps {
    /// Imports all sessions of a program.
    pub(super) async fn import_all(self, kind: HistoryKind) {
        let at_most = self.shared.loosest().stricter(self.shared.setup.settings.mode);
        let (store, program) = (self.store(), kind.name());
        let places = self.shared.setup.settings.history_places.clone();
        let found = blocking(move || histories_in(&places, kind)).await.unwrap_or_default();
        if found.items.is_empty() {
            let notice = Notice::new(Level::Info, format!("No sessions of {program} found"));
            return self.out.tell(Some(notice.hint("/import PATH imports one file or folder")));
        }
        let many = match found.items.len() {
            1 => "1 session".to_owned(),
            n => format!("{n} sessions"),
        };
        self.out.tell(Some(Notice::new(Level::Info, format!("Importing {many} of {program}"))));
        match blocking(move || import_each(&store, at_most, kind, &found)).await {
            Some(Ok(done)) => {
                for meta in &done.changed {
                    self.out.send(EngineEvent::SessionChanged(Box::new(meta.clone())));
                }
                self.out.tell(Some(done.notice(program)));
            }
            Some(Err(error)) => {
                self.out.tell(Some(Notice::new(Level::Error, format!("Import failed: {error}."))));
            }
            None => {}
        }
    }
}

fn import_each(store: &Store, at_most: Mode, kind: HistoryKind, found: &Histories) -> Result<ImportCounts, StoreError> {
    let run = store.import_run(at_most, now())?;
    let mut out = ImportCounts::default();
    for item in &found.items {
        match run.import(item, Some(kind)) {
            Ok(Imported { again: Some(Reimport::Added(_, 0)), .. }) => out.unchanged += 1,
            Ok(Imported { meta, .. }) => out.changed.push(meta),
            Err(StoreError::Held { .. }) => out.in_use += 1,
            Err(StoreError::Trashed { .. }) => out.trashed += 1,
            Err(StoreError::NoImport { .. }) => out.skipped += 1,
            Err(error) => {
                out.failed += 1;
                out.why.get_or_insert_with(|| error.to_string());
            }
        }
    }
    Ok(out)
}
