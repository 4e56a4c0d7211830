use super::*;
use crate::app::action::{Action, Context};
use crate::app::key::Key;

#[test]
fn the_embedded_table_is_sound() {
    let loaded = load(None);
    assert_eq!(loaded.problems, vec![]);
    assert!(loaded.table.bindings().len() > 100);
}
