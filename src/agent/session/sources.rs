//! Files and facts that the machine was given, as they were read last.

use super::used_sources::UsedSources;
use crate::agent::model_context::project_memory::MemoryReader;
use crate::agent::rule_files::Book;
use crate::domain::ConnectionName;
use crate::domain::problem::Problem;
use std::sync::Arc;

/// Sources of a machine.
pub(super) struct Sources {
    /// The machine has the rows that the model gets.
    has_context: bool,
    /// Rule files.
    book: Option<Arc<Book>>,
    /// Project memory.
    memories: Arc<MemoryReader>,
    /// Problems reported about it.
    told_memory: Vec<Problem>,
    /// The server was asked how much its models can hold.
    windows_asked: bool,
    /// A model that did not travel to the connection that answers, until that was said.
    unfit: Option<(String, ConnectionName)>,
    /// Sources whose tools calls use.
    used: UsedSources,
}

impl Sources {
    /// Sources of a session; a new one has no rows to read.
    pub(super) fn new(is_new: bool, used: UsedSources) -> Self {
        Self {
            has_context: is_new,
            book: None,
            memories: Arc::default(),
            told_memory: Vec::new(),
            windows_asked: false,
            unfit: None,
            used,
        }
    }

    pub(super) fn used(&self) -> &UsedSources {
        &self.used
    }

    pub(super) fn used_mut(&mut self) -> &mut UsedSources {
        &mut self.used
    }

    pub(super) fn has_context(&self) -> bool {
        self.has_context
    }

    /// The machine got the rows.
    pub(super) fn context_read(&mut self) {
        self.has_context = true;
    }

    /// The rows are read again before the next request.
    pub(super) fn forget_context(&mut self) {
        self.has_context = false;
    }

    /// Takes rule files as they were read. The problems that are new; `None` if nothing changed.
    pub(super) fn take_book(&mut self, book: &Arc<Book>) -> Option<Vec<Problem>> {
        if self.book.as_ref().is_some_and(|known| Arc::ptr_eq(known, book)) {
            return None;
        }
        let known = self.book.replace(book.clone());
        let is_new = |problem: &&Problem| known.as_ref().is_none_or(|known| !known.problems.contains(problem));
        Some(book.problems.iter().filter(is_new).cloned().collect())
    }

    pub(super) fn memories(&self) -> Arc<MemoryReader> {
        self.memories.clone()
    }

    /// Notes problems of project memory, and returns those that were not reported yet.
    pub(super) fn new_memory_problems(&mut self, problems: &[Problem]) -> Vec<Problem> {
        let mut new = Vec::new();
        for problem in problems {
            if !self.told_memory.contains(problem) {
                self.told_memory.push(problem.clone());
                new.push(problem.clone());
            }
        }
        new
    }

    pub(super) fn windows_asked(&self) -> bool {
        self.windows_asked
    }

    pub(super) fn ask_windows(&mut self) {
        self.windows_asked = true;
    }

    /// Notes that a model does not travel to this connection.
    pub(super) fn set_unfit(&mut self, model: String, connection: ConnectionName) {
        self.unfit = Some((model, connection));
    }

    pub(super) fn take_unfit(&mut self) -> Option<(String, ConnectionName)> {
        self.unfit.take()
    }
}
