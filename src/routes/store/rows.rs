//! Rows of a store in their order, as the file has them: a row that nobody changes is written back as it was read.

use crate::routes::row::{SessionRow, StoredRow};
use serde_json::{Map, Value};

/// Rows of a store by the keys as stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouteRows(Map<String, Value>);

impl RouteRows {
    /// Reads the content of a store.
    ///
    /// # Errors
    /// Fails if it is no JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("the file is empty".to_owned());
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(rows)) => Ok(Self(rows)),
            Ok(_) => Err("the file is not a JSON object".to_owned()),
            Err(error) => Err(format!("invalid JSON: {error}")),
        }
    }

    /// Content of the file: JSON as the reference writes it.
    ///
    /// # Errors
    /// Fails if a value can't be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec_pretty(&self.0)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Rows in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, StoredRow)> {
        self.0.iter().map(|(key, value)| (key.as_str(), StoredRow::read(value.clone())))
    }

    /// Row of a key as stored.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<StoredRow> {
        self.0.get(key).cloned().map(StoredRow::read)
    }

    /// Sets a row.
    ///
    /// # Errors
    /// Fails if the row can't be written.
    pub fn set(&mut self, key: &str, row: &SessionRow) -> Result<(), serde_json::Error> {
        self.0.insert(key.to_owned(), serde_json::to_value(row)?);
        Ok(())
    }

    /// Removes a row. True if there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.shift_remove(key).is_some()
    }
}
