//! Lines that are judged to only read where the sandbox holds them: the wide table, the grammar, and tricks against
//! both.

use super::super::*;
use crate::domain::permission::{READERS, WIDE_READERS};
use crate::domain::tool::StartedProgram;
use proptest::prelude::*;

const ALLOWED: &str = include_str!("../../../../tests/judge/allowed.txt");
const REFUSED: &str = include_str!("../../../../tests/judge/refused.txt");

const TRICKS: &str = include_str!("../../../../tests/judge/tricks.txt");

fn lines(text: &str) -> Vec<String> {
    text.lines()
        // `## ` heads a group.
        .filter(|line| !line.is_empty() && !line.starts_with("## "))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.to_owned()))
        .collect()
}

fn reads(command: &str) -> bool {
    matches!(judge(command, ReadOnlyProfile::Enforced).verdict, Judged::ReadOnly(_))
}

fn paths(command: &str) -> Vec<String> {
    match judge(command, ReadOnlyProfile::Enforced).verdict {
        Judged::ReadOnly(paths) => paths,
        other => panic!("{command}: {other:?}"),
    }
}

#[test]
fn what_people_use_to_look_around_only_reads() {
    let lines = lines(ALLOWED);
    assert!(lines.len() > 300);
    for command in lines {
        let judgement = judge(&command, ReadOnlyProfile::Enforced);
        assert!(matches!(judgement.verdict, Judged::ReadOnly(_)), "{command:?}: {:?}", judgement.verdict);
        assert!(judgement.parts.iter().all(|part| part.reads && part.why.is_empty()), "{command:?}");
        assert!(!judgement.parts.is_empty() || command.starts_with("[["), "{command:?}");
    }
}

#[test]
fn tricks_are_refused() {
    let lines = lines(REFUSED);
    assert!(lines.len() > 1_400);
    let mut through = Vec::new();
    for command in lines {
        let judged = judge(&command, ReadOnlyProfile::Enforced).verdict;
        if matches!(judged, Judged::ReadOnly(_)) {
            through.push(command);
        } else if let Judged::Other(why) = judged {
            assert!(!why.is_empty(), "{command:?}");
        }
    }
    assert!(through.is_empty(), "{} got through:\n{}", through.len(), through.join("\n"));
}

/// Refused by the judge, or reading what the caller refuses: a secret, a device, a name that is looked up first.
fn is_stopped(command: &str) -> bool {
    use crate::domain::paths::{is_device, is_secret, lexical};
    let judgement = judge(command, ReadOnlyProfile::Enforced);
    let Judged::ReadOnly(paths) = judgement.verdict else { return true };
    let bad = |path: &std::path::Path| is_secret(path) || is_device(path);
    let stopped = paths.iter().map(std::path::Path::new).any(|path| bad(path) || bad(&lexical("/w".as_ref(), path)));
    stopped || !judgement.expands.is_empty()
}

/// `+ ` stands before a line that reads and harms nothing; `tests/explore.rs` runs those, and all others as well.
#[test]
fn no_trick_of_the_record_passes_for_reading() {
    let lines = lines(TRICKS);
    assert!(lines.len() > 500);
    let told = |line: &String| match line.strip_prefix("+ ") {
        Some(line) => (line.to_owned(), false),
        None => (line.clone(), true),
    };
    let wrong: Vec<String> =
        lines.iter().map(told).filter(|(line, stopped)| is_stopped(line) != *stopped).map(|(line, _)| line).collect();
    assert!(wrong.is_empty(), "{} are judged otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_tool_looks_up_every_program_of_the_table() {
    // Builtins that no file stands for.
    let builtin = ["cd", ":", "exit", "break", "continue", "command"];
    let more =
        ["find", "sh", "bash", "dash", "[", "type", "timeout", "nice", "nohup", "stdbuf", "time", "env", "xargs"];
    let mut known: Vec<&str> = table::names().into_iter().chain(more).collect();
    known.retain(|name| !READERS.contains(name) && !builtin.contains(name));
    known.sort_unstable();
    known.dedup();
    let mut guarded = WIDE_READERS.to_vec();
    guarded.sort_unstable();
    assert_eq!(known, guarded);
}

#[test]
fn no_row_is_there_twice_and_every_option_is_written_well() {
    let mut names = table::every_name();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    // Each form of the table is one that the judge admits, or one that a row's check refuses for its sample value.
    let forms = forms();
    assert!(forms.len() > 3_000, "{}", forms.len());
    let refused = forms.iter().filter(|form| !reads(form)).count();
    assert!(refused * 20 < forms.len(), "{refused} of {}", forms.len());
}

#[test]
fn paths_are_handed_back() {
    for (command, expected) in [
        ("cat a b", vec!["a", "b"]),
        ("cat < a", vec!["a"]),
        ("grep -f list x y", vec!["list", "x", "y"]),
        ("git show HEAD:.env", vec![".env", "HEAD:.env"]),
        ("git -C sub log -- x", vec!["sub", "x"]),
        ("cd sub && cat x", vec!["x", "sub/x"]),
        ("cd a; cd b; cat x", vec!["x", "a/x", "b/x", "a/b/x"]),
        ("cat ~/.ssh/id_rsa", vec!["~/.ssh/id_rsa"]),
        ("cat \"$HOME/.ssh/id_rsa\"", vec!["~/.ssh/id_rsa"]),
        ("for f in .env x; do cat \"$f\"; done", vec![".env", "x"]),
        ("bash -c 'cat .env'", vec![".env"]),
        ("find .ssh -exec cat key {} +", vec![".ssh", "key", "{}"]),
        ("timeout 5 xargs cat .env", vec![".env", "…"]),
        ("[[ -f .env ]]", vec![".env"]),
        ("sed -n p .env", vec![".env"]),
        ("awk 1 .env", vec![".env"]),
        ("jq . secrets.json", vec!["secrets.json"]),
        ("diff --to-file=.env a", vec![".env", "a"]),
    ] {
        assert_eq!(paths(command), expected, "{command}");
    }
    assert_eq!(judge("cat src/*.rs ~/x", ReadOnlyProfile::Enforced).expands, ["src/*.rs", "~/x"]);
}

#[test]
fn parts_tell_what_runs_and_why_not() {
    let part = |text: &str, argv: &[&str], reads: bool, why: &str| CommandPart {
        text: text.to_owned(),
        argv: Some(argv.iter().map(|&word| word.to_owned()).collect()),
        program: argv.first().map(|&word| word.to_owned()),
        reads,
        why: why.to_owned(),
        writes: Vec::new(),
    };
    let off = |name: &str| format!("`{name}` is not a known read-only command");
    assert_eq!(
        judge("git status && cargo 'test' --lib 2>&1 | tail -5", ReadOnlyProfile::Enforced).parts,
        [
            part("git status", &["git", "status"], true, ""),
            part("cargo 'test' --lib 2>&1", &["cargo", "test", "--lib"], false, &off("cargo test")),
            part("tail -5", &["tail", "-5"], true, ""),
        ]
    );
    let wrapped = judge("timeout 60 cargo test", ReadOnlyProfile::Enforced).parts;
    assert!(wrapped[0].reads);
    assert_eq!(wrapped[1], part("cargo test", &["cargo", "test"], false, &off("cargo test")));
    assert_eq!(judge("rm $x", ReadOnlyProfile::Enforced).parts[0].argv, None);
    assert_eq!(judge("LD_PRELOAD=./x cargo test", ReadOnlyProfile::Enforced).parts[0].argv, None);
    assert_eq!(judge("ls; echo $(x)", ReadOnlyProfile::Enforced).parts, []);
    // Without the sandbox the parts are the same, and fewer of them read.
    let parts = judge("git status; ls", ReadOnlyProfile::None).parts;
    assert_eq!(
        parts,
        [part("git status", &["git", "status"], false, &needs_sandbox("git status")), part("ls", &["ls"], true, "")]
    );
}

#[test]
fn what_redirections_write_is_handed_back() {
    for (command, writes) in [
        ("ls > x", vec!["x"]),
        ("ls >> x 2>&1", vec!["x"]),
        ("(ls; pwd) > x", vec!["x"]),
        ("cd sub; ls > x", vec!["x", "sub/x"]),
        ("ls > ~/x", vec!["~/x"]),
        ("ls > /dev/null", vec![]),
    ] {
        let judgement = judge(command, ReadOnlyProfile::Enforced);
        assert_eq!(judgement.writes, writes, "{command}");
        assert!(judgement.parts.iter().all(|part| part.reads), "{command}");
    }
    // What no part tells leaves no parts: nothing can be answered by rules about them.
    for command in ["ls > $x", "ls > x; bash -c 'echo $(rm y)'", "ls > x; [[ a =~ b ]]", "cargo test < $x"] {
        let judgement = judge(command, ReadOnlyProfile::Enforced);
        assert!(judgement.parts.is_empty() && judgement.writes.is_empty(), "{command}: {judgement:?}");
    }
}

#[test]
fn a_program_of_the_working_directory_is_not_trusted() {
    let program =
        |name: &str, inside| StartedProgram { name: name.to_owned(), path: "/w/bin/x".into(), inode: 1, inside };
    let found =
        |command: &str, programs: &[StartedProgram]| judge_found(command, ReadOnlyProfile::Enforced, programs, None);
    assert!(matches!(found("git log", &[program("git", false)]).verdict, Judged::ReadOnly(_)));
    for command in ["git log", "ls | xargs jq .", "timeout 5 git log", "bash -c 'git log'", "LC_ALL=C jq . x"] {
        let judgement = found(command, &[program("git", true), program("jq", true)]);
        let Judged::Other(why) = &judgement.verdict else { continue };
        assert!(why.contains("a program of the working directory") || command.contains("xargs"), "{command}: {why}");
    }
    assert!(matches!(found("git log", &[program("git", true)]).verdict, Judged::Other(_)));
    assert!(matches!(found("ls | xargs wc -l", &[program("wc", true)]).verdict, Judged::Other(_)));
    assert!(matches!(found("cat x", &[program("git", true)]).verdict, Judged::ReadOnly(_)));
    // What could not be looked up counts where the shell expands something.
    let unseen = |command: &str| judge_found(command, ReadOnlyProfile::Enforced, &[], Some("too many")).verdict;
    assert_eq!(unseen("cat a*"), Judged::Other("too many".to_owned()));
    assert!(matches!(unseen("cat a"), Judged::ReadOnly(_)));
}

#[test]
fn hostile_nesting_is_judged_quickly() {
    for command in [
        "(".repeat(5_000),
        "{ ".repeat(4_000),
        "if ".repeat(3_000),
        "[[ ".repeat(3_000),
        "for a in b; do ".repeat(600),
        "ls;".repeat(3_000),
        "ls | ".repeat(1_900),
        "ls <<a\n".repeat(1_200),
        "cd a; ".repeat(1_600),
        "case a in ".repeat(900),
        "sh -c 'ls' ".repeat(800),
        "timeout 1 ".repeat(900),
        "$".repeat(9_000),
        "\\\n".repeat(4_000),
        format!("{}ls{}", "for a in b c d e f; do ".repeat(5), "; done".repeat(5)),
    ] {
        let started = std::time::Instant::now();
        let _ = judge(&command, ReadOnlyProfile::Enforced);
        assert!(started.elapsed() < std::time::Duration::from_secs(10), "{}", &command[..20]);
    }
}

/// Everything that is asked about a line, for its own sake.
fn ask_all(line: &str) {
    for profile in [ReadOnlyProfile::Enforced, ReadOnlyProfile::None] {
        let judgement = judge(line, profile);
        let _ = judge_found(line, profile, &[], Some("unseen"));
        for part in judgement.parts {
            let _ = danger(&part.text);
            let _ = part.argv.map(|argv| remote(&argv).is_some());
        }
    }
    let _ = (known(line), danger(line), looks(line, std::path::Path::new("/w")), crate::permit::shell::pieces(line));
}

/// A pattern as the last word, or an option whose value is missing, is what `xargs` makes of ordinary lines.
#[test]
fn letters_of_any_length_in_any_place_are_judged() {
    ask_all("ls | xargs head -n");
    ask_all("sort -t '…' a.txt");
    ask_all("…(){ …|…& };…");
    // Every third of them meets every kind of letters.
    for (n, form) in forms().into_iter().enumerate().step_by(3) {
        ask_all(&format!("ls | xargs {form}"));
        let words: Vec<&str> = form.split(' ').collect();
        for at in 0..words.len() {
            let mut words = words.clone();
            words[at] = ["…", "-é", "--日本=ü", "é…", "'…'"][(n + at) % 5];
            let held = if n % 2 == 0 { ReadOnlyProfile::Enforced } else { ReadOnlyProfile::None };
            let _ = judge(&words.join(" "), held);
        }
    }
}

/// Pieces of lines, harmless and not.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "ls",
            "git log",
            "cat a",
            "find . -name x",
            "sed -n p a",
            "xargs wc",
            "bash -c",
            "timeout 5",
            "for f in a b",
            "do",
            "done",
            "if",
            "then",
            "fi",
            "case a in",
            "esac",
            "[[",
            "]]",
            "((",
            "a=b",
            "LC_ALL=C",
            "sort",
            "-o x",
            "> x",
            "<<E\n",
            "E\n",
            "$f",
            "$(rm)",
            "`rm`",
            "{",
            "}",
            "(",
            ")",
            "&&",
            "||",
            "|",
            ";",
            "&",
            "\n",
            "'",
            "\"",
            "\\",
            "*",
            "~",
            "#",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,4}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|parts| parts.join(" "))
}

/// Pieces that spoil any line, wherever they stand between its words.
const POISON: &[&str] = &[
    "; rm x",
    "& ",
    "$(rm x)",
    "`rm x`",
    "> x",
    ">> x",
    "<(rm x)",
    "${x@P}",
    "$((a[$(rm x)]))",
    "\nrm x\n",
    "| sh",
    "|| rm x",
    "\u{202e}",
    "\0",
    "\r",
    "\u{1b}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_judge_never_panics_and_says_the_same_twice(line in pieces()) {
        prop_assert_eq!(judge(&line, ReadOnlyProfile::Enforced), judge(&line, ReadOnlyProfile::Enforced));
    }

    #[test]
    fn what_reads_without_a_sandbox_reads_with_one(line in pieces()) {
        if matches!(judge(&line, ReadOnlyProfile::None).verdict, Judged::ReadOnly(_)) {
            prop_assert!(reads(&line), "{line:?}");
        }
    }

    #[test]
    fn a_piece_that_runs_or_writes_spoils_every_line(
        line in prop::sample::select(lines(ALLOWED)),
        poison in prop::sample::select(POISON.to_vec()),
        at in any::<prop::sample::Index>(),
    ) {
        // Where a blank stands outside quotes and comments a new word can begin.
        let simple = !line.contains(['\'', '"', '\\', '#', '\n', '$']) && !line.contains("<<");
        prop_assume!(simple);
        let places: Vec<usize> = line.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at).chain([line.len()]).collect();
        let at = places[at.index(places.len())];
        let spoiled = format!("{} {poison} {}", &line[..at], &line[at..]);
        prop_assert!(!reads(&spoiled), "{spoiled:?}");
    }
}
