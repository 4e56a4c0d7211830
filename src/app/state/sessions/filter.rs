//! Filter of the list: typed words of the title, and facets that are wanted or unwanted.
//!
//! A facet can be typed too (`status:done`, `label:bug` or `#bug`, `is:flagged`, `-is:unread`): it acts at once, and becomes a
//! chip when the filter is accepted.

use super::catalogue::Catalogue;
use crate::app::state::edit::Line;
use crate::domain::ids::At;
use crate::domain::session::SessionMeta;
use std::fmt;

/// A filter of the list by title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Typed text.
    pub query: Line,
    /// It is still being typed; afterwards it only stays in force.
    pub typing: bool,
}

/// A property that sessions are filtered by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Facet {
    /// A request waits for the user.
    NeedsYou,
    /// News since the last look.
    Unread,
    /// Flagged.
    Flagged,
    /// Archived; not listed unless wanted.
    Archived,
    /// Hidden; not listed unless wanted.
    Hidden,
    /// Sessions of this status.
    Status(String),
    /// With this label or one below it.
    Label(String),
    /// In this view.
    View(String),
}

impl fmt::Display for Facet {
    /// As it is typed and kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Facet::NeedsYou => f.write_str("is:waiting"),
            Facet::Unread => f.write_str("is:unread"),
            Facet::Flagged => f.write_str("is:flagged"),
            Facet::Archived => f.write_str("is:archived"),
            Facet::Hidden => f.write_str("is:hidden"),
            Facet::Status(id) => write!(f, "status:{id}"),
            Facet::Label(id) => write!(f, "label:{id}"),
            Facet::View(id) => write!(f, "view:{id}"),
        }
    }
}

impl Facet {
    /// Facets that every workspace has.
    pub const PLAIN: [Facet; 5] = [Facet::NeedsYou, Facet::Unread, Facet::Flagged, Facet::Archived, Facet::Hidden];

    /// Reads what [`Facet`] writes, and a label as the list shows it, `#bug`; blanks cannot stand in it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(label) = text.strip_prefix('#').filter(|label| !label.is_empty()) {
            return Some(Facet::Label(label.to_owned()));
        }
        let (kind, what) = text.split_once(':')?;
        if what.is_empty() {
            return None;
        }
        match kind {
            "is" => Self::PLAIN.into_iter().find(|facet| facet.to_string() == text),
            "status" => Some(Facet::Status(what.replace('_', "-"))),
            "label" => Some(Facet::Label(what.to_owned())),
            "view" => Some(Facet::View(what.to_owned())),
            _ => None,
        }
    }

    /// A word that begins as a typed facet does.
    #[must_use]
    pub fn is_begun(word: &str) -> bool {
        let bare = word.strip_prefix('-').unwrap_or(word);
        ["is:", "status:", "label:", "view:", "#"].iter().any(|kind| bare.starts_with(kind))
    }

    /// The workspace has it. Where it defines nothing, any name will do.
    #[must_use]
    pub fn is_known(&self, catalogue: &Catalogue) -> bool {
        match self {
            Facet::Status(id) => catalogue.has_status(id),
            Facet::Label(id) => catalogue.has_label(id),
            Facet::View(id) => catalogue.view(id).is_some(),
            _ => true,
        }
    }

    /// A word for the screen: `flagged`, `#bug`, the status's name.
    #[must_use]
    pub fn shown(&self, catalogue: &Catalogue) -> String {
        match self {
            Facet::NeedsYou => "needs you".to_owned(),
            Facet::Unread => "unread".to_owned(),
            Facet::Flagged => "flagged".to_owned(),
            Facet::Archived => "archived".to_owned(),
            Facet::Hidden => "hidden".to_owned(),
            Facet::Status(id) => catalogue.status_entry(id).map_or_else(|| id.clone(), |entry| entry.name.clone()),
            Facet::Label(id) => {
                format!("#{}", catalogue.label_entry(id).map_or(id.as_str(), |entry| entry.name.as_str()))
            }
            Facet::View(id) => catalogue.view(id).map_or_else(|| id.clone(), |view| view.name.clone()),
        }
    }

    /// Kind of the facet, in a word or two.
    #[must_use]
    pub fn kind_word(&self) -> &'static str {
        match self {
            Facet::Status(_) => "status",
            Facet::Label(_) => "label",
            Facet::View(_) => "view",
            _ => "",
        }
    }

    /// Several wanted ones of a kind want any of them; of different kinds, all.
    fn kind(&self) -> u8 {
        match self {
            Facet::NeedsYou => 0,
            Facet::Unread => 1,
            Facet::Flagged => 2,
            Facet::Archived => 3,
            Facet::Hidden => 4,
            Facet::Status(_) => 5,
            Facet::Label(_) => 6,
            Facet::View(_) => 7,
        }
    }

    fn holds(&self, meta: &SessionMeta, catalogue: &Catalogue, now: At) -> bool {
        match self {
            Facet::NeedsYou => needs_you(meta),
            Facet::Unread => meta.unread,
            Facet::Flagged => meta.flagged,
            Facet::Archived => meta.archived,
            Facet::Hidden => meta.hidden,
            Facet::Status(id) => *catalogue.status(&meta.status).1 == *catalogue.status(id).1,
            Facet::Label(id) => meta.labels.iter().any(|entry| catalogue.is_under(entry, id)),
            Facet::View(id) => catalogue.view(id).is_some_and(|view| view.holds(meta, now)),
        }
    }
}

/// Effect of a facet on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing.
    None,
    /// Only those that have it.
    Only,
    /// Sessions with the facet are left out.
    Without,
}

/// The facets in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// Wanted.
    pub only: Vec<Facet>,
    /// Left out.
    pub without: Vec<Facet>,
}

impl Facets {
    /// None is in force.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.without.is_empty()
    }

    /// Effect of a facet.
    #[must_use]
    pub fn wish(&self, facet: &Facet) -> Wish {
        if self.only.contains(facet) {
            Wish::Only
        } else if self.without.contains(facet) {
            Wish::Without
        } else {
            Wish::None
        }
    }

    /// Changes what a facet does.
    pub fn set(&mut self, facet: Facet, wish: Wish) {
        self.only.retain(|other| *other != facet);
        self.without.retain(|other| *other != facet);
        match wish {
            Wish::None => {}
            Wish::Only => self.only.push(facet),
            Wish::Without => self.without.push(facet),
        }
    }

    /// Leaves out those that `keep` does not want.
    pub fn retain(&mut self, keep: impl Fn(&Facet) -> bool) {
        self.only.retain(&keep);
        self.without.retain(&keep);
    }

    /// Adds those of `more`.
    pub fn extend(&mut self, more: Facets) {
        for facet in more.only {
            self.set(facet, Wish::Only);
        }
        for facet in more.without {
            self.set(facet, Wish::Without);
        }
    }

    /// One text each, as typed; [`Facets::parse`] reads them.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let only = self.only.iter().map(ToString::to_string);
        only.chain(self.without.iter().map(|facet| format!("-{facet}"))).collect()
    }

    /// Reads facets out of words; the other words come back as they stand, one blank between.
    #[must_use]
    pub fn parse<'t>(words: impl Iterator<Item = &'t str>) -> (Self, String) {
        let mut facets = Self::default();
        let mut rest: Vec<&str> = Vec::new();
        for word in words {
            let (bare, wish) = match word.strip_prefix('-') {
                Some(bare) => (bare, Wish::Without),
                None => (word, Wish::Only),
            };
            match Facet::parse(bare) {
                Some(facet) => facets.set(facet, wish),
                None => rest.push(word),
            }
        }
        (facets, rest.join(" "))
    }

    /// True if a session is listed.
    #[must_use]
    pub fn pass(&self, meta: &SessionMeta, catalogue: &Catalogue, now: At) -> bool {
        // What is put away is not listed unless it is asked for.
        if meta.archived && !self.only.contains(&Facet::Archived) || meta.hidden && !self.only.contains(&Facet::Hidden)
        {
            return false;
        }
        let holds = |facet: &Facet| facet.holds(meta, catalogue, now);
        let wanted =
            self.only.iter().all(|facet| self.only.iter().filter(|other| other.kind() == facet.kind()).any(holds));
        wanted && !self.without.iter().any(holds)
    }
}

/// True if something waits for the user in a session.
#[must_use]
pub fn needs_you(meta: &SessionMeta) -> bool {
    meta.needs_you()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Mode;
    use crate::domain::ids::SessionId;

    fn passes(filter: &str, change: impl Fn(&mut SessionMeta)) -> bool {
        let mut meta = SessionMeta::new(SessionId::parse("a").unwrap(), At(1), Mode::Ask, "/w".into());
        change(&mut meta);
        let (facets, rest) = Facets::parse(filter.split(' ').filter(|word| !word.is_empty()));
        assert_eq!(rest, "");
        assert_eq!(Facets::parse(facets.texts().iter().map(String::as_str)).0, facets, "read back");
        facets.pass(&meta, &Catalogue::default(), At(1))
    }

    #[test]
    fn facets_include_and_exclude() {
        let labels = |all: &[&str]| all.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        assert!(passes("", |_| {}));
        assert!(!passes("", |m| m.archived = true) && !passes("", |m| m.hidden = true));
        assert!(passes("is:archived", |m| m.archived = true) && !passes("is:archived", |_| {}));
        assert!(!passes("-is:archived", |m| m.archived = true));
        assert!(passes("is:flagged", |m| m.flagged = true) && !passes("is:flagged", |_| {}));
        assert!(!passes("-is:unread", |m| m.unread = true) && passes("-is:unread", |_| {}));
        assert!(passes("status:todo status:in_progress", |m| m.status = "in-progress".to_owned()));
        assert!(!passes("status:todo is:flagged", |_| {}), "both kinds are wanted");
        assert!(passes("label:bug", |m| m.labels = labels(&["bug::3"])));
        assert!(!passes("label:bug -label:old", |m| m.labels = labels(&["bug", "old"])));
        assert!(passes("is:waiting", |m| m.plan_pending = true) && !passes("is:waiting", |_| {}));
    }

    #[test]
    fn words_that_are_no_facets_stay() {
        let (facets, rest) = Facets::parse("fix is:flagged is:odd a:b -label:x label: the".split(' '));
        assert_eq!(facets.texts(), ["is:flagged", "-label:x"]);
        assert_eq!(rest, "fix is:odd a:b label: the");
    }
}
