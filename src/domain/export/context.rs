//! Surroundings of an export: the reader's time zone, and the colours of code.

use crate::domain::code::ShadedRun;
use crate::domain::ids::At;

/// Surroundings of an export. A function that formats instants is one without colours.
pub trait ExportContext {
    /// An instant for people.
    fn time(&self, at: At) -> String;

    /// Colours of code in a language, a line each.
    fn colours(&self, _code: &str, _lang: &str) -> Vec<Vec<ShadedRun>> {
        Vec::new()
    }

    /// Decides if a page has the pictures of messages in it, and not their names alone.
    fn shows_pictures(&self) -> bool {
        false
    }
}

impl<F: Fn(At) -> String> ExportContext for F {
    fn time(&self, at: At) -> String {
        self(at)
    }
}
