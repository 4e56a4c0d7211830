//! Measuring, cutting and wrapping text by graphemes.
