//! Ids of new sessions: `YYMMDD-adjective-noun`, the date being the local one.
//!
//! The caller knows if an id is taken.

use crate::domain::{At, SessionId};
use jiff::Timestamp;
use jiff::tz::TimeZone;

const ADJECTIVES: &[&str] = &[
    "able", "agile", "airy", "alert", "amber", "ample", "ancient", "arctic", "autumn", "azure", "balmy", "blithe",
    "blue", "bold", "brave", "breezy", "brief", "bright", "brisk", "broad", "calm", "candid", "civil", "clear",
    "clever", "cobalt", "coral", "cosy", "crisp", "curious", "dapper", "daring", "deep", "dusky", "eager", "early",
    "earnest", "easy", "fair", "firm", "fleet", "fond", "frank", "fresh", "gentle", "glad", "golden", "grand", "green",
    "hale", "hardy", "hazel", "honest", "humble", "indigo", "ivory", "jolly", "keen", "kind", "late", "lean", "level",
    "light", "lively", "lone", "loyal", "lucid", "mellow", "merry", "mild", "modest", "neat", "nimble", "noble",
    "novel", "open", "pale", "patient", "plain", "prime", "proud", "quick", "quiet", "rapid", "rare", "ready", "rosy",
    "rustic", "sage", "serene", "sharp", "silent", "silver", "sleek", "snowy", "sober", "solid", "spry", "stable",
    "steady", "still", "stout", "subtle", "sunny", "swift", "tidy", "tranquil", "true", "upbeat", "vast", "vivid",
    "warm", "wise", "witty",
];

const NOUNS: &[&str] = &[
    "acorn", "alder", "alley", "anchor", "apple", "arbor", "aspen", "badger", "bank", "bay", "beacon", "beech", "bell",
    "birch", "bird", "bluff", "boat", "bridge", "brook", "canyon", "cape", "cedar", "cliff", "cloud", "clover",
    "coast", "comet", "copse", "cove", "crane", "creek", "crest", "dale", "dawn", "delta", "dove", "dune", "eagle",
    "elm", "ember", "falcon", "fern", "field", "finch", "fjord", "flint", "forest", "fountain", "fox", "garden",
    "glade", "glen", "grove", "gull", "harbor", "hare", "hawk", "heath", "heron", "hill", "inlet", "iris", "island",
    "ivy", "jay", "juniper", "kite", "lagoon", "lake", "lantern", "larch", "lark", "laurel", "leaf", "linden", "lynx",
    "maple", "marsh", "meadow", "mesa", "mill", "moon", "moss", "oak", "ocean", "orchard", "otter", "owl", "path",
    "pebble", "pine", "plain", "pond", "poppy", "prairie", "quarry", "rain", "raven", "reef", "ridge", "river",
    "robin", "rook", "sail", "shore", "sparrow", "spring", "spruce", "star", "stone", "stream", "summit", "thicket",
    "tide", "trail", "valley", "willow", "wren",
];

/// An id that is not `taken`.
pub fn fresh(at: At, zone: &TimeZone, mut taken: impl FnMut(&SessionId) -> bool) -> Option<SessionId> {
    let date = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(zone.clone());
    let date = format!("{:02}{:02}{:02}", date.year().rem_euclid(100), date.month(), date.day());
    for _ in 0..100 {
        let (Some(adjective), Some(noun)) = (fastrand::choice(ADJECTIVES), fastrand::choice(NOUNS)) else { break };
        let slug = format!("{date}-{adjective}-{noun}");
        if let Some(id) = SessionId::parse(slug.as_str()).ok().filter(|id| !taken(id)) {
            return Some(id);
        }
    }
    // A hundred slugs taken: the day is full, or words are no help against whatever says so.
    let slug = format!("{date}-{:08x}", fastrand::u32(..));
    SessionId::parse(slug).ok().filter(|id| !taken(id))
}

/// The ids to try after `id` was taken: `-2` to `-99` behind it.
pub fn siblings(id: &SessionId) -> impl Iterator<Item = SessionId> {
    let base = id.as_str().to_owned();
    (2..=99).filter_map(move |n| SessionId::parse(format!("{base}-{n}")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_date_is_the_local_one() {
        // 2026-09-02 23:30 UTC is the next day two hours to the east.
        let at = At(1_788_391_800_000);
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert!(fresh(at, &TimeZone::UTC, |_| false).unwrap().as_str().starts_with("260902-"));
        assert!(fresh(at, &east, |_| false).unwrap().as_str().starts_with("260903-"));
    }

    #[test]
    fn words_are_lower_case_and_stand_once() {
        for list in [ADJECTIVES, NOUNS] {
            assert_eq!(list.iter().collect::<HashSet<_>>().len(), list.len());
            assert!(list.iter().all(|w| w.bytes().all(|b| b.is_ascii_lowercase())));
        }
    }

    #[test]
    fn a_taken_id_is_passed_by() {
        let mut asked = 0;
        let id = fresh(At(0), &TimeZone::UTC, |_| {
            asked += 1;
            asked < 30
        });
        assert!(id.is_some() && asked == 30);
        assert_eq!(fresh(At(0), &TimeZone::UTC, |_| true), None);
        let base = SessionId::parse("260902-swift-river").unwrap();
        let tried: Vec<_> = siblings(&base).collect();
        assert_eq!((tried.len(), tried[0].as_str()), (98, "260902-swift-river-2"));
    }
}
