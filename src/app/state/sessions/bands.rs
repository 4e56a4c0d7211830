//! The rows of the list in their order: bands of sessions under their headings. One session moves without the others
//! being sorted anew; rows are counted and not kept.

use super::group::Group;
use crate::domain::ids::{At, SessionId};
use std::cmp::Ordering;

/// A session's place in its band: the latest first, and below each the ones that it spawned, the first of them first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The last message; of a spawned session when it was made.
    pub at: At,
    /// Session id.
    pub id: SessionId,
    /// The place of the session that it stands below.
    pub under: Option<(At, SessionId)>,
}

impl Place {
    fn order(&self, other: &Place) -> Ordering {
        let root = |place: &'_ Place| place.under.clone().unwrap_or_else(|| (place.at, place.id.clone()));
        if self.under.is_none() && other.under.is_none() {
            return other.at.cmp(&self.at).then_with(|| other.id.cmp(&self.id));
        }
        let (one, two) = (root(self), root(other));
        two.cmp(&one)
            .then_with(|| self.under.is_some().cmp(&other.under.is_some()))
            .then_with(|| self.at.cmp(&other.at))
            .then_with(|| self.id.cmp(&other.id))
    }
}

/// A heading and the sessions below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// The heading.
    pub group: Group,
    /// Its sessions are not shown.
    pub folded: bool,
    members: Vec<Place>,
}

impl Band {
    /// Number of sessions below it, shown or not. Spawned sessions are part of it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.members.iter().filter(|place| place.under.is_none()).count()
    }

    /// Its sessions in their order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = &SessionId> + ExactSizeIterator {
        self.members.iter().map(|place| &place.id)
    }

    fn head(&self) -> usize {
        usize::from(self.group.is_headed())
    }

    fn shown(&self) -> &[Place] {
        if self.is_closed() { &[] } else { &self.members }
    }

    fn is_closed(&self) -> bool {
        self.folded && self.group.is_headed()
    }

    fn rows(&self) -> usize {
        self.head() + self.shown().len()
    }

    /// Positions of the cursor: the sessions, or the heading of a folded group.
    fn stops(&self) -> usize {
        if self.is_closed() { 1 } else { self.members.len() }
    }
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    /// A heading.
    Group(&'a Band),
    /// A session.
    Session(&'a SessionId),
}

/// Cursor of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// On a session.
    Session(SessionId),
    /// On the heading of a folded group.
    Heading(Group),
}

/// The bands in their order; none is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bands(Vec<Band>);

impl Bands {
    /// Sorts sessions into bands; `folded` says of which nothing is shown.
    pub fn sorted(mut all: Vec<(Group, Place)>, folded: impl Fn(&Group) -> bool) -> Self {
        all.sort_unstable_by(|(ga, a), (gb, b)| ga.cmp(gb).then_with(|| a.order(b)));
        let mut bands: Vec<Band> = Vec::new();
        for (group, place) in all {
            match bands.last_mut().filter(|band| band.group == group) {
                Some(band) => band.members.push(place),
                None => bands.push(Band { folded: folded(&group), group, members: vec![place] }),
            }
        }
        Self(bands)
    }

    /// Copy with the sessions that `keep` wants, in the same order. Nothing stays folded: hits must be visible.
    #[must_use]
    pub fn kept(&self, mut keep: impl FnMut(&SessionId) -> bool) -> Self {
        let mut bands = Vec::new();
        for band in &self.0 {
            let members: Vec<Place> = band.members.iter().filter(|place| keep(&place.id)).cloned().collect();
            if !members.is_empty() {
                bands.push(Band { group: band.group.clone(), folded: false, members });
            }
        }
        Self(bands)
    }

    /// Leaves out those that `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&SessionId) -> bool) {
        for band in &mut self.0 {
            band.members.retain(|place| keep(&place.id));
        }
        self.0.retain(|band| !band.members.is_empty());
    }

    fn band(&self, group: &Group) -> Result<usize, usize> {
        self.0.binary_search_by(|band| band.group.cmp(group))
    }

    /// Puts a session in.
    pub fn insert(&mut self, group: &Group, place: Place, folded: bool) {
        match self.band(group) {
            Ok(at) => {
                if let Some(band) = self.0.get_mut(at)
                    && let Err(at) = band.members.binary_search_by(|other| other.order(&place))
                {
                    band.members.insert(at, place);
                }
            }
            Err(at) => self.0.insert(at, Band { group: group.clone(), folded, members: vec![place] }),
        }
    }

    /// Takes a session out. Whether it was there.
    pub fn remove(&mut self, group: &Group, place: &Place) -> bool {
        let Ok(at) = self.band(group) else { return false };
        let Some(band) = self.0.get_mut(at) else { return false };
        let Ok(member) = band.members.binary_search_by(|other| other.order(place)) else { return false };
        band.members.remove(member);
        if band.members.is_empty() {
            self.0.remove(at);
        }
        true
    }

    /// Folds or unfolds a group. Whether that changed anything.
    pub fn fold(&mut self, group: &Group, folded: bool) -> bool {
        let Ok(at) = self.band(group) else { return false };
        self.0.get_mut(at).is_some_and(|band| std::mem::replace(&mut band.folded, folded) != folded)
    }

    /// The band of a group.
    #[must_use]
    pub fn of(&self, group: &Group) -> Option<&Band> {
        self.0.get(self.band(group).ok()?)
    }

    /// The bands.
    pub fn iter(&self) -> impl Iterator<Item = &Band> {
        self.0.iter()
    }

    /// Number of rows, including headings.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.0.iter().map(Band::rows).sum()
    }

    /// Number of sessions, including those of folded groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(Band::count).sum()
    }

    /// The sessions that are shown, in their order.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &SessionId> {
        self.0.iter().flat_map(|band| band.shown()).map(|place| &place.id)
    }

    /// All sessions in their order, those of folded groups too.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &SessionId> {
        self.0.iter().flat_map(|band| &band.members).map(|place| &place.id)
    }

    /// The rows from the `from`th on.
    pub fn from_row(&self, from: usize) -> impl Iterator<Item = Row<'_>> {
        let (mut first, mut skip) = (0, from);
        while let Some(band) = self.0.get(first).filter(|band| band.rows() <= skip) {
            skip -= band.rows();
            first += 1;
        }
        self.0
            .iter()
            .skip(first)
            .flat_map(|band| {
                let heading = band.group.is_headed().then_some(Row::Group(band));
                heading.into_iter().chain(band.shown().iter().map(|place| Row::Session(&place.id)))
            })
            .skip(skip)
    }

    /// The row at which a session stands; `None` when it is not shown.
    #[must_use]
    pub fn row_of(&self, group: &Group, place: &Place) -> Option<usize> {
        let at = self.band(group).ok()?;
        let band = self.0.get(at)?;
        let member = band.shown().binary_search_by(|other| other.order(place)).ok()?;
        Some(self.before(at, Band::rows) + band.head() + member)
    }

    /// The row of a heading.
    #[must_use]
    pub fn row_of_heading(&self, group: &Group) -> Option<usize> {
        let at = self.band(group).ok().filter(|_| group.is_headed())?;
        Some(self.before(at, Band::rows))
    }

    fn before(&self, at: usize, of: fn(&Band) -> usize) -> usize {
        self.0.iter().take(at).map(of).sum()
    }

    /// Number of cursor positions.
    #[must_use]
    pub fn stops(&self) -> usize {
        self.0.iter().map(Band::stops).sum()
    }

    /// The `n`th place of the cursor.
    #[must_use]
    pub fn stop(&self, n: usize) -> Option<Cursor> {
        let mut rest = n;
        for band in &self.0 {
            if rest < band.stops() {
                return Some(match band.shown().get(rest) {
                    Some(place) => Cursor::Session(place.id.clone()),
                    None => Cursor::Heading(band.group.clone()),
                });
            }
            rest -= band.stops();
        }
        None
    }

    /// Cursor position of a session.
    #[must_use]
    pub fn stop_of(&self, group: &Group, place: &Place) -> Option<usize> {
        let at = self.band(group).ok()?;
        let member = self.0.get(at)?.shown().binary_search_by(|other| other.order(place)).ok()?;
        Some(self.before(at, Band::stops) + member)
    }

    /// Cursor position of a folded group's heading.
    #[must_use]
    pub fn stop_of_heading(&self, group: &Group) -> Option<usize> {
        let at = self.band(group).ok()?;
        self.0.get(at).filter(|band| band.is_closed())?;
        Some(self.before(at, Band::stops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(n: i64) -> Place {
        Place { at: At(n / 3), id: SessionId::parse(format!("s{n}")).unwrap(), under: None }
    }

    #[test]
    fn spawned_sessions_stand_below_theirs_in_the_order_of_their_making() {
        let child = |n: i64, made: i64, under: &Place| Place {
            at: At(made),
            under: Some((under.at, under.id.clone())),
            ..place(n)
        };
        let (old, new) = (place(3), place(9));
        let all = [child(11, 50, &old), child(12, 60, &new), old.clone(), child(13, 40, &old), new.clone()];
        let group = group(1);
        let mut bands = Bands::default();
        for place in &all {
            bands.insert(&group, place.clone(), false);
        }
        let ids: Vec<String> = bands.all().map(ToString::to_string).collect();
        assert_eq!(ids, ["s9", "s12", "s3", "s13", "s11"]);
        assert_eq!(bands, Bands::sorted(all.iter().map(|p| (group.clone(), p.clone())).collect(), |_| false));
        assert_eq!((bands.count(), bands.stops(), bands.row_of(&group, &all[0])), (2, 5, Some(5)));
        assert!(bands.remove(&group, &all[3]) && !bands.remove(&group, &all[3]));
    }

    fn group(n: u8) -> Group {
        if n == 9 { Group::All } else { Group::DaysAgo(n) }
    }

    proptest! {
        #[test]
        fn moving_one_is_as_good_as_sorting_all(
            first in proptest::collection::btree_map(0i64..30, 0u8..10, 0..20),
            moves in proptest::collection::vec((0i64..30, 0u8..10), 0..20),
            folded in 0u8..10,
        ) {
            let is_folded = |g: &Group| *g == group(folded);
            let entries = |of: &std::collections::BTreeMap<i64, u8>| {
                of.iter().map(|(n, g)| (group(*g), place(*n))).collect::<Vec<_>>()
            };
            let mut known = first;
            let mut bands = Bands::sorted(entries(&known), is_folded);
            for (n, to) in moves {
                if let Some(was) = known.remove(&n) {
                    prop_assert!(bands.remove(&group(was), &place(n)));
                }
                if to % 2 == 0 {
                    bands.insert(&group(to), place(n), is_folded(&group(to)));
                    known.insert(n, to);
                }
            }
            prop_assert_eq!(&bands, &Bands::sorted(entries(&known), is_folded));
            // Rows and stops are counted as they are drawn.
            let rows: Vec<Row> = bands.from_row(0).collect();
            prop_assert_eq!(rows.len(), bands.rows());
            for from in 0..rows.len() {
                prop_assert_eq!(bands.from_row(from).collect::<Vec<_>>(), &rows[from..]);
            }
            for (n, g) in &known {
                let at = bands.row_of(&group(*g), &place(*n));
                prop_assert_eq!(at.is_none(), *g == folded && group(*g).is_headed());
                if let Some(at) = at {
                    prop_assert_eq!(rows.get(at), Some(&Row::Session(&place(*n).id)));
                    let stop = bands.stop_of(&group(*g), &place(*n)).unwrap();
                    prop_assert_eq!(bands.stop(stop), Some(Cursor::Session(place(*n).id)));
                }
            }
            for band in bands.iter().filter(|band| band.group.is_headed()) {
                let at = bands.row_of_heading(&band.group).unwrap();
                prop_assert_eq!(rows.get(at), Some(&Row::Group(band)));
                if let Some(stop) = bands.stop_of_heading(&band.group) {
                    prop_assert_eq!(bands.stop(stop), Some(Cursor::Heading(band.group.clone())));
                }
            }
            prop_assert_eq!(bands.stop(bands.stops()), None);
            prop_assert_eq!(bands.all().count(), bands.count());
        }
    }
}
