//! Lines by state.
