//! The list of sessions: what is known of each, which are listed in what order, and a cursor that stays with its
//! session when rows move.
//!
//! `group` says under which heading a session stands, `bands` keeps the rows in order, `filter` says which are listed,
//! `marks` which are changed together, `undo` how a change is taken back, `kept` what the next start remembers of it all.

pub mod bands;
pub mod catalogue;
pub mod filter;
pub mod group;
pub mod kept;
pub mod marks;
pub mod undo;

use super::fuzzy::Narrowed;
use crate::domain::colour::Colour;
use crate::domain::ids::{At, SessionId};
use crate::domain::property::Properties;
use crate::domain::session::{Activity, SessionMeta};
pub use bands::{Band, Cursor, Row};
use bands::{Bands, Place};
use catalogue::Catalogue;
pub use filter::{Facet, Facets, Filter, Wish, needs_you};
use group::{Calendar, group_of};
pub use group::{Group, Grouping};
use marks::Marks;
use std::collections::{BTreeSet, HashMap, HashSet};
use undo::Undo;

/// A session, and where it stands.
#[derive(Clone, Debug)]
struct Known {
    meta: SessionMeta,
    /// Its group and place, while it is listed.
    stands: Option<(Group, Place)>,
}

impl Known {
    fn place(&self) -> Option<(&Group, Place)> {
        let (group, place) = self.stands.as_ref()?;
        Some((group, place.clone()))
    }
}

/// The list of sessions.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    known: HashMap<SessionId, Known>,
    /// All that the facets let through.
    standing: Bands,
    /// Sessions of `standing` whose title matches, while words are typed.
    matching: Option<(Narrowed, Bands)>,
    /// Facets that stand in what is typed.
    typed: Facets,
    needing: BTreeSet<SessionId>,
    /// The sessions that others spawned, by these.
    below: HashMap<SessionId, BTreeSet<SessionId>>,
    /// All that this one spawned is listed: it, or one of them, is on the screen.
    family: Option<SessionId>,
    running: HashSet<SessionId>,
    catalogue: Catalogue,
    grouping: Grouping,
    /// The keys of folded groups, by grouping.
    folded: HashMap<Grouping, BTreeSet<String>>,
    facets: Facets,
    /// The day for which the rows were made.
    calendar: Calendar,
    cursor: Option<Cursor>,
    /// Number of times that all rows were rebuilt.
    arranged: u64,
    /// The engine sent the list.
    pub loaded: bool,
    /// Time of the last listing.
    pub listed_at: At,
    /// A filter by title.
    pub filter: Option<Filter>,
    /// The marked sessions.
    pub marks: Marks,
    /// The way back from the last change.
    pub undo: Option<Undo>,
    /// The first row on the screen.
    pub top: usize,
}

/// Content of the screen before rows move, to be found again afterwards.
struct Anchor {
    /// The place of the cursor.
    stop: Option<usize>,
    /// The session of the first row, or of the first one below it, and how many rows it stands below.
    top: Option<(SessionId, usize)>,
}

impl Sessions {
    fn bands(&self) -> &Bands {
        self.matching.as_ref().map_or(&self.standing, |(_, bands)| bands)
    }

    /// Number of rows, including headings.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.bands().rows()
    }

    /// The rows from the `from`th on.
    pub fn rows_from(&self, from: usize) -> impl Iterator<Item = Row<'_>> {
        self.bands().from_row(from)
    }

    /// Number of listed sessions, including those of folded groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bands().count()
    }

    /// Properties of a session.
    #[must_use]
    pub fn meta(&self, id: &SessionId) -> Option<&SessionMeta> {
        self.known.get(id).map(|known| &known.meta)
    }

    /// All sessions, in no order.
    pub fn metas(&self) -> impl Iterator<Item = &SessionMeta> {
        self.known.values().map(|known| &known.meta)
    }

    /// The selected session; `None` while the cursor stands on a heading, or nowhere.
    #[must_use]
    pub fn selected(&self) -> Option<&SessionId> {
        match &self.cursor {
            Some(Cursor::Session(id)) => Some(id),
            _ => None,
        }
    }

    /// Position of the cursor.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.cursor.as_ref()
    }

    /// The listed sessions in their order, without those of folded groups.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = &SessionId> {
        self.bands().shown()
    }

    /// True if a session has a row.
    #[must_use]
    pub fn is_shown(&self, id: &SessionId) -> bool {
        self.row_of(id).is_some()
    }

    /// The row of a session.
    #[must_use]
    pub fn row_of(&self, id: &SessionId) -> Option<usize> {
        let (group, place) = self.known.get(id)?.place()?;
        self.bands().row_of(group, &place)
    }

    /// Number of sessions that wait for the user, including archived ones.
    #[must_use]
    pub fn needing(&self) -> usize {
        self.needing_metas().count()
    }

    /// The sessions that need the user, each need once: see [`Self::stands_for_itself`].
    pub fn needing_metas(&self) -> impl Iterator<Item = &SessionMeta> {
        self.needing.iter().filter_map(|id| self.meta(id)).filter(|meta| self.stands_for_itself(meta))
    }

    /// A session and one that it spawned can need the user for the same. A request is the spawned one's; what was
    /// interrupted is continued above.
    #[must_use]
    pub fn stands_for_itself(&self, meta: &SessionMeta) -> bool {
        let above = || meta.parent.as_ref().and_then(|parent| self.meta(&parent.session)).is_some_and(needs_you);
        if meta.is_broken_unseen() { !above() } else { !self.waits_below(&meta.id) }
    }

    /// True if a request of a session spawned by this one waits for the user.
    #[must_use]
    pub fn waits_below(&self, id: &SessionId) -> bool {
        let asks = |child: &SessionId| self.meta(child).is_some_and(|meta| needs_you(meta) && !meta.is_broken_unseen());
        self.below.get(id).is_some_and(|below| below.iter().any(asks))
    }

    /// The sessions that this one spawned, the first one first.
    #[must_use]
    pub fn spawned_by(&self, id: &SessionId) -> Vec<&SessionMeta> {
        let mut found: Vec<&SessionMeta> =
            self.below.get(id).into_iter().flatten().filter_map(|child| self.meta(child)).collect();
        found.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
        found
    }

    /// True if a session is listed below the one that spawned it.
    #[must_use]
    pub fn is_nested(&self, id: &SessionId) -> bool {
        self.known.get(id).and_then(|known| known.stands.as_ref()).is_some_and(|(_, place)| place.under.is_some())
    }

    /// This session is on the screen: what it spawned is listed, or what its parent spawned.
    pub fn look_at(&mut self, id: Option<&SessionId>, now: At, utc_offset: i32) {
        let root = id.map(|id| match self.meta(id).and_then(|meta| meta.parent.as_ref()) {
            Some(parent) => parent.session.clone(),
            None => id.clone(),
        });
        if root == self.family {
            return;
        }
        let before = std::mem::replace(&mut self.family, root.clone());
        for family in [before, root].into_iter().flatten() {
            self.put_below(&family, now, utc_offset);
        }
    }

    /// Puts the sessions that this one spawned where they belong now.
    fn put_below(&mut self, id: &SessionId, now: At, utc_offset: i32) {
        let below: Vec<SessionMeta> = self.spawned_by(id).into_iter().cloned().collect();
        for meta in below {
            self.put(meta, now, utc_offset);
        }
    }

    /// Group and place of a session. A spawned one is listed below its parent while it works or
    /// waits, and while one of the family is on the screen.
    fn standing(&self, meta: &SessionMeta, now: At) -> Option<(Group, Place)> {
        if let Some(parent) = &meta.parent
            && let Some((group, place)) = self.known.get(&parent.session).and_then(|known| known.stands.as_ref())
            && (meta.activity != Activity::Idle || needs_you(meta) || self.family.as_ref() == Some(&parent.session))
            && place.under.is_none()
        {
            let under = Some((place.at, place.id.clone()));
            return Some((group.clone(), Place { at: meta.created, id: meta.id.clone(), under }));
        }
        self.facets_pass(meta, now).then(|| {
            let group = group_of(meta, self.grouping, &self.calendar, &self.catalogue);
            (group, Place { at: meta.last_message, id: meta.id.clone(), under: None })
        })
    }

    /// True while a turn runs in any session, or is being stopped.
    #[must_use]
    pub fn any_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Definitions of statuses and labels.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Grouping of the list.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The facets in force, those that are being typed left out.
    #[must_use]
    pub fn facets(&self) -> &Facets {
        &self.facets
    }

    /// The heading of a group: what the workspace calls it.
    #[must_use]
    pub fn heading(&self, group: &Group, now: At, utc_offset: i32) -> String {
        let entry = match group {
            Group::Status(_, id) => self.catalogue.status_entry(id),
            Group::Label(_, id) => self.catalogue.label_entry(id),
            _ => None,
        };
        entry.map_or_else(|| group.label(now, utc_offset), |entry| entry.name.clone())
    }

    /// The colour of a group's status or label.
    #[must_use]
    pub fn heading_color(&self, group: &Group) -> Option<Colour> {
        let entry = match group {
            Group::Status(_, id) => self.catalogue.status_entry(id),
            Group::Label(_, id) => self.catalogue.label_entry(id),
            _ => None,
        };
        entry?.color
    }

    /// The band of a group.
    #[must_use]
    pub fn band(&self, group: &Group) -> Option<&Band> {
        self.bands().of(group)
    }

    /// True if a session of this band waits for the user.
    #[must_use]
    pub fn needs_in(&self, band: &Band) -> bool {
        self.needing.iter().any(|id| {
            let stands = self.known.get(id).and_then(|known| known.stands.as_ref());
            stands.is_some_and(|(group, _)| *group == band.group)
        })
    }

    /// True while the filter is being typed.
    #[must_use]
    pub fn filter_open(&self) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// True if words or facets narrow the list.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.filter.is_some() || !self.facets.is_empty()
    }

    /// Sessions that a change applies to: the marked ones in their order, else the selected one.
    #[must_use]
    pub fn chosen(&self) -> Vec<SessionId> {
        if self.marks.is_empty() {
            return self.selected().filter(|id| self.known.contains_key(*id)).cloned().into_iter().collect();
        }
        self.standing.all().filter(|id| self.marks.has(id)).cloned().collect()
    }

    /// Number of times that all rows were rebuilt: a figure for tests.
    #[must_use]
    pub fn arranged(&self) -> u64 {
        self.arranged
    }

    // Changes.

    /// Replaces all sessions.
    pub fn replace(&mut self, metas: Vec<SessionMeta>, now: At, utc_offset: i32) {
        let anchor = self.anchor();
        self.loaded = true;
        self.listed_at = now;
        self.needing.clear();
        self.running.clear();
        self.below.clear();
        let mut known = HashMap::with_capacity(metas.len());
        for meta in metas {
            self.count_in(&meta);
            known.insert(meta.id.clone(), Known { meta, stands: None });
        }
        self.known = known;
        self.arrange_at(anchor, now, utc_offset);
    }

    fn count_in(&mut self, meta: &SessionMeta) {
        if let Some(parent) = &meta.parent {
            self.below.entry(parent.session.clone()).or_default().insert(meta.id.clone());
        }
        if needs_you(meta) {
            self.needing.insert(meta.id.clone());
        } else {
            self.needing.remove(&meta.id);
        }
        if matches!(meta.activity, Activity::Running(_) | Activity::Stopping) {
            self.running.insert(meta.id.clone());
        } else {
            self.running.remove(&meta.id);
        }
    }

    /// Puts in one session, new or changed: only its own row moves.
    pub fn put(&mut self, meta: SessionMeta, now: At, utc_offset: i32) {
        if Calendar::of(now, utc_offset) != self.calendar {
            // The rows are of another day.
            self.arrange(now, utc_offset);
        }
        self.count_in(&meta);
        let stands = self.standing(&meta, now);
        let old = self.known.get(&meta.id);
        let stays = old.is_some_and(|old| old.stands == stands);
        let titled = old.is_some_and(|old| old.meta.shown_title() == meta.shown_title());
        if stays && (titled || self.matching.is_none()) {
            if let Some(old) = self.known.get_mut(&meta.id) {
                old.meta = meta;
            }
            return;
        }
        let anchor = self.anchor();
        self.take_out(&meta.id);
        let id = meta.id.clone();
        if let Some((group, place)) = &stands {
            let place = place.clone();
            let folded = self.is_folded(group);
            if let Some((words, bands)) = &mut self.matching
                && words.matches(meta.shown_title())
            {
                bands.insert(group, place.clone(), false);
            }
            self.standing.insert(group, place, folded);
        } else {
            self.marks.forget(&meta.id);
        }
        self.known.insert(meta.id.clone(), Known { meta, stands });
        self.settle(anchor);
        self.put_below(&id, now, utc_offset);
    }

    /// Takes a session's row out.
    fn take_out(&mut self, id: &SessionId) {
        let Some(known) = self.known.get_mut(id) else { return };
        let Some((group, place)) = known.stands.take() else { return };
        self.standing.remove(&group, &place);
        if let Some((_, bands)) = &mut self.matching {
            bands.remove(&group, &place);
        }
    }

    /// Forgets a session. The cursor goes to its neighbour.
    pub fn remove(&mut self, id: &SessionId) {
        let anchor = self.anchor();
        // What it spawned stands below nothing any more.
        for child in self.below.remove(id).unwrap_or_default() {
            self.take_out(&child);
        }
        self.take_out(id);
        self.forget(id);
        self.marks.forget(id);
        self.settle(anchor);
    }

    fn forget(&mut self, id: &SessionId) {
        let parent = self.known.remove(id).and_then(|known| known.meta.parent);
        if let Some(below) = parent.and_then(|parent| self.below.get_mut(&parent.session)) {
            below.remove(id);
        }
        self.needing.remove(id);
        self.running.remove(id);
    }

    /// The end of a session was seen: it is not unread any more. Whether it was. Its row stays until the next report.
    pub fn read(&mut self, id: &SessionId) -> bool {
        self.known.get_mut(id).is_some_and(|known| known.meta.mark_seen())
    }

    /// The session has another id from now on.
    pub fn reidentify(&mut self, from: &SessionId, to: &SessionId, now: At, utc_offset: i32) {
        let cursor = self.selected() == Some(from);
        if cursor {
            self.cursor = Some(Cursor::Session(to.clone()));
        }
        self.marks.rename(from, to);
        let meta = self.known.get(from).map(|known| SessionMeta { id: to.clone(), ..known.meta.clone() });
        self.take_out(from);
        self.forget(from);
        if let Some(meta) = meta.filter(|meta| !self.known.contains_key(&meta.id)) {
            self.put(meta, now, utc_offset);
        }
    }

    /// The workspace's statuses and labels.
    pub fn define(&mut self, properties: &Properties, now: At, utc_offset: i32) {
        self.catalogue = Catalogue::of(properties);
        self.arrange(now, utc_offset);
    }

    /// Makes the rows anew when the day has changed since. Whether it did.
    pub fn turn_day(&mut self, now: At, utc_offset: i32) -> bool {
        let stale = Calendar::of(now, utc_offset) != self.calendar;
        if stale {
            self.arrange(now, utc_offset);
        }
        stale
    }

    fn facets_pass(&self, meta: &SessionMeta, now: At) -> bool {
        if self.typed.is_empty() {
            return self.facets.pass(meta, &self.catalogue, now);
        }
        let mut both = self.facets.clone();
        both.extend(self.typed.clone());
        both.pass(meta, &self.catalogue, now)
    }

    /// Makes all rows anew. The cursor stays with its session; if that is not listed any more, it goes to the one that
    /// stands at its place.
    pub fn arrange(&mut self, now: At, utc_offset: i32) {
        let anchor = self.anchor();
        self.arrange_at(anchor, now, utc_offset);
    }

    fn arrange_at(&mut self, anchor: Anchor, now: At, utc_offset: i32) {
        self.arranged += 1;
        self.calendar = Calendar::of(now, utc_offset);
        let words = self.read_filter();
        let mut facets = self.facets.clone();
        facets.extend(self.typed.clone());
        let mut all = Vec::with_capacity(self.known.len());
        for known in self.known.values_mut() {
            let meta = &known.meta;
            known.stands = facets.pass(meta, &self.catalogue, now).then(|| {
                let group = group_of(meta, self.grouping, &self.calendar, &self.catalogue);
                (group, Place { at: meta.last_message, id: meta.id.clone(), under: None })
            });
            if meta.parent.is_none() {
                all.extend(known.stands.clone());
            }
        }
        // Their parents have their places now.
        let below: Vec<SessionId> = self.below.values().flatten().cloned().collect();
        for id in below {
            let Some(stands) = self.known.get(&id).map(|known| self.standing(&known.meta, now)) else { continue };
            all.extend(stands.clone());
            if let Some(known) = self.known.get_mut(&id) {
                known.stands = stands;
            }
        }
        let folded = self.folded.get(&self.grouping);
        self.standing = Bands::sorted(all, |group| folded.is_some_and(|keys| keys.contains(&group.key())));
        self.narrow(&words, None);
        let gone: Vec<SessionId> = self.marked().filter(|id| !self.stands(id)).cloned().collect();
        for id in gone {
            self.marks.forget(&id);
        }
        self.settle(anchor);
    }

    fn stands(&self, id: &SessionId) -> bool {
        self.known.get(id).is_some_and(|known| known.stands.is_some())
    }

    fn marked(&self) -> impl Iterator<Item = &SessionId> {
        self.marks.iter()
    }

    /// Takes the facets out of what is typed. The other words come back.
    fn read_filter(&mut self) -> String {
        let Some(filter) = &self.filter else {
            self.typed = Facets::default();
            return String::new();
        };
        let (mut typed, words) = Facets::parse(filter.query.text().split_whitespace());
        // While `status:d` is on its way to `status:done` it lists all.
        typed.retain(|facet| facet.is_known(&self.catalogue));
        self.typed = typed;
        let finished = words.split(' ').filter(|word| !Facet::is_begun(word));
        finished.collect::<Vec<_>>().join(" ")
    }

    /// Applies a changed filter text to the rows, with as little work as it takes.
    pub fn retype(&mut self, now: At, utc_offset: i32) {
        let typed = self.typed.clone();
        let words = self.read_filter();
        if typed != self.typed || Calendar::of(now, utc_offset) != self.calendar {
            return self.arrange(now, utc_offset);
        }
        let anchor = self.anchor();
        let before = self.matching.take();
        self.narrow(&words, before);
        self.settle(anchor);
    }

    /// Finds those whose title matches; `before` is what matched the words that were typed before.
    fn narrow(&mut self, words: &str, before: Option<(Narrowed, Bands)>) {
        if words.is_empty() {
            self.matching = None;
            return;
        }
        let mut narrowed = Narrowed::new(words);
        let known = &self.known;
        let mut keep = |id: &SessionId| known.get(id).is_some_and(|known| narrowed.matches(known.meta.shown_title()));
        let bands = match before {
            Some((was, mut bands)) if was.is_wider_than(words) => {
                bands.retain(&mut keep);
                bands
            }
            _ => self.standing.kept(&mut keep),
        };
        self.matching = Some((narrowed, bands));
    }

    /// Typed facets that do not exist.
    #[must_use]
    pub fn unknown_facets(&self) -> Vec<String> {
        let text = self.filter.as_ref().map_or("", |filter| filter.query.text());
        let unknown = text.split_whitespace().filter(|word| {
            let facet = Facet::parse(word.strip_prefix('-').unwrap_or(word));
            facet.map_or_else(|| Facet::is_begun(word), |facet| !facet.is_known(&self.catalogue))
        });
        unknown.map(str::to_owned).collect()
    }

    /// Enter in the filter: facets that were typed become chips, words stay in force.
    pub fn accept_filter(&mut self, now: At, utc_offset: i32) {
        let words = self.read_filter();
        self.facets.extend(std::mem::take(&mut self.typed));
        match &mut self.filter {
            Some(_) if words.is_empty() => self.filter = None,
            Some(filter) => {
                filter.typing = false;
                filter.query = super::edit::Line::new(&words);
            }
            None => {}
        }
        self.arrange(now, utc_offset);
    }

    /// Changes what a facet does.
    pub fn set_facet(&mut self, facet: Facet, wish: Wish, now: At, utc_offset: i32) {
        self.facets.set(facet, wish);
        self.arrange(now, utc_offset);
    }

    /// All is listed again. Whether anything narrowed the list.
    pub fn clear_filter(&mut self, now: At, utc_offset: i32) -> bool {
        let any = self.is_filtered();
        self.filter = None;
        self.facets = Facets::default();
        if any {
            self.arrange(now, utc_offset);
        }
        any
    }

    /// Groups the list in another way.
    pub fn group_by(&mut self, grouping: Grouping, now: At, utc_offset: i32) {
        self.grouping = grouping;
        if matches!(self.cursor, Some(Cursor::Heading(_))) {
            self.cursor = None;
        }
        self.arrange(now, utc_offset);
    }

    fn is_folded(&self, group: &Group) -> bool {
        self.folded.get(&self.grouping).is_some_and(|keys| keys.contains(&group.key()))
    }

    /// The group at the cursor.
    #[must_use]
    pub fn group_at_cursor(&self) -> Option<Group> {
        match self.cursor.as_ref()? {
            Cursor::Heading(group) => Some(group.clone()),
            Cursor::Session(id) => Some(self.known.get(id)?.stands.as_ref()?.0.clone()),
        }
    }

    /// Folds or unfolds a group. The cursor goes to its heading with its session, and back to its first session.
    /// True if anything changed.
    pub fn fold(&mut self, group: &Group, folded: bool) -> bool {
        if !group.is_headed() || self.matching.is_some() {
            return false;
        }
        let here = self.group_at_cursor().as_ref() == Some(group);
        if !self.standing.fold(group, folded) {
            return false;
        }
        let keys = self.folded.entry(self.grouping).or_default();
        if folded {
            keys.insert(group.key());
        } else {
            keys.remove(&group.key());
        }
        if here {
            let first = self.standing.of(group).and_then(|band| band.ids().next()).cloned();
            self.cursor = match first {
                Some(id) if !folded => Some(Cursor::Session(id)),
                _ => Some(Cursor::Heading(group.clone())),
            };
        }
        true
    }

    /// Folds all groups, or unfolds them when all are folded.
    pub fn fold_all(&mut self) -> bool {
        let groups: Vec<Group> = self.standing.iter().map(|band| band.group.clone()).collect();
        let fold = self.standing.iter().any(|band| !band.folded);
        let mut any = false;
        for group in &groups {
            any |= self.fold(group, fold);
        }
        any
    }

    // The cursor.

    /// Selects this session.
    pub fn select(&mut self, id: &SessionId) {
        self.cursor = Some(Cursor::Session(id.clone()));
    }

    /// Puts the cursor on the heading of a folded group.
    pub fn select_heading(&mut self, group: &Group) {
        self.cursor = Some(Cursor::Heading(group.clone()));
    }

    /// Puts the cursor back where it stood, if that has a row still.
    pub fn restore_cursor(&mut self, cursor: Option<Cursor>) {
        let now = std::mem::replace(&mut self.cursor, cursor);
        if self.stop().is_none() {
            self.cursor = now;
        }
    }

    /// The cursor's place among all that it has.
    fn stop(&self) -> Option<usize> {
        match self.cursor.as_ref()? {
            Cursor::Heading(group) => self.bands().stop_of_heading(group),
            Cursor::Session(id) => {
                let (group, place) = self.known.get(id)?.place()?;
                self.bands().stop_of(group, &place)
            }
        }
    }

    /// The row at which the cursor stands.
    #[must_use]
    pub fn cursor_row(&self) -> Option<usize> {
        match self.cursor.as_ref()? {
            Cursor::Heading(group) => self.bands().row_of_heading(group),
            Cursor::Session(id) => self.row_of(id),
        }
    }

    /// Moves the cursor by a number of places, stopping at both ends; without one to the first.
    pub fn step(&mut self, by: isize) {
        let last = self.bands().stops().saturating_sub(1);
        let target = self.stop().map_or(0, |at| at.saturating_add_signed(by).min(last));
        if let Some(cursor) = self.bands().stop(target) {
            self.cursor = Some(cursor);
        }
        if let (Some(anchor), Some(here)) = (self.marks.anchor().cloned(), self.selected().cloned()) {
            let span: Vec<SessionId> = self.span(&anchor, &here);
            self.marks.span(span.iter());
        }
    }

    /// The sessions that are shown from one to the other, in whichever order they stand.
    fn span(&self, one: &SessionId, other: &SessionId) -> Vec<SessionId> {
        let mut inside = false;
        let mut span = Vec::new();
        for id in self.order() {
            let end = id == one || id == other;
            if end || inside {
                span.push(id.clone());
            }
            if end && (inside || one == other) {
                return span;
            }
            inside |= end;
        }
        Vec::new()
    }

    /// Marks all sessions of the group at the cursor, or takes their marks away.
    pub fn mark_group(&mut self) {
        let group = self.group_at_cursor();
        let ids: Vec<SessionId> =
            group.and_then(|group| self.bands().of(&group)).map_or_else(Vec::new, |band| band.ids().cloned().collect());
        self.marks.toggle_all(ids.iter());
    }

    /// Marks all that is listed, or takes all these marks away.
    pub fn mark_all(&mut self) {
        let ids: Vec<SessionId> = self.bands().all().cloned().collect();
        self.marks.toggle_all(ids.iter());
    }

    /// Scrolls so that the cursor's row, with a heading right above it, is among `height` rows from [`Sessions::top`].
    pub fn follow(&mut self, height: usize) {
        let height = height.max(1);
        let most = self.row_count().saturating_sub(height);
        if let Some(at) = self.cursor_row() {
            let headed = at > 0 && matches!(self.rows_from(at - 1).next(), Some(Row::Group(_)));
            let first = if headed { at - 1 } else { at };
            if first < self.top {
                self.top = first;
            } else if at >= self.top + height {
                self.top = at + 1 - height;
            }
        }
        self.top = self.top.min(most);
    }

    /// Current content of the screen.
    fn anchor(&self) -> Anchor {
        let top = (self.top > 0).then(|| {
            self.rows_from(self.top).enumerate().find_map(|(below, row)| match row {
                Row::Session(id) => Some((id.clone(), below)),
                Row::Group(_) => None,
            })
        });
        Anchor { stop: self.stop(), top: top.flatten() }
    }

    /// After rows moved: the first row on the screen stays the first, and a cursor whose row is gone goes to the one
    /// that stands at its place.
    fn settle(&mut self, anchor: Anchor) {
        if let Some((id, below)) = anchor.top
            && let Some(row) = self.row_of(&id)
        {
            self.top = row.saturating_sub(below);
        }
        self.top = self.top.min(self.row_count().saturating_sub(1));
        if anchor.stop.is_some() {
            self.rest();
        }
        if self.cursor.is_none() || self.stop().is_some() {
            return;
        }
        // A cursor without a place before stays: its session may be listed again.
        let Some(stop) = anchor.stop else { return };
        let last = self.bands().stops().saturating_sub(1);
        if let Some(cursor) = self.bands().stop(stop.min(last)) {
            self.cursor = Some(cursor);
        }
    }

    /// A cursor on a session of a folded group goes to the heading: nothing is done to what is not seen.
    pub fn rest(&mut self) {
        let Some(Cursor::Session(id)) = &self.cursor else { return };
        let Some((group, _)) = self.known.get(id).and_then(Known::place) else { return };
        if self.bands().stop_of_heading(group).is_some() {
            self.cursor = Some(Cursor::Heading(group.clone()));
        }
    }
}

#[cfg(test)]
mod tests;
