//! Meaning of a query's names and dates in one workspace at one moment, and the sessions that match.

use super::{NamedFilter, Query, QueryError, either};
use crate::domain::fold;
use crate::domain::property::{Label, Properties, split_label};
use crate::domain::{At, SessionMeta};
use jiff::tz::TimeZone;

/// The sessions that a query looks at.
#[derive(Clone, Debug)]
pub struct Scope {
    statuses: Vec<(NamedFilter, Vec<String>)>,
    labels: Vec<(NamedFilter, Vec<String>, Option<String>)>,
    known: Vec<String>,
    default: String,
    after: At,
    before: At,
}

impl Scope {
    /// Looks the names up. Ids that only sessions know are names too.
    ///
    /// # Errors
    /// If a status or label is unknown everywhere, with the place of its filter.
    pub fn new(
        query: &Query,
        properties: &Properties,
        sessions: &[SessionMeta],
        now: At,
        zone: &TimeZone,
    ) -> Result<Self, QueryError> {
        let statuses = query.statuses.iter().map(|named| {
            let same = |text: &str| fold::fold(&text.replace('_', "-")) == fold::fold(&named.name.replace('_', "-"));
            let defined = properties.statuses.iter().filter(|status| same(&status.id) || same(&status.label));
            let mut ids: Vec<String> = defined.map(|status| status.id.clone()).collect();
            let stored = sessions.iter().map(|meta| &meta.status).filter(|id| same(id));
            if ids.is_empty() {
                ids.extend(stored.take(1).cloned());
            }
            if ids.is_empty() {
                let known = properties.statuses.iter().map(|status| status.id.as_str());
                return Err(unknown("status", named, known));
            }
            Ok((named.clone(), ids))
        });
        let labels = query.labels.iter().map(|named| {
            let (name, value) = split_label(&named.name);
            let same = |text: &str| fold::fold(text) == fold::fold(name);
            let mut ids = Vec::new();
            let mut all = Vec::new();
            gather(&properties.labels, &same, false, &mut ids, &mut all);
            let stored = sessions.iter().flat_map(|meta| &meta.labels).map(|entry| split_label(entry).0);
            if ids.is_empty() {
                ids.extend(stored.filter(|id| same(id)).take(1).map(str::to_owned));
            }
            if ids.is_empty() {
                return Err(unknown("label", named, all.into_iter()));
            }
            Ok((named.clone(), ids, value.map(str::to_owned)))
        });
        Ok(Self {
            statuses: statuses.collect::<Result<_, _>>()?,
            labels: labels.collect::<Result<_, _>>()?,
            known: properties.statuses.iter().map(|status| status.id.clone()).collect(),
            default: properties.default_status.clone(),
            after: query.after.map_or(At(i64::MIN), |when| when.at(now, zone)),
            before: query.before.map_or(At(i64::MAX), |when| when.at(now, zone)),
        })
    }

    /// The session has the statuses and labels that are asked for.
    #[must_use]
    pub fn takes(&self, meta: &SessionMeta) -> bool {
        let is_known = self.known.is_empty() || self.known.contains(&meta.status);
        let status = if is_known { &meta.status } else { &self.default };
        let has_status = |ids: &[String]| ids.contains(status) || ids.contains(&meta.status);
        let fits = either(&self.statuses, |(named, _)| named.not, |(_, ids)| has_status(ids));
        fits && self.labels.iter().all(|(named, ids, value)| {
            let has = meta.labels.iter().map(|entry| split_label(entry)).any(|(id, of)| {
                ids.iter().any(|wanted| wanted == id)
                    && value.as_ref().is_none_or(|value| of.is_some_and(|of| fold::fold(of) == fold::fold(value)))
            });
            has != named.not
        })
    }

    /// It was written in the time that is asked for.
    #[must_use]
    pub fn takes_time(&self, at: At) -> bool {
        self.after <= at && at < self.before
    }
}

/// The ids of the labels with that name and of all below them, and all names there are.
fn gather<'a>(
    labels: &'a [Label],
    same: &dyn Fn(&str) -> bool,
    within: bool,
    ids: &mut Vec<String>,
    all: &mut Vec<&'a str>,
) {
    for label in labels {
        let within = within || same(&label.id) || same(&label.name);
        if within {
            ids.push(label.id.clone());
        }
        all.push(&label.id);
        gather(&label.children, same, within, ids, all);
    }
}

fn unknown<'a>(kind: &str, named: &NamedFilter, known: impl Iterator<Item = &'a str>) -> QueryError {
    let known: Vec<&str> = known.collect();
    let there = if known.is_empty() { "None defined.".to_owned() } else { format!("Available: {}.", known.join(", ")) };
    QueryError { at: named.at, text: format!("No {kind} {:?}. {there}", named.name) }
}
