//! Sessions in the trash.

use super::ids::{At, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a session in the trash: `ID-TIME`, its directory's name; with `-cleared` behind it where only the
/// messages of a session are there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TrashId(pub String);

/// A session in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trashed {
    /// Its name there.
    pub trash: TrashId,
    /// Its id before.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// Time of deletion.
    pub deleted: At,
    /// Bytes on disk.
    pub bytes: u64,
    /// Only its messages were cleared; the session itself lives on.
    pub cleared: bool,
}

impl TrashId {
    /// The id that the session had; `None` when this is no name of the trash.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        let name = self.0.strip_suffix("-cleared").unwrap_or(&self.0);
        SessionId::parse(name.rsplit_once('-')?.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_the_trash_holds_the_id() {
        let of = |name: &str| TrashId(name.to_owned()).session().map(|id| id.as_str().to_owned());
        assert_eq!(of("260902-swift-river-20261122T013000123Z").as_deref(), Some("260902-swift-river"));
        assert_eq!(of("260902-swift-river-20261122T013000123Z-cleared").as_deref(), Some("260902-swift-river"));
        assert_eq!(of("nothing"), None);
        assert_eq!(of("../x-1"), None);
    }
}
