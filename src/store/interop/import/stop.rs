//! Sign by which an import is stopped from another thread.

use crate::store::StoreError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sign that an import stops at its next record. All clones are one sign.
#[derive(Clone, Debug, Default)]
pub struct ImportStop(Arc<AtomicBool>);

impl ImportStop {
    /// Stops the import.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once it was stopped.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`StoreError::Stopped`] once it was stopped.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.is_set() { Err(StoreError::Stopped) } else { Ok(()) }
    }
}
