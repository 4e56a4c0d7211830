//! Changes without the places that the user struck out.
//!
//! The places are those of the diff that was approved. They hold only while the change of now is that one to the line, so
//! a call with struck places compares more than hashes: a diff is not worked out the same way twice under all loads.

use super::files::text::{self, Encoding, TextForm};
use super::write::PlannedWrite;
use crate::domain::count::count;
use crate::domain::diff::FileDiff;
use crate::domain::tool::{CallFacts, here};

/// True if the struck places, if any, mean the same in both.
pub(super) fn same_places(decided: &CallFacts, now: &CallFacts) -> bool {
    decided.left_out.is_empty() || decided.proposal == now.proposal
}

/// The change of a file with the old text in the places of `struck`, which are some but not all of `diff`.
///
/// # Errors
/// The sentence for the model.
pub(super) fn without(change: PlannedWrite, diff: &FileDiff, struck: &[usize]) -> Result<PlannedWrite, String> {
    let unknown =
        || "The user struck out parts of this change that are not known here. Nothing was written.".to_owned();
    let (Some(loaded), Some(old)) = (&change.before, &change.old) else { return Err(unknown()) };
    let (_, form) = text::decode(&loaded.bytes).map_err(|_| unknown())?;
    let new = diff.text_without(old, &change.new, struck).ok_or_else(unknown)?;
    // A character that its encoding lacks may have been in a place that was struck out: then the encoding stays.
    let (after, note) = match text::encode(&new, form) {
        Ok(bytes) => (bytes, None),
        Err(_) => {
            let wide = TextForm { encoding: Encoding::Utf8, ..form };
            (text::encode(&new, wide).map_err(|c| format!("`{c}` cannot be written."))?, change.note)
        }
    };
    Ok(PlannedWrite { new, after, note, ..change })
}

/// Sentence for the model: which places of the change stay as they were.
pub(super) fn told(facts: &CallFacts) -> String {
    let all = facts.proposal.strikable();
    let mut first = 0;
    let mut named = Vec::new();
    for diff in facts.proposal.diffs() {
        for at in here(&facts.left_out, first, diff.hunks.len()) {
            let Some(hunk) = diff.hunks.get(at) else { continue };
            let path = diff.moved_from.as_ref().unwrap_or(&diff.path);
            named.push(match (diff.is_new, diff.is_gone, hunk.changed_lines()) {
                (true, ..) => format!("{path} (not created)"),
                (_, true, _) => format!("{path} (not deleted)"),
                (.., (from, to)) if from == to => format!("{path} line {from}"),
                (.., (from, to)) => format!("{path} lines {from}-{to}"),
            });
        }
        first += diff.hunks.len();
    }
    format!(
        "The user struck out {} of the {}, so this stays as it was: {}. Do not make it again; ask if it is needed.",
        facts.left_out.len(),
        count(all, "change", "changes"),
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use crate::domain::tool::{CallFacts, Outcome, Proposal};
    use crate::tools::RunError;
    use serde_json::{Value, json};

    /// Thirty numbered lines.
    fn text() -> String {
        (1..=30).map(|n| format!("line {n}\n")).collect()
    }

    fn run(bench: &Bench, tool: &str, input: &Value, left_out: &[u32]) -> Outcome {
        let facts = bench.inspect(tool, input).unwrap();
        assert!(facts.proposal.can_leave_out(left_out), "{left_out:?}");
        let facts = CallFacts { left_out: left_out.to_vec(), ..facts };
        let outcome = bench.run_with(tool, input.clone(), facts).unwrap();
        assert!(!outcome.failed, "{}", outcome.text);
        outcome
    }

    #[test]
    fn struck_places_of_a_file_stay_as_they_were() {
        let edits = json!([
            {"old": "line 2\n", "new": "two\n"},
            {"old": "line 15\n", "new": "line 15\nand a half\n"},
            {"old": "line 28\nline 29\n", "new": ""},
        ]);
        let whole = text()
            .replace("line 2\n", "two\n")
            .replace("line 15\n", "line 15\nand a half\n")
            .replace("line 28\nline 29\n", "");
        for (crlf, mark) in [(false, ""), (true, ""), (false, "\u{feff}")] {
            let form =
                |text: &str| format!("{mark}{}", if crlf { text.replace('\n', "\r\n") } else { text.to_owned() });
            for (tool, input) in
                [("edit", json!({"path": "f", "edits": edits})), ("write", json!({"path": "f", "content": whole}))]
            {
                let bench = Bench::new();
                bench.write("f", form(&text()));
                bench.ok("read", json!({"path": "f"}));
                let outcome = run(&bench, tool, &input, &[0, 2]);
                let want = form(&text().replace("line 15\n", "line 15\nand a half\n"));
                assert_eq!(String::from_utf8(bench.content("f")).unwrap(), want, "{tool}");
                let says = "1 added, 0 removed. The user struck out 2 of the 3 changes, so this stays as it was: f line 2, \
                    f lines 28-29. Do not make it again; ask if it is needed.";
                assert!(outcome.text.ends_with(says), "{}", outcome.text);
                let diff = outcome.figures.diff.unwrap();
                assert_eq!((diff.added, diff.removed, diff.hunks.len()), (1, 0, 1));
                let Some(Proposal::Change { after, .. }) = outcome.made.as_deref() else { panic!() };
                assert_eq!(*after, crate::domain::hex::hex(&crate::tools::files::hash(want.as_bytes())));
                // It is known as it is now.
                bench.ok("edit", json!({"path": "f", "edits": [{"old": "line 2\n", "new": "2\n"}]}));
            }
        }
    }

    #[test]
    fn a_struck_character_that_an_encoding_lacks_leaves_it_alone() {
        let bench = Bench::new();
        let old: String = text().replace("line 30", "caf\u{e9}");
        bench.write("f", old.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>());
        bench.ok("read", json!({"path": "f"}));
        let new = old.replace("line 2\n", "5 \u{20ac}\n").replace("line 20\n", "20\n");
        let outcome = run(&bench, "write", &json!({"path": "f", "content": new}), &[0]);
        assert!(!outcome.text.contains("UTF-8"), "{}", outcome.text);
        assert!(bench.content("f").ends_with(b"caf\xe9\n"));
    }

    #[test]
    fn files_and_places_of_a_patch_are_left_out() {
        let ready = || {
            let bench = Bench::new();
            for name in ["a", "b", "from"] {
                bench.write(name, text());
                bench.ok("read", json!({"path": name}));
            }
            bench
        };
        let body = "*** Begin Patch\n*** Add File: new\n+x\n*** Update File: a\n@@\n-line 2\n+two\n@@\n-line 20\n+twenty\n\
            *** Delete File: b\n*** Update File: from\n*** Move to: to\n@@\n-line 3\n+three\n*** End Patch";
        let input = json!({ "patch": body });
        // The places: the new file, two of `a`, the deleted file, the moved one.
        let bench = ready();
        let outcome = run(&bench, "patch", &input, &[0, 2, 3, 4]);
        assert!(!bench.path("new").exists() && bench.path("b").exists() && !bench.path("from").exists());
        assert_eq!(bench.content("a"), text().replace("line 2\n", "two\n").as_bytes());
        assert_eq!(bench.content("to"), text().as_bytes(), "the move stays");
        let says = "The user struck out 4 of the 5 changes, so this stays as it was: new (not created), a line 20, b (not \
            deleted), from line 3. Do not make it again; ask if it is needed.";
        assert!(outcome.text.ends_with(says), "{}", outcome.text);
        assert!(outcome.made.is_some() && outcome.figures.diffs.len() == 2);
        let bench = ready();
        run(&bench, "patch", &input, &[1, 2, 3, 4]);
        assert_eq!((bench.content("new"), bench.content("a")), (b"x\n".to_vec(), text().into_bytes()));
    }

    #[test]
    fn places_of_another_change_are_asked_again() {
        let bench = Bench::new();
        bench.write("f", text());
        bench.ok("read", json!({"path": "f"}));
        let edits = json!([{"old": "line 2\n", "new": "two\n"}, {"old": "line 20\n", "new": "twenty\n"}]);
        let input = json!({"path": "f", "edits": edits});
        let mut facts = bench.inspect("edit", &input).unwrap();
        for wrong in [&[2][..], &[1, 0], &[0, 0], &[0, 1]] {
            assert!(!facts.proposal.can_leave_out(wrong), "{wrong:?}");
        }
        // The same bytes, but the places were found in another way.
        let Proposal::Change { diff, .. } = &mut facts.proposal else { panic!() };
        diff.hunks[0].old_start += 1;
        facts.left_out = vec![0];
        assert!(matches!(bench.run_with("edit", input, facts), Err(RunError::FactsChanged(_))));
        assert_eq!(bench.content("f"), text().as_bytes());
    }
}
