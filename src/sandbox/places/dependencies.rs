//! Packages outside of the working directory that its manifests name by their paths. Pure: a list of texts goes in.

use crate::domain::paths::lexical;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A manifest: its path and its content.
pub type Manifest = (PathBuf, String);

/// Folders outside of `cwd` that the manifests name as packages: `path = "…"` of Cargo, `file:`, `link:` and workspaces of
/// npm and pnpm, `-e ../x` and `file://` of Python, `replace` and `use` of Go. In order, each once.
#[must_use]
pub fn outside(cwd: &Path, manifests: &[Manifest]) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    for (path, text) in manifests {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(dir) = path.parent() else { continue };
        for named in named(name, text) {
            let package = lexical(dir, Path::new(&named));
            if package.is_absolute() && !package.starts_with(cwd) && !cwd.starts_with(&package) {
                out.push(package);
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

fn named(name: &str, text: &str) -> Vec<String> {
    static CARGO: LazyLock<Option<regex::Regex>> =
        LazyLock::new(|| regex::Regex::new(r#"(?m)\bpath\s*=\s*["']([^"'\n]+)["']"#).ok());
    static NODE: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(r#"["'](?:(?:file|link|portal):)?((?:\.\./|/)[^"'\n]*?)(?:/\*+)?["']"#).ok()
    });
    static PNPM: LazyLock<Option<regex::Regex>> =
        LazyLock::new(|| regex::Regex::new(r#"(?m)^\s*-\s*["']?(\.\./[^"'\n*]*)"#).ok());
    static PYTHON: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(
            r#"(?m)(?:^\s*(?:-e|--editable)[ =]+|^\s*|file:(?://)?|path\s*=\s*["'])((?:\.\./|/)[^\s"'#\[;]+)"#,
        )
        .ok()
    });
    static GO: LazyLock<Option<regex::Regex>> =
        LazyLock::new(|| regex::Regex::new(r"(?m)(?:=>|^\s*(?:use\s+)?)\s*(\.\./\S*|/\S+)").ok());
    let found = match name {
        "Cargo.toml" => &CARGO,
        "package.json" => &NODE,
        "pnpm-workspace.yaml" => &PNPM,
        "pyproject.toml" | "requirements.txt" => &PYTHON,
        "go.mod" | "go.work" => &GO,
        _ => return Vec::new(),
    };
    let Some(found) = found.as_ref() else { return Vec::new() };
    found.captures_iter(text).filter_map(|hit| Some(hit.get(1)?.as_str().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_beside_the_project_are_named() {
        for (name, text, expected) in [
            (
                "Cargo.toml",
                "[dependencies]\na = { path = \"../a\" }\nb = { version = \"1\", path = \"crates/b\" }\n",
                vec!["/w/a"],
            ),
            ("Cargo.toml", "[dependencies.c]\npath = '../../shared/c'\n", vec!["/shared/c"]),
            (
                "package.json",
                r#"{"dependencies": {"a": "file:../a", "b": "link:../b", "c": "^1.0.0", "d": "file:./d"}}"#,
                vec!["/w/a", "/w/b"],
            ),
            ("package.json", r#"{"workspaces": ["packages/*", "../libs/*"]}"#, vec!["/w/libs"]),
            ("pnpm-workspace.yaml", "packages:\n  - 'apps/*'\n  - '../shared/*'\n", vec!["/w/shared"]),
            ("requirements.txt", "-e ../lib\nrequests==2\n../other[extra]\n# ../no\n", vec!["/w/lib", "/w/other"]),
            (
                "pyproject.toml",
                "dependencies = [\"x @ file:///opt/x\"]\n[tool.uv.sources]\ny = { path = \"../y\" }\n",
                vec!["/opt/x", "/w/y"],
            ),
            ("go.mod", "module m\nreplace example.org/a => ../a\nreplace (\n\tb => ../b v1\n)\n", vec!["/w/a", "/w/b"]),
            ("go.work", "use (\n\t./m\n\t../n\n)\nuse ../o\n", vec!["/w/n", "/w/o"]),
            ("README.md", "../x", vec![]),
            ("Cargo.toml", "a = { path = \"..\" }", vec![]),
        ] {
            let found = outside(Path::new("/w/p"), &[(PathBuf::from("/w/p").join(name), text.to_owned())]);
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{name}: {text}");
        }
    }
}
