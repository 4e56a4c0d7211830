//! Plans as models write them, and back.

use super::*;
use proptest::prelude::*;

fn texts(markdown: &str) -> Vec<String> {
    Outline::parse(markdown).steps.into_iter().map(|step| step.text).collect()
}

#[test]
fn steps_are_found_however_they_are_written() {
    let table: [(&str, &[&str]); 12] = [
        ("# T\n\nWhy.\n\n1. a\n2. b\n", &["a", "b"]),
        ("1) a\n2) b", &["a", "b"]),
        ("1. a\n1. b\n1. c", &["a", "b", "c"]),
        ("1. a\n   more\n\n   and\n2. b", &["a\nmore\n\nand", "b"]),
        ("1. **a**\n- sub\n- sub\n\n2. b\n", &["**a**\n- sub\n- sub", "b"]),
        ("1. a\n\n- sub\n\n2. b\n\nafter", &["a\n\n- sub", "b"]),
        ("### Step 1: a\n\nbody\n1. x\n2. y\n\n### Step 2 - b\n\n## Risks\n1. no", &["a\n\nbody\n1. x\n2. y", "b"]),
        ("1. why\n2. not\n\n## Steps\n\n1. a\n\n## Later\n\n1. c\n", &["a"]),
        ("1. first\n2. list\n\ntext\n\n1. a\n2. b", &["a", "b"]),
        ("1. a\n   ```sh\n1. not a step\n", &["a\n```sh", "not a step"]),
        ("1. a\n   ```sh\n   1. not a step\n   ```\n2. b", &["a\n```sh\n1. not a step\n```", "b"]),
        ("```\n1. code\n```\nno steps, 1.5 of 2. and\n1.\n", &[]),
    ];
    for (markdown, steps) in table {
        assert_eq!(texts(markdown), steps, "{markdown}");
    }
}

#[test]
fn what_stands_around_the_steps_stays() {
    let plan = Outline::parse("# T\n\nWhy:\n1. one reason\n2. another\n\n## Steps\n\n1. a\n2. b\n\n## Risks\n\nnone\n");
    assert!(plan.before.ends_with("## Steps") && plan.before.contains("another"));
    assert_eq!(plan.after, "## Risks\n\nnone");
    let none = Outline::parse("# Only words\n\nno list");
    assert!(none.steps.is_empty() && none.after.is_empty());
    assert_eq!(none.render(), "# Only words\n\nno list\n");
}

#[test]
fn marks_are_written_and_read_back() {
    let mut plan = Outline::parse("# T\n\n1. a\n   more\n2. b\n3. c\n\nend\n");
    assert_eq!(plan.in_words(), "3 steps");
    assert!(!plan.is_marked());
    plan.apply(&[
        StepMark { number: 2, struck: true, comment: None },
        StepMark { number: 1, struck: false, comment: Some("only\nthe first".into()) },
        StepMark { number: 9, struck: true, comment: None },
        StepMark { number: 3, struck: false, comment: Some("  ".into()) },
    ]);
    assert_eq!(plan.in_words(), "3 steps, 1 struck, 1 comment");
    let text = plan.render();
    assert_eq!(text, "# T\n\n1. a\n   more\n   > Comment: only\n   > the first\n2. ~~b~~\n3. c\n\nend\n");
    assert_eq!(Outline::parse(&text), plan);
    plan.apply(&[1, 2, 3].map(|number| StepMark { number, struck: true, comment: None }));
    assert!(plan.is_all_struck());
}

#[test]
fn steps_that_are_headings_stay_headings() {
    let mut plan = Outline::parse("# T\n\n### Step 1: a\n\nbody\n\n### Step 2: b\n");
    plan.apply(&[StepMark { number: 2, struck: true, comment: Some("no".into()) }]);
    let text = plan.render();
    assert_eq!(text, "# T\n\n### Step 1: a\n\nbody\n\n### Step 2: ~~b~~\n> Comment: no\n");
    assert_eq!(Outline::parse(&text), plan);
}

#[test]
fn steps_tick_off() {
    let mut plan = Outline::parse("1. a\n2. b\n3. c");
    plan.apply(&[StepMark { number: 2, struck: true, comment: None }]);
    let mut progress = Progress { steps: plan.steps, ..Progress::default() };
    assert_eq!((progress.figures(), progress.next().map(|step| step.number)), ((0, 2), Some(1)));
    assert_eq!(progress.set(1, StepStatus::Done), Ok(()));
    assert_eq!(progress.next().map(|step| step.number), Some(3), "a struck step is passed over");
    assert!(progress.set(2, StepStatus::Running).unwrap_err().contains("struck out step 2"));
    assert!(progress.set(4, StepStatus::Done).unwrap_err().contains("1 to 3"));
    progress.set(3, StepStatus::Failed).unwrap();
    assert!(!progress.is_settled());
    progress.set(3, StepStatus::Skipped).unwrap();
    assert_eq!((progress.is_settled(), progress.figures()), (true, (1, 2)));
    assert_eq!(progress.list(), "[x] 1. a\n[struck] 2. b\n[skipped] 3. c");
}

fn a_text() -> impl Strategy<Value = String> {
    let line = "[a-z`#>*~0-9.)( 日-]{0,12}";
    let first = "[a-z日][a-z 0-9.)`日]{0,12}";
    (first, prop::collection::vec(line, 0..4)).prop_map(|(first, rest)| {
        let rest = rest.into_iter().map(|line| line.trim_end().to_owned());
        let lines = std::iter::once(first.trim().to_owned()).chain(rest).collect::<Vec<_>>();
        lines.join("\n").trim_end().to_owned()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        steps in prop::collection::vec((a_text(), any::<bool>(), prop::option::of("[a-z]{1,5}( [a-z]{1,5}|\n\n?[a-z]{1,5}){0,3}")), 1..14),
        before in "[a-z ]{0,20}",
        after in "[a-z ]{0,20}",
    ) {
        let steps = steps.into_iter().enumerate().map(|(n, (text, struck, comment))| PlanStep {
            number: u32::try_from(n + 1).unwrap(), text, status: StepStatus::Open, struck, comment,
        }).collect();
        let plan = Outline { before: before.trim().to_owned(), steps, after: after.trim().to_owned(), form: PlanForm::List };
        prop_assert_eq!(Outline::parse(&plan.render()), plan);
    }

    #[test]
    fn any_text_settles_after_one_writing(lines in prop::collection::vec(
        "( {0,4}|\t)(1\\. a|2\\) b|9\\. c|- d|#+ Step [12]: e|## Steps|# T|```|~~~|> Comment: f|> g|~~h~~|i||1\\.)", 0..16,
    )) {
        let once = Outline::parse(&lines.join("\n")).render();
        let twice = Outline::parse(&once).render();
        let thrice = Outline::parse(&twice).render();
        prop_assert_eq!(&twice, &thrice, "{}", once);
        prop_assert_eq!(Outline::parse(&once).steps.len(), Outline::parse(&twice).steps.len());
    }
}
