//! Shared conversations: pages that everybody reads who has their address, until they are revoked or expire, and a note of
//! each upload to a server.
//!
//! `state/gateway/shared/ID.json` says what it is. `ID.html` is a page as it was when it was shared, and its id the only key
//! to it; an upload has none.

use super::home::{self, GatewayFiles};
use crate::domain::SessionId;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of chance in an id.
const LENGTH: usize = 16;
/// A page that expired is said to be gone for this time; then it is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A shared conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPage {
    /// Id in its address.
    pub id: String,
    /// Session that it was made of.
    pub session: SessionId,
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

/// Shared conversations of one home.
#[derive(Clone, Debug)]
pub struct SharedPages {
    folder: PathBuf,
}

/// True for what can be an id: nothing else becomes part of a path.
fn is_id(id: &str) -> bool {
    id.len() == 2 * LENGTH && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
    pub fn add(&self, session: &SessionId, page: &str, now: i64, expires: Option<Duration>) -> io::Result<String> {
        let shared = Self::made(session, now, expires, None)?;
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
        session: &SessionId,
        upload: Upload,
        now: i64,
        expires: Option<Duration>,
    ) -> io::Result<SharedPage> {
        let same = |page: &SharedPage| {
            page.upload.as_ref().is_some_and(|u| (&u.server, &u.id) == (&upload.server, &upload.id))
        };
        let before = self.list(now).into_iter().find(same);
        let mut shared = Self::made(session, now, expires, Some(upload))?;
        if let Some(before) = before {
            shared.id = before.id;
        }
        home::private_folder(&self.folder)?;
        self.write(&shared)?;
        Ok(shared)
    }

    fn made(
        session: &SessionId,
        now: i64,
        expires: Option<Duration>,
        upload: Option<Upload>,
    ) -> io::Result<SharedPage> {
        let expires = expires.map(|time| now.saturating_add(millis(time)));
        Ok(SharedPage { id: home::random_hex(LENGTH)?, session: session.clone(), created: now, expires, upload })
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
        let bytes = is_id(id).then(|| std::fs::read(self.file(id, "json")).ok()).flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// All of them, latest first, without those that expired long ago: these are removed.
    #[must_use]
    pub fn list(&self, now: i64) -> Vec<SharedPage> {
        let names = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let ids = names.filter_map(|name| name.to_str()?.strip_suffix(".json").map(str::to_owned));
        let mut all: Vec<SharedPage> = ids.filter_map(|id| self.known(&id)).collect();
        all.retain(|page| !self.purged(page, now));
        all.sort_by_key(|page| std::cmp::Reverse(page.created));
        all
    }

    /// Removes a page that expired long ago. True if it did. An upload stays noted: its server may keep it for longer.
    fn purged(&self, page: &SharedPage, now: i64) -> bool {
        let old =
            page.upload.is_none() && page.expires.is_some_and(|expires| now >= expires.saturating_add(millis(KEPT)));
        old && self.revoke(&page.id).is_ok()
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
        let Some(page) = self.known(id).filter(|page| !self.purged(page, now)) else { return SharedContent::Unknown };
        if page.upload.is_some() {
            return SharedContent::Unknown;
        }
        if page.expires.is_some_and(|expires| now >= expires) {
            return SharedContent::Expired;
        }
        std::fs::read(self.file(id, "html")).map_or(SharedContent::Unknown, SharedContent::Page)
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
        let add = |expires| pages.add(&session, "<p>", 1_000, expires).unwrap();
        let (id, short) = (add(None), add(Some(Duration::from_secs(1))));
        assert_eq!(pages.read(&id, i64::MAX), SharedContent::Page(b"<p>".to_vec()));
        assert_eq!(pages.read(&short, 1_999), SharedContent::Page(b"<p>".to_vec()));
        assert_eq!(pages.read(&short, 2_000), SharedContent::Expired);
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
        let server = "https://share.example".to_owned();
        let upload = |id: &str| Upload { server: server.clone(), id: id.to_owned(), url: format!("{server}/s/{id}") };
        let day = Some(Duration::from_secs(1));
        let first = pages.add_upload(&session, upload("a"), 1, day).unwrap();
        let again = pages.add_upload(&session, upload("a"), 2, day).unwrap();
        pages.add_upload(&session, upload("b"), 3, None).unwrap();
        assert_eq!(first.id, again.id);
        assert_eq!(pages.get(&first.id), Some(again.clone()));
        assert_eq!(pages.read(&first.id, 2), SharedContent::Unknown);
        assert_eq!(pages.list(i64::MAX).len(), 2, "an upload stays noted until it is revoked");
        assert!(pages.revoke(&first.id).unwrap() && pages.get(&first.id).is_none());
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
