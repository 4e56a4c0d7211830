//! Support that several tests share.

pub mod model_server;
