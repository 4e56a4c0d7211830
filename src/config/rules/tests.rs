use super::*;
use proptest::prelude::*;

#[test]
fn placeholder_is_replaced_below() {}
