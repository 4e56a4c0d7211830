//! Statuses, labels and views of the workspace, prepared for the list: names, order, and the tree of labels.

use crate::domain::colour::Colour;
use crate::domain::expression::Expression;
use crate::domain::ids::At;
use crate::domain::property::{Category, Label, Properties, split_label};
use crate::domain::session::SessionMeta;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A status or label as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: Arc<str>,
    /// Name on the screen.
    pub name: String,
    /// Its colour.
    pub color: Option<Colour>,
    /// Its place.
    place: u32,
    /// Depth in its tree.
    pub depth: usize,
    /// Sessions with it are over; never true of a label.
    pub closed: bool,
    /// It and all below it.
    below: HashSet<Arc<str>>,
}

/// A view whose condition was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its id.
    pub id: String,
    /// Name on the screen.
    pub name: String,
    condition: Expression,
}

impl Named {
    /// True if a session belongs to it. One for which the condition fails to compute does not.
    #[must_use]
    pub fn holds(&self, meta: &SessionMeta, now: At) -> bool {
        self.condition.matches(meta, now).unwrap_or(false)
    }
}

/// The statuses and labels, by id, and the views in their order.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    views: Vec<Named>,
    statuses: HashMap<Arc<str>, Entry>,
    labels: HashMap<Arc<str>, Entry>,
    default_status: Option<Arc<str>>,
}

impl Catalogue {
    /// Reads the definitions.
    #[must_use]
    pub fn of(properties: &Properties) -> Self {
        let mut made = Self::default();
        for (place, status) in properties.statuses.iter().enumerate() {
            let id: Arc<str> = Arc::from(status.id.as_str());
            let entry = Entry {
                id: Arc::clone(&id),
                name: status.label.clone(),
                color: status.color,
                place: u32::try_from(place).unwrap_or(u32::MAX - 1),
                depth: 0,
                closed: status.category == Category::Closed,
                below: HashSet::new(),
            };
            made.statuses.insert(id, entry);
        }
        made.default_status =
            made.statuses.get_key_value(properties.default_status.as_str()).map(|(id, _)| Arc::clone(id));
        for label in &properties.labels {
            made.add(label, 0);
        }
        // Problems of a condition are reported with those of the definitions.
        let read = properties.views.iter().filter_map(|view| {
            let condition = Expression::parse(&view.expression).ok()?;
            Some(Named { id: view.id.clone(), name: view.name.clone(), condition })
        });
        made.views = read.collect();
        made
    }

    /// Puts in a label and all below it. Their ids come back.
    fn add(&mut self, label: &Label, depth: usize) -> HashSet<Arc<str>> {
        let id: Arc<str> = Arc::from(label.id.as_str());
        let place = u32::try_from(self.labels.len()).unwrap_or(u32::MAX - 1);
        let entry = Entry {
            id: Arc::clone(&id),
            name: label.name.clone(),
            color: label.color,
            place,
            depth,
            closed: false,
            below: HashSet::new(),
        };
        self.labels.insert(Arc::clone(&id), entry);
        let mut below = HashSet::from([Arc::clone(&id)]);
        for child in &label.children {
            below.extend(self.add(child, depth + 1));
        }
        if let Some(entry) = self.labels.get_mut(&id) {
            entry.below.clone_from(&below);
        }
        below
    }

    /// The place and id of a session's status. One that is not defined reads as the default one, where there is one.
    #[must_use]
    pub fn status(&self, id: &str) -> (u32, Arc<str>) {
        let known = self.statuses.get(id).or_else(|| self.statuses.get(self.default_status.as_ref()?));
        match known {
            Some(entry) => (entry.place, Arc::clone(&entry.id)),
            None => (u32::MAX, Arc::from(id)),
        }
    }

    /// The place and id of a label entry, `id` or `id::value`. One that is not defined comes after the others.
    #[must_use]
    pub fn label(&self, entry: &str) -> (u32, Arc<str>) {
        let (id, _) = split_label(entry);
        match self.labels.get(id) {
            Some(entry) => (entry.place, Arc::clone(&entry.id)),
            None => (u32::MAX - 1, Arc::from(id)),
        }
    }

    /// Definition of a status.
    #[must_use]
    pub fn status_entry(&self, id: &str) -> Option<&Entry> {
        let (_, id) = self.status(id);
        self.statuses.get(&id)
    }

    /// Definition of a label entry's label.
    #[must_use]
    pub fn label_entry(&self, entry: &str) -> Option<&Entry> {
        self.labels.get(split_label(entry).0)
    }

    /// A status of this id is defined, or none is.
    #[must_use]
    pub fn has_status(&self, id: &str) -> bool {
        self.statuses.is_empty() || self.statuses.contains_key(id)
    }

    /// A label of this id is defined, or none is.
    #[must_use]
    pub fn has_label(&self, id: &str) -> bool {
        self.labels.is_empty() || self.labels.contains_key(id)
    }

    /// True if a label entry is of the label `wanted` or of one below it.
    #[must_use]
    pub fn is_under(&self, entry: &str, wanted: &str) -> bool {
        let (id, _) = split_label(entry);
        id == wanted || self.labels.get(wanted).is_some_and(|entry| entry.below.contains(id))
    }

    /// A view, by its id.
    #[must_use]
    pub fn view(&self, id: &str) -> Option<&Named> {
        self.views.iter().find(|view| view.id == id)
    }

    /// The views.
    #[must_use]
    pub fn views(&self) -> &[Named] {
        &self.views
    }

    /// The statuses in their order.
    #[must_use]
    pub fn statuses(&self) -> Vec<&Entry> {
        sorted(&self.statuses)
    }

    /// The labels in the order of their tree.
    #[must_use]
    pub fn labels(&self) -> Vec<&Entry> {
        sorted(&self.labels)
    }
}

fn sorted(entries: &HashMap<Arc<str>, Entry>) -> Vec<&Entry> {
    let mut all: Vec<&Entry> = entries.values().collect();
    all.sort_by_key(|entry| entry.place);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::property::Status;

    fn label(id: &str, children: Vec<Label>) -> Label {
        Label { id: id.to_owned(), name: id.to_uppercase(), color: None, value_type: None, children, rules: vec![] }
    }

    fn status(id: &str) -> Status {
        Status {
            id: id.to_owned(),
            label: id.to_uppercase(),
            color: None,
            icon: None,
            category: Category::Open,
            order: 0,
            fixed: false,
            default: false,
        }
    }

    #[test]
    fn parents_hold_their_children_and_unknown_statuses_read_as_the_default() {
        let catalogue = Catalogue::of(&Properties {
            statuses: vec![status("todo"), status("done")],
            default_status: "todo".to_owned(),
            labels: vec![label("bug", vec![label("crash", vec![label("panic", vec![])])]), label("doc", vec![])],
            ..Properties::default()
        });
        assert_eq!(
            catalogue.labels().iter().map(|e| (&*e.id, e.depth)).collect::<Vec<_>>(),
            [("bug", 0), ("crash", 1), ("panic", 2), ("doc", 0)]
        );
        assert!(catalogue.is_under("panic::3", "bug") && catalogue.is_under("crash", "crash"));
        assert!(!catalogue.is_under("bug", "crash") && !catalogue.is_under("doc", "bug"));
        assert!(catalogue.is_under("free", "free"), "one that is not defined is itself");
        assert_eq!(catalogue.status("DONE-ish").1.as_ref(), "todo");
        assert!(catalogue.status("done") > catalogue.status("todo"));
        assert_eq!(Catalogue::default().status("x").1.as_ref(), "x");
        assert!(catalogue.label("free") > catalogue.label("doc"));
    }
}
