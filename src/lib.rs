pub mod domain;
pub mod permit;
pub mod provider;
pub mod tools;
