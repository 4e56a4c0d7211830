//! A patch as a model writes it: the format of `apply_patch` (`*** Begin Patch`), or a unified diff.
//!
//! Only the words are read here; whether they fit a file is found out in [`super::apply`].

use super::super::input::one_line;

/// Change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct One {
    /// The path as written.
    pub path: String,
    /// Action on it.
    pub deed: FileAction,
}

/// Action on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileAction {
    /// New file with this content.
    Add(String),
    /// It goes.
    Delete,
    /// Parts of it change, or its path, or both.
    Update {
        /// Its new path.
        to: Option<String>,
        /// The changed places, in order.
        hunks: Vec<Hunk>,
    },
}

/// One changed place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines that stand somewhere before it, in order (`@@ fn main() {`).
    pub after: Vec<String>,
    /// The line, from 1, where it is said to begin.
    pub near: Option<usize>,
    /// Its lines in order.
    pub lines: Vec<(LineKind, String)>,
    /// It ends at the end of the file.
    pub at_end: bool,
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// It stays.
    Same,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

impl Hunk {
    /// The lines that must stand in the file.
    pub fn old(&self) -> Vec<&str> {
        self.lines.iter().filter(|(kind, _)| *kind != LineKind::Added).map(|(_, line)| line.as_str()).collect()
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.after.is_empty()
    }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Reads a patch.
///
/// # Errors
/// A sentence that names the line that was not understood.
pub(super) fn parse(text: &str) -> Result<Vec<One>, String> {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().position(|line| line.trim() == BEGIN);
    let marked = |line: &&str| [ADD, DELETE, UPDATE].iter().any(|mark| line.trim_start().starts_with(mark));
    let ones = match begin.or_else(|| lines.iter().position(marked)) {
        Some(at) => marked_files(&lines, at + usize::from(begin.is_some()))?,
        None => unified(&lines)?,
    };
    if ones.is_empty() {
        return Err("The patch holds no file. Begin with `*** Begin Patch`, then for each file `*** Add File: PATH`, \
                    `*** Update File: PATH` or `*** Delete File: PATH`, and end with `*** End Patch`."
            .to_owned());
    }
    Ok(ones)
}

fn path_of(line: &str, mark: &str, number: usize) -> Result<String, String> {
    let path = line.trim().strip_prefix(mark).unwrap_or_default().trim();
    if path.is_empty() {
        Err(format!("Line {number} of the patch names no path after `{mark}`."))
    } else {
        Ok(path.to_owned())
    }
}

fn odd(line: &str, number: usize, wanted: &str) -> String {
    format!("Line {number} of the patch is not supported: `{}`. {wanted}", one_line(line, 80))
}

// ---- the format of apply_patch ----

fn marked_files(lines: &[&str], from: usize) -> Result<Vec<One>, String> {
    let mut ones: Vec<One> = Vec::new();
    let mut at = from;
    while let Some(line) = lines.get(at) {
        let (number, bare) = (at + 1, line.trim());
        at += 1;
        if bare == END {
            break;
        } else if bare.is_empty() {
            continue;
        } else if bare.starts_with(ADD) {
            let path = path_of(line, ADD, number)?;
            let mut content = String::new();
            while let Some(line) = lines.get(at).filter(|line| !is_mark(line)) {
                let rest = line
                    .strip_prefix('+')
                    .ok_or_else(|| odd(line, at + 1, "Each line of a new file begins with `+`."))?;
                content.push_str(rest);
                content.push('\n');
                at += 1;
            }
            ones.push(One { path, deed: FileAction::Add(content) });
        } else if bare.starts_with(DELETE) {
            ones.push(One { path: path_of(line, DELETE, number)?, deed: FileAction::Delete });
        } else if bare.starts_with(UPDATE) {
            let path = path_of(line, UPDATE, number)?;
            let mut to = None;
            if let Some(line) = lines.get(at).filter(|line| line.trim().starts_with(MOVE)) {
                to = Some(path_of(line, MOVE, at + 1)?);
                at += 1;
            }
            let hunks = hunks(lines, &mut at)?;
            if hunks.is_empty() && to.is_none() {
                return Err(format!("Line {number} of the patch updates {path}, and no change follows it."));
            }
            ones.push(One { path, deed: FileAction::Update { to, hunks } });
        } else {
            let wanted = "Expected is `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH` or `*** End Patch`.";
            return Err(odd(line, number, wanted));
        }
    }
    Ok(ones)
}

/// A line that ends what is said of a file.
fn is_mark(line: &str) -> bool {
    [ADD, DELETE, UPDATE, END].iter().any(|mark| line.starts_with(mark))
}

fn hunks(lines: &[&str], at: &mut usize) -> Result<Vec<Hunk>, String> {
    let mut out: Vec<Hunk> = Vec::new();
    let mut now = Hunk::default();
    while let Some(line) = lines.get(*at).filter(|line| !is_mark(line)) {
        let number = *at + 1;
        *at += 1;
        if line.trim_end() == END_OF_FILE {
            now.at_end = true;
        } else if let Some(after) = line.strip_prefix("@@") {
            if !now.lines.is_empty() {
                out.push(std::mem::take(&mut now));
            }
            head(after, &mut now);
        } else {
            if now.at_end {
                out.push(std::mem::take(&mut now));
            }
            now.lines.push(content(line).ok_or_else(|| {
                odd(line, number, "A line of a change begins with a blank (stays), `-` (goes) or `+` (comes).")
            })?);
        }
    }
    if !now.is_empty() {
        out.push(now);
    }
    if out.iter().any(|hunk| hunk.lines.is_empty()) {
        return Err("A place that begins with `@@` has no lines.".to_owned());
    }
    Ok(out)
}

/// Parses the text after `@@`: a line of the file, or the line numbers of a unified diff.
fn head(after: &str, hunk: &mut Hunk) {
    let after = after.trim();
    if let Some(near) = numbers(after) {
        hunk.near = Some(near);
    } else if !after.is_empty() {
        hunk.after.push(after.trim_end_matches("@@").trim_end().to_owned());
    }
}

/// `-12,3 +14,4 @@ …`: where the old lines begin.
fn numbers(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('-')?;
    let (old, rest) = rest.split_once(' ')?;
    rest.trim_start().strip_prefix('+')?;
    old.split(',').next()?.parse().ok()
}

fn content(line: &str) -> Option<(LineKind, String)> {
    let mut chars = line.chars();
    let kind = match chars.next() {
        // An empty line lost its blank on the way.
        None | Some(' ') => LineKind::Same,
        Some('-') => LineKind::Removed,
        Some('+') => LineKind::Added,
        Some(_) => return None,
    };
    Some((kind, chars.as_str().to_owned()))
}

// ---- unified diffs ----

fn unified(lines: &[&str]) -> Result<Vec<One>, String> {
    let mut ones = Vec::new();
    let (mut from, mut at) = (None, 0);
    while let Some(line) = lines.get(at) {
        if let Some(path) = line.strip_prefix("rename from ") {
            from = Some(path.trim().to_owned());
        } else if let (Some(path), Some(to)) = (&from, line.strip_prefix("rename to ")) {
            let (path, to) = (path.clone(), Some(to.trim().to_owned()));
            from = None;
            ones.push(One { path, deed: FileAction::Update { to, hunks: Vec::new() } });
        } else if let (Some(old), Some(new)) =
            (line.strip_prefix("--- "), lines.get(at + 1).and_then(|next| next.strip_prefix("+++ ")))
        {
            let number = at + 1;
            at += 2;
            let hunks = unified_hunks(lines, &mut at)?;
            take_file(&mut ones, (named(old, "a/"), named(new, "b/")), hunks, number)?;
            continue;
        }
        at += 1;
    }
    Ok(ones)
}

/// The path of a `---` or `+++` line, without git's `a/` and `b/` and a time behind it; `None` for `/dev/null`.
fn named(text: &str, prefix: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or_default().trim();
    (path != "/dev/null").then(|| path.strip_prefix(prefix).unwrap_or(path).to_owned())
}

fn take_file(
    ones: &mut Vec<One>,
    (old, new): (Option<String>, Option<String>),
    hunks: Vec<Hunk>,
    number: usize,
) -> Result<(), String> {
    match (old, new) {
        (None, Some(path)) => {
            let added = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|(kind, _)| *kind == LineKind::Added);
            let content: String = added.map(|(_, line)| format!("{line}\n")).collect();
            ones.push(One { path, deed: FileAction::Add(content) });
        }
        (Some(path), None) => ones.push(One { path, deed: FileAction::Delete }),
        (Some(old), Some(new)) => {
            if hunks.is_empty() {
                return Err(format!("Line {number} of the patch names {old}, and no change (`@@`) follows it."));
            }
            // git names a file that moves before it says what changes in it.
            if let Some(One { path, deed: FileAction::Update { to, hunks: none } }) = ones.last_mut()
                && *path == old
                && to.as_deref() == Some(&new)
            {
                *none = hunks;
                return Ok(());
            }
            let to = (old != new).then_some(new);
            ones.push(One { path: old, deed: FileAction::Update { to, hunks } });
        }
        (None, None) => return Err(format!("Line {number} of the patch names no file.")),
    }
    Ok(())
}

fn unified_hunks(lines: &[&str], at: &mut usize) -> Result<Vec<Hunk>, String> {
    let mut out: Vec<Hunk> = Vec::new();
    while let Some(line) = lines.get(*at) {
        let next_file = line.starts_with("diff --git ")
            || (line.starts_with("--- ") && lines.get(*at + 1).is_some_and(|next| next.starts_with("+++ ")));
        if next_file {
            break;
        }
        *at += 1;
        if let Some(after) = line.strip_prefix("@@") {
            let near =
                numbers(after.trim()).ok_or_else(|| odd(line, *at, "Expected is `@@ -LINE,COUNT +LINE,COUNT @@`."))?;
            out.push(Hunk { near: Some(near), ..Hunk::default() });
        } else if line.starts_with('\\') {
            // "\ No newline at end of file": the file keeps the end that it has.
        } else if let Some(hunk) = out.last_mut() {
            let blank = line.is_empty() && lines.get(*at..).unwrap_or_default().iter().all(|rest| rest.is_empty());
            if !blank {
                hunk.lines.push(content(line).ok_or_else(|| {
                    odd(line, *at, "A line of a change begins with a blank (stays), `-` (goes) or `+` (comes).")
                })?);
            }
        }
    }
    out.retain(|hunk| !hunk.lines.is_empty());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn update(path: &str, to: Option<&str>, hunks: Vec<Hunk>) -> One {
        One { path: path.into(), deed: FileAction::Update { to: to.map(Into::into), hunks } }
    }

    fn hunk(after: &[&str], near: Option<usize>, lines: &[&str]) -> Hunk {
        Hunk {
            after: after.iter().map(|line| (*line).to_owned()).collect(),
            near,
            lines: lines.iter().map(|line| content(line).unwrap()).collect(),
            at_end: false,
        }
    }

    #[test]
    fn the_format_of_apply_patch() {
        let patch = "*** Begin Patch\n*** Add File: a/new.txt\n+one\n+\n+two\n*** Delete File: old.txt\n\
            *** Update File: b.rs\n*** Move to: c.rs\n@@ impl A\n@@ fn f() {\n one\n-two\n+zwei\n\n three\n@@\n+end\n\
            *** End of File\n*** Update File: d.rs\n x\n-y\n*** End Patch\n";
        let mut last = hunk(&[], None, &["+end"]);
        last.at_end = true;
        assert_eq!(
            parse(patch).unwrap(),
            [
                One { path: "a/new.txt".into(), deed: FileAction::Add("one\n\ntwo\n".into()) },
                One { path: "old.txt".into(), deed: FileAction::Delete },
                update(
                    "b.rs",
                    Some("c.rs"),
                    vec![hunk(&["impl A", "fn f() {"], None, &[" one", "-two", "+zwei", "", " three"]), last]
                ),
                update("d.rs", None, vec![hunk(&[], None, &[" x", "-y"])]),
            ]
        );
        // A shell's words around it, and one without its first and last line.
        let shell = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: x\n*** End Patch\nEOF\n";
        assert_eq!(parse(shell).unwrap(), [One { path: "x".into(), deed: FileAction::Delete }]);
        assert_eq!(parse("*** Delete File: x").unwrap(), [One { path: "x".into(), deed: FileAction::Delete }]);
    }

    #[test]
    fn unified_diffs() {
        let patch = "diff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -3,2 +3,2 @@ fn f()\n same\n-old\n\
            +new\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n--- a/gone\n+++ /dev/null\n\
            @@ -1 +0,0 @@\n-x\ndiff --git a/p b/q\nrename from p\nrename to q\n--- a/p\n+++ b/q\n@@ -1 +1 @@\n-a\n+b\n\n";
        assert_eq!(
            parse(patch).unwrap(),
            [
                update("x.rs", None, vec![hunk(&[], Some(3), &[" same", "-old", "+new"])]),
                One { path: "n.txt".into(), deed: FileAction::Add("1\n2\n".into()) },
                One { path: "gone".into(), deed: FileAction::Delete },
                update("p", Some("q"), vec![hunk(&[], Some(1), &["-a", "+b"])]),
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (patch, says) in [
            ("", "holds no file"),
            ("hello", "holds no file"),
            ("*** Begin Patch\nwhat\n*** End Patch", "Line 2 of the patch is not supported: `what`"),
            ("*** Begin Patch\n*** Add File: a\nno plus\n", "Line 3 of the patch is not supported"),
            ("*** Begin Patch\n*** Add File:  \n", "Line 2 of the patch names no path"),
            ("*** Begin Patch\n*** Update File: a\n*** End Patch", "no change follows it"),
            ("*** Begin Patch\n*** Update File: a\n@@ x\n*** End Patch", "has no lines"),
            (
                "*** Begin Patch\n*** Update File: a\n@@\nfoo\n*** End Patch",
                "Line 4 of the patch is not supported: `foo`",
            ),
            ("--- a/x\n+++ b/x\n", "no change (`@@`) follows"),
            ("--- a/x\n+++ b/x\n@@ somewhere\n", "Expected is `@@ -LINE"),
        ] {
            let error = parse(patch).unwrap_err();
            assert!(error.contains(says), "{patch}: {error}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(
            words in proptest::collection::vec(
                prop_oneof![
                    Just("*** Begin Patch"), Just("*** End Patch"), Just("*** Add File: a"), Just("*** Update File: b"),
                    Just("*** Move to: c"), Just("*** Delete File: d"), Just("@@"), Just("@@ f"), Just("@@ -1 +1 @@"),
                    Just("--- a/x"), Just("+++ b/x"), Just("+a"), Just("-b"), Just(" c"), Just(""), Just("*** End of File"),
                ],
                0..24,
            )
        ) {
            if let Ok(ones) = parse(&words.join("\n")) {
                prop_assert!(!ones.is_empty());
                for one in ones {
                    prop_assert!(!one.path.is_empty());
                    if let FileAction::Update { to, hunks } = one.deed {
                        prop_assert!(to.is_some() || !hunks.is_empty());
                        prop_assert!(hunks.iter().all(|hunk| !hunk.lines.is_empty()));
                    }
                }
            }
        }
    }
}
