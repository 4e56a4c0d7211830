//! The one sanitiser for text that lisle did not write.
