//! Virtual environments of Python: what others wrote into them is a package. Whoever can make files could make any folder look
//! like one, so it is one by its whole layout, and only the parts that the tools write count as packages.

use std::ffi::OsStr;
use std::path::Path;

/// Parts that hold packages and programs.
const PARTS: &[&str] = &["bin", "lib", "lib64", "include", "share", "Lib", "Scripts", "Include"];
/// Files that say what the folder is.
const FILES: &[&str] = &["pyvenv.cfg", ".gitignore", "CACHEDIR.TAG", ".lock"];

/// A virtual environment, which may be named `.env`, or `.env-3.12` by its version.
pub(super) fn is_one(folder: &Path) -> bool {
    let version = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    let is_name = |name: &str| {
        let stem = name.trim_end_matches(version);
        stem.strip_suffix("py").map_or(stem, |stem| stem.trim_end_matches(version)).ends_with("env")
    };
    let named = folder.file_name().and_then(OsStr::to_str).is_some_and(is_name);
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    named && is_there("pyvenv.cfg") && (is_there("bin/python") || is_there("Scripts")) && has_library(folder)
}

fn has_library(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
    let is_python = |name: &OsStr| name.as_encoded_bytes().starts_with(b"python");
    folder.join("Lib").is_dir() || entries.take(100).any(|entry| is_python(&entry.file_name()))
}

/// A folder in one that holds packages or programs.
pub(super) fn is_part(name: &OsStr) -> bool {
    PARTS.iter().any(|part| name == *part)
}

/// An entry of one that its tools write.
pub(super) fn is_of_tools(name: &OsStr) -> bool {
    is_part(name) || FILES.iter().any(|file| name == *file)
}
