//! Shares of conversations: uploaded to the server of `[share]` in config.toml where one is configured, else pages of this
//! machine's gateway. The notes of both are [`SharedPages`].

use crate::config::settings::ShareSettings;
use crate::domain::SessionId;
use crate::domain::sanitise::clean_line;
use crate::domain::secret::Key;
use crate::gateway::dial::GatewayRoute;
use crate::gateway::home::GatewayFiles;
use crate::gateway::methods::{self, Status};
use crate::gateway::remote;
use crate::gateway::shares::{SharedPage, SharedPages, SharedSession, Upload};
use crate::sharing::{self, ShareServer};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A day.
const DAY: Duration = Duration::from_secs(86_400);

/// Shares of one home.
#[derive(Clone, Debug)]
pub struct Shares {
    files: GatewayFiles,
    pages: SharedPages,
    settings: ShareSettings,
}

/// A page or an upload that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Id of the note.
    pub id: String,
    /// Address; `None` while no gateway serves pages.
    pub url: Option<String>,
}

/// Session of a workspace, for work that outlives its caller.
#[derive(Clone, Debug)]
struct OwnedSession {
    workspace: PathBuf,
    id: SessionId,
}

impl OwnedSession {
    fn of(session: SharedSession<'_>) -> Self {
        Self { workspace: session.workspace.to_owned(), id: session.id.clone() }
    }

    fn borrowed(&self) -> SharedSession<'_> {
        SharedSession { workspace: &self.workspace, id: &self.id }
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Runs what waits for the disk.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}

impl Shares {
    /// Those of a home, with its settings.
    #[must_use]
    pub fn new(files: GatewayFiles, settings: ShareSettings) -> Self {
        Self { pages: SharedPages::of(&files), files, settings }
    }

    /// Notes of pages and uploads, latest first.
    #[must_use]
    pub fn list(&self) -> Vec<SharedPage> {
        self.pages.list(now())
    }

    /// Address of the configured server; `None`: conversations become pages.
    #[must_use]
    pub fn endpoint(&self) -> Option<&str> {
        self.settings.endpoint.as_deref()
    }

    /// Client of a server. The key goes to no other server than the configured one.
    fn server(&self, address: &str) -> Result<ShareServer, String> {
        let unusable = |error: sharing::ShareError| error.to_string();
        let address = ShareServer::new(address, None).map_err(unusable)?.address();
        let own = self.endpoint().and_then(|own| ShareServer::new(own, None).ok());
        let is_own = own.is_some_and(|own| own.address() == address);
        let variable = self.settings.key_env.as_deref().filter(|_| is_own);
        let key = match variable {
            Some(name) => {
                let value = std::env::var(name).ok().filter(|value| !value.is_empty());
                let value = value.ok_or_else(|| format!("the variable {name} is not set; share.key_env names it"))?;
                Some(Key::new(&value).ok_or_else(|| format!("{name} contains no valid key"))?)
            }
            None => None,
        };
        ShareServer::new(&address, key).map_err(unusable)
    }

    /// Uploads the lines of a session. A share that the server has already is replaced, so that its address stays.
    ///
    /// # Errors
    /// A sentence without its end.
    pub async fn upload(
        &self,
        session: SharedSession<'_>,
        lines: &[u8],
        expires: Option<Duration>,
    ) -> Result<Published, String> {
        let server = self.server(self.endpoint().ok_or("share.endpoint is not set")?)?;
        let body = sharing::session_json(lines).map_err(|error| error.to_string())?;
        let whole = |time: Duration| time.as_secs().div_ceil(DAY.as_secs()).clamp(1, 365);
        let days = expires.map(|time| u32::try_from(whole(time)).unwrap_or(365)).or(self.settings.days);
        let lasts = days.map(|days| DAY * days);
        let address = server.address();
        let there = |page: SharedPage| {
            let upload = page.upload.filter(|upload| upload.server == address);
            upload.map(|upload| (page.id, upload))
        };
        for (note, upload) in self.of_session(session).await?.into_iter().filter_map(there) {
            if server.replace(&upload.id, body.clone(), days).await.map_err(|error| error.to_string())? {
                return self.note(session, upload, lasts).await;
            }
            // The server has it no more.
            let pages = self.pages.clone();
            blocking(move || pages.revoke(&note)).await?;
        }
        let made = server.add(body, days).await.map_err(|error| error.to_string())?;
        let upload = Upload { server: address, id: made.id.clone(), url: made.url };
        match self.note(session, upload, lasts).await {
            Ok(published) => Ok(published),
            Err(why) => {
                // What is not noted can't be revoked later.
                let stays = server.remove(&made.id).await.is_err();
                let stays = if stays { "; the upload stays at the server" } else { "" };
                Err(format!("the note of the upload was not written: {why}{stays}"))
            }
        }
    }

    async fn note(
        &self,
        session: SharedSession<'_>,
        upload: Upload,
        lasts: Option<Duration>,
    ) -> Result<Published, String> {
        let (pages, of, url) = (self.pages.clone(), OwnedSession::of(session), clean_line(&upload.url).into_owned());
        let noted = blocking(move || pages.add_upload(of.borrowed(), upload, now(), lasts)).await?;
        Ok(Published { id: noted.id, url: Some(url) })
    }

    /// Address of the pages of this machine's gateway; `None` while it serves none.
    pub async fn served_at(&self) -> Option<String> {
        let way = GatewayRoute::Socket(self.files.clone());
        let status = remote::call::<Status>(&way, methods::STATUS, &()).await.ok();
        Some(clean_line(&status?.shares?.url).into_owned())
    }

    /// Makes a page of the gateway.
    ///
    /// # Errors
    /// A sentence without its end.
    pub async fn page(
        &self,
        session: SharedSession<'_>,
        page: String,
        expires: Option<Duration>,
    ) -> Result<Published, String> {
        let (pages, of) = (self.pages.clone(), OwnedSession::of(session));
        let id = blocking(move || pages.add(of.borrowed(), &page, now(), expires)).await?;
        let url = self.served_at().await.map(|at| format!("{at}/s/{id}"));
        Ok(Published { id, url })
    }

    /// Shares the file that the engine wrote: lines for an upload, or a page where a gateway serves such.
    pub(super) async fn page_of_file(&self, session: SharedSession<'_>, path: &Path) -> Result<Option<String>, String> {
        if self.served_at().await.is_none() {
            return Ok(None);
        }
        let path = path.to_owned();
        let page = blocking(move || std::fs::read_to_string(path)).await?;
        Ok(self.page(session, page, None).await?.url)
    }

    /// Removes a page, or an upload from its server. False if the id is unknown.
    ///
    /// # Errors
    /// A sentence without its end; then it is still shared.
    pub async fn revoke(&self, id: &str) -> Result<bool, String> {
        let (pages, wanted) = (self.pages.clone(), id.to_owned());
        let noted = blocking(move || Ok(pages.get(&wanted))).await?;
        if let Some(upload) = noted.and_then(|noted| noted.upload) {
            self.server(&upload.server)?.remove(&upload.id).await.map_err(|error| error.to_string())?;
        }
        let (pages, id) = (self.pages.clone(), id.to_owned());
        blocking(move || pages.revoke(&id)).await
    }

    /// Notes of a session's pages and uploads, latest first.
    async fn of_session(&self, session: SharedSession<'_>) -> Result<Vec<SharedPage>, String> {
        let (pages, of) = (self.pages.clone(), OwnedSession::of(session));
        blocking(move || Ok(pages.of_session(of.borrowed()))).await
    }

    /// Revokes all shares of a session. Gives how many there were.
    ///
    /// # Errors
    /// A sentence without its end; the others are revoked then.
    pub async fn revoke_all(&self, session: SharedSession<'_>) -> Result<usize, String> {
        let mut done = Ok(0);
        for page in self.of_session(session).await? {
            match self.revoke(&page.id).await {
                Ok(_) => done = done.map(|count| count + 1),
                Err(why) => done = Err(why),
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_belongs_to_the_server_however_its_address_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let key_env = Some("LISLE_TEST_KEY_THAT_IS_NOT_SET".to_owned());
        let wants_key = |endpoint: &str, address: &str| {
            let endpoint = Some(endpoint.to_owned());
            let settings = ShareSettings { endpoint, key_env: key_env.clone(), ..ShareSettings::default() };
            Shares::new(GatewayFiles::of(dir.path(), None), settings).server(address).is_err()
        };
        for endpoint in ["https://share.example", "https://share.example/", "HTTPS://Share.Example:443//"] {
            assert!(wants_key(endpoint, "https://share.example"), "{endpoint}");
            for other in ["http://share.example", "https://share.example:8443", "https://share.example/a"] {
                assert!(!wants_key(endpoint, other), "{endpoint} {other}");
            }
        }
    }
}
