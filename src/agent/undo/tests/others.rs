//! Undo beside others: the user and other sessions write between the calls and during them, and lose nothing unseen.

use super::*;
use crate::domain::tool::FileChange;
use crate::domain::undo::UndoPlan;
use std::collections::BTreeSet;

fn content(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.work.join(name)).unwrap_or_default()
}

fn planned(bench: &Bench, aim: UndoAim) -> UndoPlan {
    plan(&bench.checkpoints(), aim, &bench.known()).unwrap().plan
}

fn state<'a>(plan: &'a UndoPlan, name: &str) -> &'a UndoState {
    &plan.files.iter().find(|file| file.shown == name).unwrap().state
}

#[test]
fn what_the_user_wrote_between_two_edits_is_kept_unless_it_is_named() {
    for (also, left) in [(&[][..], "the agent, the user"), (&["f"][..], "old")] {
        let mut bench = Bench::new();
        write(&bench.work.join("f"), "old");
        bench.tool("m1", "f", |path| write(path, "the agent"));
        write(&bench.work.join("f"), "the agent, the user");
        bench.tool("m1", "f", |path| write(path, "the agent, the user, the agent"));
        assert!(matches!(state(&planned(&bench, UndoAim::Last), "f"), UndoState::Between(_)));
        let done = bench.undo(UndoAim::Last, also);
        assert_eq!(
            (done.restored, done.kept.len(), content(&bench, "f")),
            (vec!["f".into()], 1 - also.len(), left.into())
        );
        bench.undo(UndoAim::Redo, &[]);
        assert_eq!(content(&bench, "f"), "the agent, the user, the agent");
        assert!(matches!(state(&planned(&bench, UndoAim::Last), "f"), UndoState::Between(_)), "after a redo too");
    }
}

#[test]
fn what_the_user_wrote_before_the_turn_that_was_undone_is_kept_too() {
    let mut bench = Bench::new();
    bench.tool("m1", "f", |path| write(path, "one"));
    write(&bench.work.join("f"), "the user");
    bench.tool("m2", "f", |path| write(path, "two"));
    bench.undo(UndoAim::Last, &[]);
    assert_eq!(content(&bench, "f"), "the user");
    let plan = planned(&bench, UndoAim::Last);
    assert!(matches!(state(&plan, "f"), UndoState::Changed(why) if why.contains("in between")), "{plan:?}");
    assert_eq!(bench.undo(UndoAim::Last, &[]).left.len(), 1);
    assert_eq!(content(&bench, "f"), "the user");
}

#[test]
fn a_turn_is_gone_back_over_where_an_undo_lies_in_between() {
    let mut bench = Bench::new();
    write(&bench.work.join("f"), "0");
    bench.tool("m1", "f", |path| write(path, "1"));
    bench.tool("m2", "f", |path| write(path, "2"));
    bench.undo(UndoAim::Last, &[]);
    bench.tool("m3", "f", |path| write(path, "3"));
    for wanted in ["1", "0"] {
        let plan = planned(&bench, UndoAim::Last);
        assert_eq!(state(&plan, "f"), &UndoState::Ready);
        bench.undo(UndoAim::Last, &[]);
        assert_eq!(content(&bench, "f"), wanted);
    }
}

#[test]
fn calls_of_one_id_are_told_apart() {
    let mut bench = Bench::new();
    bench.tool("m1", "one", |path| write(path, "x"));
    bench.tool("m1", "two", |path| write(path, "x"));
    let since = |rows: &[&str], at| Since {
        at: At(at),
        rows: rows.iter().map(|row| MessageId::new(*row)).collect(),
        calls: HashSet::from([CallId::new("call_0")]),
    };
    let files = |since: Since| {
        let known = Known { since, ..bench.known() };
        let worked = plan(&bench.checkpoints(), UndoAim::Since(MessageId::new("m")), &known).unwrap();
        worked.plan.files.into_iter().map(|file| file.shown).collect::<Vec<_>>()
    };
    assert_eq!(files(since(&["r2"], 2)), ["two"]);
    assert_eq!(files(since(&["r1", "r2"], 0)), ["one", "two"]);
    assert_eq!(files(since(&["r9"], 9)), Vec::<String>::new());
}

#[test]
fn what_a_command_cannot_have_changed_is_not_its_change() {
    let mut bench = Bench::new();
    for name in ["notes", "out"] {
        write(&bench.work.join(name), "old");
    }
    bench.command_of("m1", "sleep 5", |work| write(&work.join("notes"), "the user"));
    assert!(bench.undo(UndoAim::Last, &[]).nothing);
    bench.command_of("m2", "sleep 5; echo new > out", |work| {
        write(&work.join("notes"), "the user again");
        write(&work.join("out"), "new");
    });
    let plan = planned(&bench, UndoAim::Last);
    assert_eq!(
        plan.files.iter().map(|file| (file.shown.as_str(), &file.during)).collect::<Vec<_>>(),
        [("out", &Some("s".to_owned()))]
    );
    bench.undo(UndoAim::Last, &[]);
    assert_eq!((content(&bench, "notes").as_str(), content(&bench, "out").as_str()), ("the user again", "old"));
}

#[test]
fn what_changed_while_any_other_command_ran_is_shown_as_that() {
    let mut bench = Bench::new();
    write(&bench.work.join("f"), "old");
    bench.command_of("m1", "make", |work| write(&work.join("f"), "new"));
    bench.tool("m1", "g", |path| write(path, "x"));
    let plan = planned(&bench, UndoAim::Last);
    let shown: Vec<_> = plan.files.iter().map(|file| (file.shown.as_str(), file.during.as_deref())).collect();
    assert_eq!(shown, [("f", Some("s")), ("g", None)]);
    let done = bench.undo(UndoAim::Last, &[]);
    assert_eq!((done.restored.len(), done.during), (2, vec![("f".to_owned(), "s".to_owned())]));
}

#[test]
fn what_the_user_writes_while_a_file_tool_runs_is_not_the_tools() {
    let hash = |text: &str| crate::domain::hex::hex(&crate::tools::files::hash(text.as_bytes()));
    for (did, own) in [(true, true), (false, true), (false, false)] {
        let mut bench = Bench::new();
        write(&bench.work.join("f"), "old");
        let path = bench.work.join("f");
        let mut about = bench.about("m1", Touch::Write { path: path.clone(), place: PathPlace::Inside });
        let change = FileChange { before: hash("old"), after: hash("new"), ..FileChange::default() };
        about.facts.proposal = Proposal::Changes { changes: vec![change] };
        bench.call(about, did, |_| {
            if own {
                write(&path, "new");
            }
            write(&path, "the user");
        });
        assert!(bench.undo(UndoAim::Last, &[]).restored.is_empty());
        assert_eq!(content(&bench, "f"), "the user");
    }
}

#[test]
fn two_sessions_in_one_directory_do_not_take_each_others_changes_for_their_own() {
    let mut one = Bench::new();
    let mut other = one.beside();
    for name in ["own", "edited", "made"] {
        write(&one.work.join(name), "old");
    }
    // While the command of one session runs, the other edits one file, and runs a command that changes another.
    one.command_of("m1", "make", |work| {
        write(&work.join("own"), "new");
        other.tool("m1", "edited", |path| write(path, "new"));
        other.command_of("m1", "make other", |work| write(&work.join("made"), "new"));
    });
    let plan = planned(&one, UndoAim::Last);
    assert_eq!(state(&plan, "own"), &UndoState::Ready);
    for name in ["edited", "made"] {
        assert!(matches!(state(&plan, name), UndoState::Changed(why) if why.contains("260101-c-d")), "{plan:?}");
    }
    let plan = planned(&other, UndoAim::Last);
    assert_eq!(state(&plan, "edited"), &UndoState::Ready, "a file tool knows what it wrote");
    let done = one.undo(UndoAim::Last, &[]);
    assert_eq!((done.restored, done.left.len()), (vec!["own".to_owned()], 2));
    assert_eq!((content(&one, "edited").as_str(), content(&one, "made").as_str()), ("new", "new"));
    other.undo(UndoAim::Last, &["made"]);
    assert_eq!((content(&one, "edited").as_str(), content(&one, "made").as_str()), ("old", "old"));
}

/// One thing that happens. Everything that is written is a line of its own, so that it can be looked for.
#[derive(Clone, Debug)]
enum Event {
    /// A file tool adds a line, or writes the file anew.
    Agent {
        file: usize,
        anew: bool,
        turn: bool,
    },
    /// A command does, and the user writes meanwhile.
    Command {
        file: usize,
        anew: bool,
        meanwhile: Option<usize>,
        turn: bool,
    },
    /// The user does.
    User {
        file: usize,
        anew: bool,
    },
    Remove {
        file: usize,
    },
    Undo {
        tick: bool,
    },
    Redo {
        tick: bool,
    },
    Rewind {
        back: usize,
        tick: bool,
    },
    Restart,
}

const FILES: [&str; 2] = ["a", "b"];

fn event() -> impl Strategy<Value = Event> {
    let file = 0..FILES.len();
    prop_oneof![
        4 => (file.clone(), any::<bool>(), any::<bool>()).prop_map(|(file, anew, turn)| Event::Agent { file, anew, turn }),
        3 => (file.clone(), any::<bool>(), prop::option::of(0..FILES.len()), any::<bool>())
            .prop_map(|(file, anew, meanwhile, turn)| Event::Command { file, anew, meanwhile, turn }),
        4 => (file.clone(), prop::bool::weighted(0.3)).prop_map(|(file, anew)| Event::User { file, anew }),
        1 => file.prop_map(|file| Event::Remove { file }),
        3 => prop::bool::weighted(0.2).prop_map(|tick| Event::Undo { tick }),
        2 => prop::bool::weighted(0.2).prop_map(|tick| Event::Redo { tick }),
        2 => (0..6usize, prop::bool::weighted(0.2)).prop_map(|(back, tick)| Event::Rewind { back, tick }),
        1 => Just(Event::Restart),
    ]
}

/// The directory, and how many lines were written so far.
struct World {
    bench: Bench,
    lines: usize,
    turn: usize,
    /// Lines of the user that a change took away: to redo it takes them away again.
    taken: BTreeSet<String>,
}

impl World {
    fn put(work: &Path, file: usize, anew: bool, line: &str) {
        let path = work.join(FILES[file]);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, if anew { format!("{line}\n") } else { format!("{before}{line}\n") }).unwrap();
    }

    fn line(&mut self, who: &str) -> String {
        self.lines += 1;
        format!("{who}{}", self.lines)
    }

    /// The user's lines that stand in a file.
    fn users(&self, file: usize) -> BTreeSet<String> {
        content(&self.bench, FILES[file]).lines().filter(|line| line.starts_with("user")).map(str::to_owned).collect()
    }

    /// Restores, and sees to it that what the user wrote is there, or was shown to go.
    fn restore(&mut self, aim: UndoAim, since: Since, tick: bool) -> Result<(), TestCaseError> {
        let known = Known { since, ..self.bench.known() };
        let plan = plan(&self.bench.checkpoints(), aim.clone(), &known).unwrap().plan;
        let before: Vec<BTreeSet<String>> = (0..FILES.len()).map(|file| self.users(file)).collect();
        let also: Vec<PathBuf> = if tick { plan.files.iter().map(|file| file.path.clone()).collect() } else { vec![] };
        restore(&self.bench.checkpoints(), aim, &also, &known, self.bench.tick()).unwrap();
        self.bench.recorder.look_again();
        for (file, before) in before.iter().enumerate() {
            let told = plan.files.iter().find(|told| told.shown == FILES[file]);
            let chosen = told.is_some_and(|told| {
                told.during.is_some() || tick && matches!(told.state, UndoState::Changed(_) | UndoState::Between(_))
            });
            let after = self.users(file);
            let gone: Vec<&String> = before.difference(&after).filter(|line| !self.taken.contains(*line)).collect();
            prop_assert!(gone.is_empty() || chosen, "{gone:?} of {} went: {plan:#?}", FILES[file]);
        }
        Ok(())
    }

    fn happens(&mut self, event: &Event) -> Result<(), TestCaseError> {
        let before: BTreeSet<String> = (0..FILES.len()).flat_map(|file| self.users(file)).collect();
        let restores = matches!(event, Event::Undo { .. } | Event::Redo { .. } | Event::Rewind { .. });
        let next = |turn: bool, at: usize| if turn { at + 1 } else { at };
        match *event {
            Event::Agent { file, anew, turn } => {
                self.turn = next(turn, self.turn);
                let (line, name) = (self.line("agent"), format!("m{}", self.turn));
                let work = self.bench.work.clone();
                self.bench.tool(&name, FILES[file], |_| Self::put(&work, file, anew, &line));
            }
            Event::Command { file, anew, meanwhile, turn } => {
                self.turn = next(turn, self.turn);
                let (line, user, name) = (self.line("agent"), self.line("user"), format!("m{}", self.turn));
                self.bench.command(&name, |work| {
                    Self::put(work, file, anew, &line);
                    if let Some(file) = meanwhile {
                        Self::put(work, file, false, &user);
                    }
                });
            }
            Event::User { file, anew } => {
                let line = self.line("user");
                Self::put(&self.bench.work, file, anew, &line);
            }
            Event::Remove { file } => drop(std::fs::remove_file(self.bench.work.join(FILES[file]))),
            Event::Undo { tick } => self.restore(UndoAim::Last, Since::default(), tick)?,
            Event::Redo { tick } => self.restore(UndoAim::Redo, Since::default(), tick)?,
            Event::Rewind { back, tick } => {
                let last = self.bench.calls;
                let rows = (0..back as u64).map(|n| MessageId::new(format!("r{}", last.saturating_sub(n)))).collect();
                let since = Since { rows, ..Since::default() };
                self.restore(UndoAim::Since(MessageId::new("m")), since, tick)?;
            }
            Event::Restart => self.bench.restart(),
        }
        if !restores {
            let after: BTreeSet<String> = (0..FILES.len()).flat_map(|file| self.users(file)).collect();
            self.taken.extend(before.difference(&after).cloned());
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever the agent, its commands and the user do in any order, and however often it is undone, redone and gone
    /// back: no line of the user goes without being shown.
    #[test]
    fn no_line_of_the_user_goes_unseen(events in prop::collection::vec(event(), 1..24)) {
        let mut world = World { bench: Bench::new(), lines: 0, turn: 1, taken: BTreeSet::new() };
        for event in &events {
            world.happens(event)?;
        }
    }
}

#[test]
fn a_repository_that_went_with_its_folder_is_told() {
    let mut bench = Bench::new();
    for name in ["sub/a.txt", "sub/.git/HEAD", "kept/.git/HEAD"] {
        write(&bench.work.join(name), "old");
    }
    bench.command("m1", |work| {
        std::fs::remove_dir_all(work.join("sub")).unwrap();
        write(&work.join("kept/.git/HEAD"), "new");
    });
    let plan = planned(&bench, UndoAim::Last);
    assert!(matches!(state(&plan, "sub/.git"), UndoState::Lost(why) if why.contains("repository")), "{plan:?}");
    assert!(!plan.files.iter().any(|file| file.shown.starts_with("kept")), "{plan:?}");
    let done = bench.undo(UndoAim::Last, &[]);
    assert!(done.restored.contains(&"sub/a.txt".to_owned()) && done.left.len() == 1, "{done:?}");
}
