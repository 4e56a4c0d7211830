//! Makes the changed places of a patch in a text: each is found by the lines that it says are there.
//!
//! A place must be certain. White space at the ends of lines and the kinds of quotes and dashes may differ, because models
//! do not keep them; what stays in the file stays as the file has it.

use super::super::edit::closest;
use super::format::{Hunk, LineKind};

/// The text with all places changed, in order.
///
/// # Errors
/// A sentence: which place was not found, with the closest text, or stands there more than once.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> Result<String, String> {
    let ends = text.ends_with('\n') || text.is_empty();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if ends {
        lines.pop();
    }
    let (mut from, mut grown) = (0, 0_isize);
    for (number, hunk) in hunks.iter().enumerate() {
        let which = if hunks.len() == 1 { String::new() } else { format!("Place {}: ", number + 1) };
        let found = find(&lines, hunk, from, grown).map_err(|why| format!("{which}{}", why.told(text, &lines)))?;
        let (new, count) = changed(&lines, &found, hunk);
        let added = new.len();
        lines.splice(found.at..found.at + count, new);
        grown += added.cast_signed() - count.cast_signed();
        from = found.at + added;
    }
    let mut out = lines.join("\n");
    if ends && !lines.is_empty() {
        out.push('\n');
    }
    Ok(out)
}

/// Start of a match, and the number of its old lines that count.
struct PatchMatch {
    at: usize,
    old: usize,
}

/// The lines that come, and how many go.
fn changed(lines: &[String], found: &PatchMatch, hunk: &Hunk) -> (Vec<String>, usize) {
    let (mut out, mut count) = (Vec::new(), 0);
    // Where the lines of the place end in CRLF, those that come do too.
    let old = lines.get(found.at..found.at + found.old).unwrap_or_default();
    let crlf = !old.is_empty() && old.iter().all(|line| line.ends_with('\r'));
    for (kind, line) in &hunk.lines {
        let here = || lines.get(found.at + count).cloned();
        match kind {
            LineKind::Added if crlf && !line.ends_with('\r') => out.push(format!("{line}\r")),
            LineKind::Added => out.push(line.clone()),
            _ if count >= found.old => {}
            // The file's own line: it may differ in its white space.
            LineKind::Same => {
                out.extend(here());
                count += 1;
            }
            LineKind::Removed => count += 1,
        }
    }
    (out, count)
}

/// Reason why no match was found.
enum Lost {
    /// This line stands nowhere after the place before.
    Header(String),
    /// These lines do not.
    Lines(Vec<String>, Option<usize>),
    /// Several matches, on these lines.
    Often(Vec<usize>),
}

impl Lost {
    fn told(self, text: &str, lines: &[String]) -> String {
        match self {
            Lost::Header(line) => format!("The line `@@ {line}` was not found. {}", closest(text, &line)),
            Lost::Lines(_, Some(at)) => format!(
                "Its lines stand before the place above (on line {at}). Give the places in the order of the file."
            ),
            // What the patch changed already is not the file that the model knows, and yet it is what is compared.
            Lost::Lines(wanted, None) => {
                let now = lines.join("\n");
                format!("The lines to change were not found. {}", closest(&now, &wanted.join("\n")))
            }
            Lost::Often(at) => {
                let mut named: Vec<String> = at.iter().take(20).map(|at| (at + 1).to_string()).collect();
                if at.len() > 20 {
                    named.push("…".to_owned());
                }
                format!(
                    "The lines to change stand there {} times, on lines {}. Give more lines around them, or a line before \
                     them after `@@`.",
                    at.len(),
                    named.join(", ")
                )
            }
        }
    }
}

fn find(lines: &[String], hunk: &Hunk, from: usize, grown: isize) -> Result<PatchMatch, Lost> {
    let (mut begin, mut headed) = (from, None);
    for header in &hunk.after {
        let at = places(lines, &[header.as_str()], begin).first().copied();
        let at = at.or_else(|| {
            (begin..lines.len()).find(|at| lines.get(*at).is_some_and(|line| line.trim() == header.trim()))
        });
        let at = at.ok_or_else(|| Lost::Header(header.clone()))?;
        (begin, headed) = (at + 1, Some(at));
    }
    let mut old = hunk.old();
    if old.is_empty() {
        // Only lines that come: behind the line that is named, at the line of that number, or at the end.
        let at = match (headed, hunk.near) {
            (Some(_), _) if !hunk.at_end => begin,
            (None, Some(near)) if !hunk.at_end => near.saturating_add_signed(grown).clamp(from, lines.len()),
            _ => lines.len(),
        };
        return Ok(PatchMatch { at, old: 0 });
    }
    let mut all = look(lines, &old, begin, headed);
    // A blank line at the end of a place is often only the end of what the model wrote.
    if all.is_empty() && old.len() > 1 && matches!(hunk.lines.last(), Some((LineKind::Same, line)) if line.is_empty()) {
        old.pop();
        all = look(lines, &old, begin, headed);
    }
    if hunk.at_end {
        all.retain(|at| at + old.len() == lines.len());
    }
    let found = |at: usize| Ok(PatchMatch { at, old: old.len() });
    match (all.as_slice(), hunk.near) {
        ([], _) => {
            let earlier = places(lines, &old, 0).first().filter(|at| **at < begin).map(|at| at + 1);
            Err(Lost::Lines(old.iter().map(|line| (*line).to_owned()).collect(), earlier))
        }
        ([at], _) => found(*at),
        (many, Some(near)) => {
            let wanted = near.saturating_sub(1).saturating_add_signed(grown);
            found(many.iter().copied().min_by_key(|at| at.abs_diff(wanted)).unwrap_or_default())
        }
        ([first, ..], None) if headed.is_some() => found(*first),
        (many, None) => Err(Lost::Often(many.to_vec())),
    }
}

/// Matches from `begin` on; from the line that was named before them, if they repeat it.
fn look(lines: &[String], old: &[&str], begin: usize, headed: Option<usize>) -> Vec<usize> {
    let all = places(lines, old, begin);
    match headed {
        Some(at) if all.is_empty() => places(lines, old, at),
        _ => all,
    }
}

/// Exact matches; else those that differ in trailing white space; else in quotes, dashes and blanks.
fn places(lines: &[String], old: &[&str], begin: usize) -> Vec<usize> {
    let equal: [fn(&str, &str) -> bool; 3] =
        [|a, b| a == b, |a, b| a.trim_end() == b.trim_end(), |a, b| plain(a.trim_end()) == plain(b.trim_end())];
    let last = (lines.len() + 1).saturating_sub(old.len());
    for same in equal {
        let fits = |at: &usize| {
            let here = lines.iter().skip(*at).take(old.len());
            here.zip(old).all(|(line, wanted)| same(line, wanted))
        };
        let found: Vec<usize> = (begin..last).filter(fits).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The signs that are on a keyboard in place of those that are not.
fn plain(line: &str) -> String {
    let sign = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    line.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::super::format::{FileAction, parse};
    use super::*;

    fn applied(text: &str, hunks: &str) -> Result<String, String> {
        let ones = parse(&format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")).unwrap();
        let FileAction::Update { hunks, .. } = &ones[0].deed else { panic!() };
        apply(text, hunks)
    }

    #[test]
    fn places_are_found_and_changed() {
        for (text, hunks, new) in [
            ("a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"),
            ("a\nb\nc", "@@\n-c\n+d", "a\nb\nd"),
            ("a\nb\n", "@@\n+end", "a\nb\nend\n"),
            ("", "@@\n+one", "one\n"),
            ("fn a() {\n  x\n}\nfn b() {\n  x\n}\n", "@@ fn b() {\n-  x\n+  y", "fn a() {\n  x\n}\nfn b() {\n  y\n}\n"),
            (
                "fn a() {\n  x\n}\nfn b() {\n  x\n}\n",
                "@@ fn b() {\n fn b() {\n-  x\n+  y",
                "fn a() {\n  x\n}\nfn b() {\n  y\n}\n",
            ),
            ("fn a() {\n}\n", "@@ fn a() {\n+  y", "fn a() {\n  y\n}\n"),
            ("a\nx\nb\nx\n", "@@\n a\n-x\n@@\n b\n-x\n+y", "a\nb\ny\n"),
            // What stays is the file's: here with blanks at the end, and with another kind of quote.
            ("a  \nb\n", "@@\n a\n-b\n+B", "a  \nB\n"),
            ("say \u{201c}hi\u{201d}\nb\n", "@@\n say \"hi\"\n-b\n+B", "say \u{201c}hi\u{201d}\nB\n"),
            // A blank line too much at the end.
            ("a\nb", "@@\n-a\n+A\n b\n", "A\nb"),
            ("x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"),
            ("x\ny\nx\n", "@@ -3,1 +3,1 @@\n-x\n+z", "x\ny\nz\n"),
            ("a\n", "@@\n-a", ""),
        ] {
            assert_eq!(applied(text, hunks).as_deref(), Ok(new), "{text} {hunks}");
        }
    }

    #[test]
    fn what_is_not_certain_is_told() {
        for (text, hunks, says) in [
            ("x\ny\nx\n", "@@\n-x\n+z", "stand there 2 times, on lines 1, 3. Give more"),
            (
                "let value = 1;\n",
                "@@\n-let  value = 1;\n+x",
                "were not found. The closest text begins on line 1, and differs only in white space",
            ),
            ("  a\n", "@@\n-a\n+b", "differs only in white space"),
            ("a\nb\n", "@@ nowhere at all\n-b", "The line `@@ nowhere at all` was not found."),
            ("a\nb\n", "@@\n-b\n+c\n@@\n-a\n+d", "Place 2: Its lines stand before the place above (on line 1)"),
            ("a\nb\na\n", "@@\n-b\n*** End of File", "were not found"),
        ] {
            let error = applied(text, hunks).unwrap_err();
            assert!(error.contains(says), "{text} {hunks}: {error}");
        }
    }
}
