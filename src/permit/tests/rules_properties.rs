//! Rules and any words: what no rule lets run, and what every offer is.

use super::super::matches::{self, Ways};
use super::rules::bash;
use super::*;
use crate::domain::rule::Offer;
use std::path::Path;

fn any_word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-./~*a-c ]{0,8}",
        "\\PC{0,6}",
        prop::sample::select(vec!["..", "../x", "/etc/x", "./a", "-rf", "a/../b", ".env", "/w/p/x", "/w/px", "~"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_path_below_stays_below(word in any_word()) {
        let cwd = Path::new("/w/p");
        let nothing = command("true");
        let mut linked = nothing.clone();
        let ways = Ways::of(&[], cwd, &nothing).unwrap();
        if matches::is_below(&word, &ways) {
            prop_assert!(!word.starts_with('-') && !word.is_empty());
            let full = crate::domain::paths::lexical(cwd, Path::new(&word));
            prop_assert!(full.starts_with(cwd), "{word:?}");
            prop_assert!(!word.split('/').any(|part| part == ".."), "{word:?}");
            prop_assert!(!crate::domain::paths::is_secret(&full), "{word:?}");
            // Behind a link it is not, wherever on the way the link stands.
            linked.touches.push(Touch::Leaves { path: full });
            prop_assert!(!matches::is_below(&word, &Ways::of(&[], cwd, &linked).unwrap()));
        }
    }

    #[test]
    fn options_are_never_generalised(
        argv in prop::collection::vec(any_word(), 1..5),
        wanted in prop::collection::vec(
            prop_oneof![any_word(), Just("*".to_owned()), Just("./**".to_owned())], 0..4),
    ) {
        let rule = Rule { program: Some(argv[0].clone()), args: Some(wanted.clone()), ..Rule::allow("bash") };
        let nothing = command("true");
        if matches::admits(&rule, &argv, &Ways::of(&[], Path::new("/w/p"), &nothing).unwrap()) {
            prop_assert_eq!(wanted.len() + 1, argv.len());
            for (want, word) in wanted.iter().zip(&argv[1..]) {
                prop_assert!(want == word || !word.starts_with('-'), "{want:?} {word:?}");
            }
        }
    }

    #[test]
    fn what_is_offered_answers_what_was_asked_and_names_its_program(
        program in prop::sample::select(vec!["rm", "cp", "git", "cargo", "touch", "frob", "python3", "sudo", "./x"]),
        args in prop::collection::vec(any_word(), 0..4),
    ) {
        let quoted: Vec<String> = args.iter().map(|word| format!("'{}'", word.replace('\'', ""))).collect();
        let facts = command(&format!("{program} {}", quoted.join(" ")));
        if let Verdict::Ask(question) = decide(Mode::Ask, &[], &facts, false) {
            let (shown, run): (Vec<&Offer>, Vec<&Offer>) =
                question.offers.iter().partition(|offer| offer.rule.tool == crate::domain::rule::SANDBOX);
            prop_assert!(shown.iter().all(|offer| offer.rule.fault().is_none()));
            for offer in &run {
                prop_assert_eq!(offer.rule.program.as_deref(), Some(program));
                prop_assert_eq!(offer.rule.fault(), None);
                // Options stand in the rule as they were asked.
                let options = |words: &mut dyn Iterator<Item = String>| -> Vec<String> {
                    words.filter(|word| word.starts_with('-')).collect()
                };
                let kept = options(&mut offer.rule.args.iter().flatten().cloned());
                let asked = options(&mut args.iter().map(|word| word.replace('\'', "")));
                prop_assert_eq!(kept, asked);
            }
            // To show a secret lets nothing run.
            if !run.is_empty() {
                let kept: Vec<Rule> = question.offers.into_iter().map(|offer| offer.rule).collect();
                prop_assert_eq!(letter(&decide(Mode::Ask, &kept, &facts, false)), 'a');
            }
        }
    }

    #[test]
    fn no_rule_lets_a_command_write_where_code_is_configured(
        program in prop::sample::select(vec!["cp", "mv", "touch", "mkdir", "rm", "ln", "install", "rsync", "tee"]),
        options in prop::collection::vec(prop::sample::select(vec!["-r", "-rT", "-t", "-a", "-f", "--", "-p"]), 0..2),
        words in prop::collection::vec(
            prop::sample::select(vec![
                "a", "sub", ".", "sub/..", ".config", "x/fish", ".git", "x/hooks", "sub/.github", "x/workflows", ".envrc", "x/.envrc",
                ".vscode", ".cargo/config.toml", "./.git/config", ".ENVRC",
            ]),
            1..4,
        ),
        wide in any::<bool>(),
    ) {
        let words: Vec<&str> = options.iter().chain(&words).copied().collect();
        let line = format!("{program} {}", words.join(" "));
        let args: Vec<&str> = words.iter().map(|word| if wide && !word.starts_with('-') { "./**" } else { *word }).collect();
        let verdict = decide(Mode::Ask, &[bash(program, &args)], &command(&line), false);
        if matches!(verdict, Verdict::Allow(_)) {
            let argv: Vec<String> = std::iter::once(program).chain(words).map(str::to_owned).collect();
            for target in crate::domain::command_effects::reach(&argv).targets() {
                let full = crate::domain::paths::lexical(Path::new("/w/p"), Path::new(&target));
                let short = full.strip_prefix("/w/p").unwrap_or(&full);
                prop_assert!(!crate::domain::paths::is_protected_for_commands(short), "{line}: {target}");
            }
        }
    }

    #[test]
    fn no_rule_lets_more_run_than_execute_would(line in "\\PC{0,24}", kept in prop::collection::vec(any_rule(), 0..5)) {
        let facts = command(&line);
        if matches!(decide(Mode::Ask, &kept, &facts, false), Verdict::Allow(_)) {
            prop_assert!(matches!(decide(Mode::Execute, &[], &facts, false), Verdict::Allow(_)), "{line:?}");
        }
    }
}
