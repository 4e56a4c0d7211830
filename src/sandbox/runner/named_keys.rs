//! Variables of lisle's own environment that settings name for keys, whatever they are called: no command and no program of
//! another source gets them, unless a rule says so by name.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

static NAMES: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Values that are shorter are no keys.
const SHORTEST: usize = 6;

/// Withholds the variables of these names from now on.
pub fn withhold(names: impl IntoIterator<Item = String>) {
    let names: Vec<String> = names.into_iter().collect();
    let is_known = |known: &BTreeSet<String>| names.iter().all(|name| known.contains(name));
    if !is_known(&NAMES.read().unwrap_or_else(PoisonError::into_inner)) {
        NAMES.write().unwrap_or_else(PoisonError::into_inner).extend(names);
    }
}

/// True for a variable that is withheld. A place is no key: a source may be told the same folder as a build.
pub(super) fn is_withheld(name: &str, value: &str) -> bool {
    let is_place = value.starts_with('/') || value.starts_with("~/");
    value.len() >= SHORTEST && !is_place && NAMES.read().unwrap_or_else(PoisonError::into_inner).contains(name)
}
