//! Shared conversations: pages that everybody reads who has their address, until they are revoked or expire, and a note of
//! each upload to a server.
//!
//! `state/gateway/shared/ID.json` says what it is. `ID.html` is a page as it was when it was shared, and its id the only key
//! to it; an upload has none. A page ends with its session: the store revokes it before a session goes to the trash. The text
//! of a page that expired is removed; only its `ID.json` stays for a while, to say that it is gone. An upload stays noted until
//! it is revoked: its server may keep it for longer, and the store reaches no server.

use super::home::{self, GatewayFiles};
use crate::domain::SessionId;
use crate::plain_file;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a page.
const LONGEST: u64 = 1 << 30;
/// Bytes of chance in an id.
const LENGTH: usize = 16;
/// Time between two looks for pages that expired.
const SWEEPS: Duration = Duration::from_secs(60);
/// A page that expired is said to be gone for this time; then it is unknown.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A shared conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPage {
    /// Id in its address.
    pub id: String,
    /// Session that it was made of.
    pub session: SessionId,
    /// Folder of its workspace; `None` in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Milliseconds since 1970 when it was shared.
    pub created: i64,
    /// Milliseconds since 1970 from when on it cannot be read; `None`: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// The upload; `None`: a page of the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<Upload>,
}

/// Conversation on a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// Address of the server.
    pub server: String,
    /// Id there.
    pub id: String,
    /// Address for readers.
    pub url: String,
}

/// Page of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SharedContent {
    /// It can be read.
    Page(Vec<u8>),
    /// It could be, and has expired.
    Expired,
    /// There is none.
    Unknown,
}

/// Session of a workspace, as its pages name it.
#[derive(Clone, Copy, Debug)]
pub struct SharedSession<'a> {
    /// Folder of the workspace.
    pub workspace: &'a Path,
    /// Session id.
    pub id: &'a SessionId,
}

/// Shared conversations of one home.
#[derive(Clone, Debug)]
pub struct SharedPages {
    folder: PathBuf,
}

/// True for what can be an id: nothing else becomes part of a path.
fn is_id(id: &str) -> bool {
    id.len() == 2 * LENGTH && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Path of a workspace without links in it, so that one workspace has one path.
fn real(workspace: &Path) -> PathBuf {
    workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned())
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl SharedPages {
    /// Those of a home.
    #[must_use]
    pub fn of(files: &GatewayFiles) -> Self {
        Self { folder: files.folder().join("shared") }
    }

    fn file(&self, id: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{id}.{ending}"))
    }

    /// Shares a page. `now`: milliseconds since 1970. Returns its id.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, of: SharedSession<'_>, page: &str, now: i64, expires: Option<Duration>) -> io::Result<String> {
        let shared = Self::made(of, now, expires, None)?;
        home::private_folder(&self.folder)?;
        home::write_private(&self.file(&shared.id, "html"), page)?;
        self.write(&shared)?;
        Ok(shared.id)
    }

    /// Notes an upload; that of the same id at the same server is replaced.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_upload(
        &self,
        of: SharedSession<'_>,
        upload: Upload,
        now: i64,
        expires: Option<Duration>,
    ) -> io::Result<SharedPage> {
        let same = |page: &SharedPage| {
            page.upload.as_ref().is_some_and(|u| (&u.server, &u.id) == (&upload.server, &upload.id))
        };
        let before = self.list(now).into_iter().find(same);
        let mut shared = Self::made(of, now, expires, Some(upload))?;
        if let Some(before) = before {
            shared.id = before.id;
        }
        home::private_folder(&self.folder)?;
        self.write(&shared)?;
        Ok(shared)
    }

    fn made(
        of: SharedSession<'_>,
        now: i64,
        expires: Option<Duration>,
        upload: Option<Upload>,
    ) -> io::Result<SharedPage> {
        let (id, session, workspace) = (home::random_hex(LENGTH)?, of.id.clone(), Some(real(of.workspace)));
        let expires = expires.map(|time| now.saturating_add(millis(time)));
        Ok(SharedPage { id, session, workspace, created: now, expires, upload })
    }

    fn write(&self, shared: &SharedPage) -> io::Result<()> {
        home::write_private(&self.file(&shared.id, "json"), &serde_json::to_string_pretty(shared)?)
    }

    /// The page or upload of an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<SharedPage> {
        self.known(id)
    }

    fn known(&self, id: &str) -> Option<SharedPage> {
        let bytes = is_id(id).then(|| plain_file::bytes(&self.file(id, "json"), 64 << 10)).flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// All of them, latest first, without those that expired long ago. Files of expired ones are removed.
    #[must_use]
    pub fn list(&self, now: i64) -> Vec<SharedPage> {
        let mut all = self.known_pages();
        all.retain(|page| !self.swept(page, now));
        all
    }

    fn known_pages(&self) -> Vec<SharedPage> {
        let names = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let ids = names.filter_map(|name| name.to_str()?.strip_suffix(".json").map(str::to_owned));
        let mut all: Vec<SharedPage> = ids.filter_map(|id| self.known(&id)).collect();
        all.sort_by_key(|page| std::cmp::Reverse(page.created));
        all
    }

    /// Removes the text of a page that expired, and all of it if that was long ago. True if it is unknown from now on.
    fn swept(&self, page: &SharedPage, now: i64) -> bool {
        let expires = page.expires.filter(|_| page.upload.is_none());
        let is_past = |time: i64| expires.is_some_and(|expires| now >= expires.saturating_add(time));
        if is_past(millis(KEPT)) {
            return self.revoke(&page.id).is_ok();
        }
        if is_past(0)
            && let Err(error) = std::fs::remove_file(self.file(&page.id, "html"))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the text of an expired page stays on the disk");
        }
        false
    }

    /// Removes texts of pages as they expire, also of those that nobody asks for. It ends with the gateway.
    pub(super) async fn sweep(self) {
        let mut look = tokio::time::interval(SWEEPS);
        loop {
            look.tick().await;
            let pages = self.clone();
            let swept = move || drop(pages.list(jiff::Timestamp::now().as_millisecond()));
            let _ = tokio::task::spawn_blocking(swept).await;
        }
    }

    /// Pages and uploads of a session, latest first.
    #[must_use]
    pub fn of_session(&self, of: SharedSession<'_>) -> Vec<SharedPage> {
        let mut all = self.known_pages();
        let workspace = real(of.workspace);
        let is_there = |page: &SharedPage| page.workspace.as_ref().is_none_or(|folder| *folder == workspace);
        all.retain(|page| page.session == *of.id && is_there(page));
        all
    }

    /// Revokes all pages of a session, and returns their number. Its uploads stay at their servers, and noted.
    ///
    /// # Errors
    /// The first page that could not be removed, after all others were.
    pub fn revoke_all(&self, of: SharedSession<'_>) -> io::Result<usize> {
        let all = self.of_session(of);
        let pages = all.iter().filter(|page| page.upload.is_none());
        let revoked: Vec<io::Result<bool>> = pages.map(|page| self.revoke(&page.id)).collect();
        revoked.into_iter().collect::<io::Result<Vec<bool>>>().map(|revoked| revoked.len())
    }

    /// Removes a page, or the note of an upload. False if there is none.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        if !is_id(id) {
            return Ok(false);
        }
        // Without this file it is read no more.
        let found = match std::fs::remove_file(self.file(id, "json")) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        match std::fs::remove_file(self.file(id, "html")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(found),
        }
    }

    /// The page of an id.
    pub(super) fn read(&self, id: &str, now: i64) -> SharedContent {
        let Some(page) = self.known(id).filter(|page| !self.swept(page, now)) else { return SharedContent::Unknown };
        if page.upload.is_some() {
            return SharedContent::Unknown;
        }
        if page.expires.is_some_and(|expires| now >= expires) {
            return SharedContent::Expired;
        }
        plain_file::bytes(&self.file(id, "html"), LONGEST).map_or(SharedContent::Unknown, SharedContent::Page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_until_it_expires_and_forgotten_later() {
        let dir = tempfile::tempdir().unwrap();
        let pages = SharedPages::of(&GatewayFiles::of(dir.path(), None));
        let session = SessionId::parse("s1").unwrap();
        let of = SharedSession { workspace: Path::new("/w"), id: &session };
        let add = |expires| pages.add(of, "<p>", 1_000, expires).unwrap();
        let (id, short) = (add(None), add(Some(Duration::from_secs(1))));
        assert_eq!(pages.read(&id, i64::MAX), SharedContent::Page(b"<p>".to_vec()));
        assert_eq!(pages.read(&short, 1_999), SharedContent::Page(b"<p>".to_vec()));
        assert_eq!(pages.read(&short, 2_000), SharedContent::Expired);
        assert!(!pages.file(&short, "html").exists() && pages.file(&id, "html").exists(), "its text left the disk");
        assert_eq!(pages.list(2_000).len(), 2);
        assert_eq!(pages.read(&short, 2_000 + millis(KEPT)), SharedContent::Unknown);
        assert_eq!(pages.read(&short, 1_000), SharedContent::Unknown, "it was removed");
        assert_eq!(pages.list(1_000).len(), 1);
        assert!(pages.revoke(&id).unwrap() && !pages.revoke(&id).unwrap());
        assert_eq!(pages.read(&id, 1_000), SharedContent::Unknown);
        assert_eq!(std::fs::read_dir(&pages.folder).unwrap().count(), 0);
    }

    #[test]
    fn an_upload_is_noted_once_and_is_no_page() {
        let dir = tempfile::tempdir().unwrap();
        let pages = SharedPages::of(&GatewayFiles::of(dir.path(), None));
        let session = SessionId::parse("s1").unwrap();
        let of = SharedSession { workspace: Path::new("/w"), id: &session };
        let server = "https://share.example".to_owned();
        let upload = |id: &str| Upload { server: server.clone(), id: id.to_owned(), url: format!("{server}/s/{id}") };
        let day = Some(Duration::from_secs(1));
        let first = pages.add_upload(of, upload("a"), 1, day).unwrap();
        let again = pages.add_upload(of, upload("a"), 2, day).unwrap();
        pages.add_upload(of, upload("b"), 3, None).unwrap();
        assert_eq!(first.id, again.id);
        assert_eq!(pages.get(&first.id), Some(again.clone()));
        assert_eq!(pages.read(&first.id, 2), SharedContent::Unknown);
        assert_eq!(pages.list(i64::MAX).len(), 2, "an upload stays noted until it is revoked");
        pages.add(of, "<p>", 4, None).unwrap();
        assert_eq!((pages.of_session(of).len(), pages.revoke_all(of).unwrap()), (3, 1));
        assert_eq!(pages.of_session(of).len(), 2, "uploads stay noted");
        assert!(pages.revoke(&first.id).unwrap() && pages.get(&first.id).is_none());
    }

    #[test]
    fn a_list_sweeps_what_expired_and_nobody_asks_for() {
        let dir = tempfile::tempdir().unwrap();
        let pages = SharedPages::of(&GatewayFiles::of(dir.path(), None));
        let session = SessionId::parse("s1").unwrap();
        let of = SharedSession { workspace: Path::new("/w"), id: &session };
        let id = pages.add(of, "<p>", 0, Some(Duration::from_secs(1))).unwrap();
        assert_eq!(pages.list(999).len(), 1);
        assert!(pages.file(&id, "html").exists());
        assert_eq!(pages.list(1_000).len(), 1);
        assert!(!pages.file(&id, "html").exists() && pages.file(&id, "json").exists());
    }

    #[test]
    fn pages_of_a_session_are_those_of_its_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let pages = SharedPages::of(&GatewayFiles::of(dir.path(), None));
        let (one, other) = (SessionId::parse("s1").unwrap(), SessionId::parse("s2").unwrap());
        let of = |folder, id| SharedSession { workspace: Path::new(folder), id };
        let all = [("/a", &one), ("/a", &one), ("/a", &other), ("/b", &one)];
        let ids: Vec<String> = all.map(|(folder, id)| pages.add(of(folder, id), "<p>", 0, None).unwrap()).to_vec();
        assert_eq!(pages.revoke_all(of("/a", &one)).unwrap(), 2);
        let left: Vec<bool> = ids.iter().map(|id| pages.read(id, 0) != SharedContent::Unknown).collect();
        assert_eq!(left, [false, false, true, true]);
        assert_eq!(pages.revoke_all(of("/a", &one)).unwrap(), 0);
        // One of an earlier version says nothing of its workspace.
        let file = pages.file(&ids[3], "json");
        let text = std::fs::read_to_string(&file).unwrap().replace("\"workspace\": \"/b\",", "");
        std::fs::write(&file, text).unwrap();
        assert_eq!(pages.revoke_all(of("/a", &one)).unwrap(), 1);
    }

    #[test]
    fn what_is_no_id_is_no_path() {
        let dir = tempfile::tempdir().unwrap();
        let pages = SharedPages::of(&GatewayFiles::of(dir.path(), None));
        for id in ["", "..", "../credentials", "0", &"A".repeat(32), &"0".repeat(31), &"/".repeat(32)] {
            assert!(pages.read(id, 0) == SharedContent::Unknown && !pages.revoke(id).unwrap(), "{id}");
        }
    }
}
