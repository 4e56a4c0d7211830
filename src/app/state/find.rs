//! The search over all sessions: the query, the results as they come in, and the one that is selected. It is kept while
//! its overlay is closed, so that one comes back to where one was.

use super::edit::Line;
use crate::domain::ids::{At, MessageId, SessionId};
use crate::domain::query::{Query, QueryError, QueryWord};
use crate::domain::search_hit::{HitIn, RowHit, Searched, SessionHits};

/// Progress of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was asked for.
    #[default]
    Idle,
    /// The query was typed; it is sent in a moment.
    Typing,
    /// The engine searches since this instant.
    Searching(At),
    /// It is over.
    Done(Searched),
    /// The query cannot be understood: why, and where.
    Wrong(QueryError),
    /// It was stopped before its end, by closing the overlay.
    Stopped,
}

/// A line of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultRow {
    /// A session, by its place in [`Find::groups`], and the place of the hit in its title if there is one.
    Session(usize, Option<usize>),
    /// A hit: the session's place and the hit's place in it.
    Hit(usize, usize),
    /// Number of further hits of this session that are not sent.
    More(usize, u64),
}

impl ResultRow {
    /// The hit that the row stands for: the session's place and the hit's place in it.
    #[must_use]
    pub fn hit(self) -> Option<(usize, usize)> {
        match self {
            ResultRow::Session(group, Some(hit)) | ResultRow::Hit(group, hit) => Some((group, hit)),
            ResultRow::Session(_, None) | ResultRow::More(..) => None,
        }
    }
}

/// The search over all sessions.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Query, in the query language.
    pub query: Line,
    /// The number of the last search that was sent; answers to others are too late.
    pub number: u64,
    /// Query that was sent with that number.
    pub sent: String,
    /// Progress.
    pub phase: Phase,
    /// Hits, in the order in which they came.
    pub groups: Vec<SessionHits>,
    /// The text of the query as it was last looked at.
    pub looked: String,
    /// `groups` are of the search before: they stay until the first answer of the new one.
    pub stale: bool,
    /// The lines of the results.
    pub rows: Vec<ResultRow>,
    /// The selected hit: the session's place and the hit's place in it.
    pub selected: Option<(usize, usize)>,
    /// The first line on the screen.
    pub top: usize,
}

impl Find {
    /// Takes in what was found. What is shown stays where it is: new sessions go below, and the selection stays on its
    /// hit.
    pub fn add(&mut self, results: Vec<SessionHits>) {
        if std::mem::take(&mut self.stale) {
            self.groups.clear();
            self.selected = None;
            self.top = 0;
        }
        for found in results {
            match self.groups.iter_mut().find(|group| group.session == found.session) {
                Some(group) => {
                    group.hits.extend(found.hits);
                    group.total = group.total.max(found.total);
                }
                None => self.groups.push(found),
            }
        }
        self.lay();
    }

    /// Forgets all results.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.stale = false;
        self.selected = None;
        self.top = 0;
        self.lay();
    }

    fn lay(&mut self) {
        self.rows.clear();
        for (place, group) in self.groups.iter().enumerate() {
            // A hit in the title is marked there: it needs no line of its own.
            let title = group.hits.iter().position(|hit| hit.place == HitIn::Title);
            self.rows.push(ResultRow::Session(place, title));
            let others = (0..group.hits.len()).filter(|hit| Some(*hit) != title);
            self.rows.extend(others.map(|hit| ResultRow::Hit(place, hit)));
            let more = group.total.saturating_sub(u64::try_from(group.hits.len()).unwrap_or(u64::MAX));
            if more > 0 {
                self.rows.push(ResultRow::More(place, more));
            }
        }
        if self.selected.is_none_or(|selected| self.hit(selected).is_none()) {
            let hits = || self.rows.iter().filter_map(|row| row.hit());
            let first = hits().next();
            // A title is no place in a conversation: a line of the same session is looked for first.
            let line = |at: &(usize, usize)| self.hit(*at).is_some_and(|(_, hit)| hit.row.is_some());
            self.selected = hits().find(|at| first.is_some_and(|first| first.0 == at.0) && line(at)).or(first);
        }
    }

    /// The line of the selected hit.
    #[must_use]
    pub fn place(&self) -> Option<usize> {
        let selected = self.selected?;
        self.rows.iter().position(|row| row.hit() == Some(selected))
    }

    /// Moves the selection by a number of hits, stopping at both ends, and keeps it within `height` lines.
    pub fn step(&mut self, by: isize, height: usize) {
        let hits: Vec<(usize, usize)> = self.rows.iter().filter_map(|row| row.hit()).collect();
        let Some(last) = hits.len().checked_sub(1) else { return };
        let at = self.selected.and_then(|selected| hits.iter().position(|hit| *hit == selected));
        let to = at.map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.selected = hits.get(to).copied();
        self.follow(height);
    }

    /// To the first hit of the next session, or of the one before.
    pub fn step_session(&mut self, by: isize, height: usize) {
        let Some((group, _)) = self.selected else { return };
        let to = group.saturating_add_signed(by).min(self.groups.len().saturating_sub(1));
        let first = self.rows.iter().find_map(|row| row.hit().filter(|hit| hit.0 == to));
        self.selected = first.or(self.selected);
        self.follow(height);
    }

    /// Selects the hit of a line. Whether it has one.
    pub fn select_row(&mut self, row: usize) -> bool {
        let hit = self.rows.get(row).and_then(|row| match *row {
            ResultRow::Session(group, None) | ResultRow::More(group, _) => {
                self.rows.iter().find_map(|row| row.hit().filter(|hit| hit.0 == group))
            }
            row => row.hit(),
        });
        self.selected = hit.or(self.selected);
        hit.is_some()
    }

    /// Scrolls so that the selected line, with the session's line above it, is among `height` lines.
    pub fn follow(&mut self, height: usize) {
        let Some(at) = self.place() else { return };
        let first = match at.checked_sub(1).and_then(|before| self.rows.get(before)) {
            Some(ResultRow::Session(..)) if height > 1 => at - 1,
            _ => at,
        };
        if first < self.top {
            self.top = first;
        }
        self.top = self.top.max((at + 1).saturating_sub(height.max(1)));
    }

    /// The hit at a place.
    #[must_use]
    pub fn hit(&self, (group, hit): (usize, usize)) -> Option<(&SessionHits, &RowHit)> {
        let group = self.groups.get(group)?;
        Some((group, group.hits.get(hit)?))
    }

    /// The selected hit with its session.
    #[must_use]
    pub fn chosen(&self) -> Option<(&SessionHits, &RowHit)> {
        self.hit(self.selected?)
    }

    /// Number of hits, including those that were not sent.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.total).sum()
    }
}

/// The way through the hits of one session, after one of them was opened from the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Trail {
    /// The session.
    pub session: SessionId,
    /// Its hits that are rows, in the order of the results: the best first.
    pub stops: Vec<Stop>,
    /// The one that is shown, by its place in `stops`.
    pub at: usize,
    /// The session has more hits than were sent.
    pub more: bool,
    /// Query.
    pub query: String,
    /// Marks in the conversation.
    pub marker: Marker,
}

/// A place in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The row.
    pub row: Option<MessageId>,
    /// The byte at which its line begins.
    pub at: u64,
    /// Time when it was written.
    pub when: At,
}

impl Trail {
    /// The way through the hits of a session that begins at one of them; `None` where that is no row.
    #[must_use]
    pub fn of(found: &SessionHits, from: &RowHit, query: &str) -> Option<Self> {
        let stop = |hit: &RowHit| Stop { row: hit.row.clone(), at: hit.at, when: hit.when };
        let mut stops: Vec<Stop> = Vec::new();
        for stop in found.hits.iter().filter(|hit| hit.row.is_some()).map(stop) {
            // Several lines of one row are one stop.
            if !stops.iter().any(|other| other.at == stop.at && other.row == stop.row) {
                stops.push(stop);
            }
        }
        let here = stop(from);
        let at = stops.iter().position(|stop| stop.at == here.at && stop.row == here.row)?;
        let more = found.total > u64::try_from(found.hits.len()).unwrap_or(u64::MAX);
        let marker = Marker::of_query(query);
        Some(Self { session: found.session.clone(), stops, at, more, query: query.to_owned(), marker })
    }
}

/// Search hits marked in a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marker {
    query: Query,
}

impl Marker {
    /// Marks a text wherever it stands, large and small letters alike.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self { query: Query { words: QueryWord::new(text).into_iter().collect(), ..Query::default() } }
    }

    /// Marks the words of a query; nothing where it cannot be understood.
    #[must_use]
    pub fn of_query(query: &str) -> Self {
        Self { query: Query::parse(query).unwrap_or_default() }
    }

    /// The marked bytes of a line, from left to right: start and end.
    #[must_use]
    pub fn marks(&self, line: &str) -> Vec<(usize, usize)> {
        if self.query.words.is_empty() { Vec::new() } else { self.query.marks(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(place: HitIn, at: u64) -> RowHit {
        let row = (place != HitIn::Title).then(|| MessageId::new(format!("m{at}")));
        RowHit { place, row, at, when: At(1), line: "a line".to_owned(), marks: vec![(0, 1)] }
    }

    fn hits(name: &str, hits: Vec<RowHit>, total: u64) -> SessionHits {
        let session = SessionId::parse(name).unwrap();
        SessionHits { session, title: name.to_owned(), last_message: At(1), hits, total }
    }

    #[test]
    fn the_selection_stays_while_results_come_in() {
        let mut find = Find::default();
        find.add(vec![hits("a", vec![hit(HitIn::User, 10), hit(HitIn::Tool, 20)], 5)]);
        assert_eq!(
            find.rows,
            [ResultRow::Session(0, None), ResultRow::Hit(0, 0), ResultRow::Hit(0, 1), ResultRow::More(0, 3)]
        );
        assert_eq!(find.selected, Some((0, 0)));
        find.step(1, 10);
        find.add(vec![hits("b", vec![hit(HitIn::Title, 0), hit(HitIn::User, 9)], 2)]);
        assert_eq!(find.selected, Some((0, 1)), "new sessions go below");
        assert_eq!(find.top, 0);
        find.step(1, 10);
        assert_eq!(find.selected, Some((1, 0)), "the line of a session whose title matches is a hit");
        find.step(isize::MAX, 3);
        assert_eq!((find.selected, find.top), (Some((1, 1)), 3));
        find.step_session(-1, 3);
        assert_eq!((find.selected, find.top), (Some((0, 0)), 0));
        assert!(
            find.select_row(3) && find.selected == Some((0, 0)),
            "the line that tells of more leads to its session"
        );
    }

    #[test]
    fn what_is_stale_goes_with_the_first_answer() {
        let mut find = Find::default();
        find.add(vec![hits("a", vec![hit(HitIn::User, 10)], 1)]);
        find.stale = true;
        find.add(vec![]);
        assert!(find.groups.is_empty() && find.rows.is_empty() && find.selected.is_none());
    }

    #[test]
    fn only_the_words_of_a_query_are_marked() {
        assert_eq!(Marker::of_query("retry -late tool:bash").marks("Retry late, bash"), [(0, 5)]);
        assert_eq!(Marker::of_query("after:x y").marks("x y"), [], "what is not supported marks nothing");
        assert_eq!(Marker::of_text("a b").marks("xa by"), [(1, 4)]);
        assert_eq!(Marker::of_text("").marks("xa by"), []);
    }

    #[test]
    fn a_trail_goes_in_the_order_of_the_results() {
        let lines = vec![hit(HitIn::Title, 0), hit(HitIn::User, 30), hit(HitIn::User, 30), hit(HitIn::Tool, 10)];
        let found = hits("a", lines, 9);
        let trail = Trail::of(&found, &found.hits[1], "w").unwrap();
        assert_eq!(trail.stops.iter().map(|stop| stop.at).collect::<Vec<_>>(), [30, 10]);
        assert_eq!((trail.at, trail.more), (0, true));
        assert!(Trail::of(&found, &found.hits[0], "w").is_none(), "a title is no place in the conversation");
    }
}
