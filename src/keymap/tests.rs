//! The embedded table, a user's file laid over it, and its problems.

use super::action::{AppAction, Context, ListAction, ModeAction, SessionAction};
use super::key::{Code, Key, Mods};
use super::*;
use proptest::prelude::*;

static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(|| load(None).table);

fn user(text: &str) -> LoadedKeymap {
    load(Some(("keymap.toml", text)))
}

fn told(loaded: &LoadedKeymap) -> Vec<String> {
    loaded.problems.iter().map(ToString::to_string).collect()
}

fn feed(table: &Table, contexts: &[Context], keys: &str) -> Fed {
    let keys = Key::parse_chord(keys).unwrap();
    let (last, before) = keys.split_last().unwrap();
    table.feed(contexts, before, *last)
}

#[test]
fn the_embedded_table_is_sound() {
    let loaded = load(None);
    assert_eq!(told(&loaded), Vec::<String>::new());
    assert!(loaded.table.bindings().len() > 150);
}

#[test]
fn every_keymap_of_the_folder_is_embedded() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/keymaps")).unwrap();
    let files: Vec<_> = folder.map(|file| file.unwrap().file_name()).collect();
    let mut files: Vec<_> = files.into_iter().map(|file| file.into_string().unwrap()).collect();
    files.sort();
    let mut known: Vec<_> = names().map(|name| format!("{name}.toml")).collect();
    known.sort();
    assert_eq!(files, known);
    for name in names() {
        assert_eq!(told(&load_style(name).unwrap()), Vec::<String>::new(), "{name}");
    }
    assert!(load_style("none").is_none());
}

#[test]
fn ctrl_b_is_left_to_tmux() {
    let ctrl_b = Key::new(Code::Char('b'), Mods::CTRL);
    assert!(load(None).table.bindings().iter().all(|binding| binding.keys.first() != Some(&ctrl_b)));
}

/// Places whose keys hold in another one too, as [`Context`] says.
fn below(context: Context) -> &'static [Context] {
    match context {
        Context::Insert | Context::Normal | Context::Slash => &[Context::Composer],
        Context::Visual | Context::Operator => &[Context::Normal, Context::Composer],
        Context::Find => &[Context::Picker],
        Context::Health | Context::Changes => &[Context::Help],
        Context::Undo | Context::Rules | Context::Jobs | Context::Queue => &[Context::Inbox],
        _ => &[],
    }
}

#[test]
fn in_each_place_every_verb_has_a_key_without_alt_f_and_shift() {
    for name in names() {
        let table = load_style(name).unwrap().table;
        let reached = |context: Context, action| {
            let places = [&[context, Context::Global][..], below(context)].concat();
            table.keys_of(action).any(|b| places.contains(&b.context) && check::plain(&b.keys))
        };
        let lost: Vec<String> = table
            .bindings()
            .iter()
            // Modal editing is for keymaps that have it; a capital letter is a verb of its own there.
            .filter(|b| !matches!(b.action, super::action::Action::Vim(_)))
            // Everywhere there are the slash commands too; a test of theirs looks at those.
            .filter(|b| b.context != Context::Global)
            .filter(|b| !reached(b.context, b.action))
            .map(|b| format!("{} in {}", b.action.name(), b.context.word()))
            .collect();
        assert_eq!(lost, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_focused_pane_comes_before_global() {
    let table = load(None).table;
    let page = |context| feed(&table, &[context, Context::Global], "pagedown");
    assert_eq!(page(Context::List), Fed::Action(ListAction::PageDown.into()));
    assert_eq!(page(Context::Composer), Fed::Action(super::action::ChatAction::PageDown.into()));
    assert_eq!(feed(&table, &[Context::Composer, Context::Global], "ctrl+x"), Fed::Pending);
    assert_eq!(feed(&table, &[Context::Composer, Context::Global], "ctrl+x m"), Fed::Action(ModeAction::Next.into()));
    assert_eq!(feed(&table, &[Context::Composer, Context::Global], "ctrl+x %"), Fed::None);
    assert_eq!(feed(&table, &[Context::Composer, Context::Global], "x"), Fed::None);
}

#[test]
fn the_strip_shows_what_can_follow() {
    let table = load(None).table;
    let follow = table.following(&[Context::Composer, Context::Global], &[Key::parse("ctrl+x").unwrap()]);
    let of = |key: &str| follow.iter().find(|(k, _)| *k == Key::parse(key).unwrap()).map(|(_, b)| b.action.name());
    assert_eq!(of("m"), Some("mode.next"));
    assert_eq!(of("enter"), Some("composer.steer"));
    assert_eq!(of("%"), None);
}

#[test]
fn a_users_file_is_laid_over_the_defaults() {
    let loaded = user(concat!(
        "[[global]]\non = \"ctrl+n\"\nrun = \"mode.next\"\ndesc = \"other mode\"\n",
        "[[global]]\non = []\nrun = \"app.palette\"\n",
        "[[list]]\non = [\"ctrl+w x\", \"delete\"]\nrun = \"list.rename\"\n",
    ));
    assert_eq!(told(&loaded), Vec::<String>::new());
    let table = loaded.table;
    assert_eq!(feed(&table, &[Context::Global], "ctrl+n"), Fed::Action(ModeAction::Next.into()));
    assert_eq!(feed(&table, &[Context::Global], "ctrl+p"), Fed::None);
    assert_eq!(table.key_for(AppAction::Palette), "");
    assert_eq!(table.key_for(SessionAction::New), "ctrl+x n");
    assert_eq!(feed(&table, &[Context::List], "ctrl+w"), Fed::Pending);
    assert_eq!(feed(&table, &[Context::List], "ctrl+w x"), Fed::Action(ListAction::Rename.into()));
    let other = table.of(Context::Global).find(|b| b.keys == [Key::parse("ctrl+n").unwrap()]).unwrap();
    assert_eq!((other.desc.as_str(), &other.at), ("other mode", &("keymap.toml".to_owned(), 1)));
}

#[test]
fn a_chord_is_taken_away_and_the_place_behind_has_it() {
    let loaded =
        user("[[composer]]\non = [\"ctrl+r\", \"ctrl+x r\"]\nrun = \"none\"\n[[list]]\non = \"g\"\nrun = \"none\"\n");
    assert_eq!(told(&loaded), Vec::<String>::new());
    let here = [Context::Composer, Context::Global];
    assert_eq!(feed(&loaded.table, &here, "ctrl+r"), Fed::None);
    assert_eq!(feed(&loaded.table, &here, "ctrl+x r"), Fed::None);
    assert_eq!(feed(&loaded.table, &[Context::List], "g"), Fed::None);
    assert_eq!(feed(&loaded.table, &[Context::List], "home"), Fed::Action(ListAction::First.into()));
}

#[test]
fn files_are_laid_over_each_other() {
    let over = "inherits = \"vim\"\n[[normal]]\non = \"x\"\nrun = \"vim.delete\"\n";
    assert_eq!(inherits(over), Some(("vim".to_owned(), 1)));
    assert_eq!(inherits("clear = true"), None);
    let vim = STYLES.iter().find(|style| style.0 == "vim").unwrap();
    let loaded = load_files(&[(DEFAULT_NAME, DEFAULT), (vim.1, vim.2), ("mine.toml", over)]);
    assert_eq!(told(&loaded), Vec::<String>::new());
    assert!(loaded.table.modal() && !load(None).table.modal());
    let x = feed(&loaded.table, &[Context::Normal], "x");
    assert_eq!(x, Fed::Action(super::action::VimAction::Delete.into()));
}

#[test]
fn clear_starts_from_nothing() {
    let loaded = user("clear = true\n[[global]]\non = \"esc\"\nrun = \"app.back\"\n");
    assert_eq!(told(&loaded), Vec::<String>::new());
    assert_eq!(loaded.table.bindings().len(), 1);
}

#[test]
fn what_is_odd_is_told_with_file_and_line() {
    for (text, line, word) in [
        ("on = 1 =", 1, "not valid TOML"),
        ("[[global]]\non = \"ctrl+n\"\nrun = \"session.nwe\"", 3, "did you mean session.new?"),
        ("[[globall]]\non = \"ctrl+n\"\nrun = \"session.new\"", 1, "did you mean global?"),
        ("\n[[list]]\non = \"hyper+n\"\nrun = \"list.new\"", 3, "modifier"),
        ("[[list]]\nrun = \"list.new\"", 1, "has no keys"),
        ("[[list]]\non = \"x\"", 1, "has no action"),
        ("[[chat]]\non = \"x\"\nrun = \"list.new\"", 3, "move the row to list"),
        (
            "[[list]]\non = \"x\"\nrun = \"list.new\"\n[[list]]\non = \"x\"\nrun = \"list.open\"",
            4,
            "line 1 says list.new",
        ),
        ("[[list]]\non = \"x\"\nrun = \"list.new\"\n[[list]]\non = \"x y\"\nrun = \"list.open\"", 4, "x comes first"),
        ("[[composer]]\non = \"x\"\nrun = \"composer.undo\"", 1, "types text in composer"),
        ("[[global]]\non = []\nrun = \"app.back\"", 0, "app.back"),
        ("clear = 1", 1, "true"),
        ("[[list]]\non = []\nrun = \"none\"", 1, "neither keys nor an action"),
        ("[[insert]]\non = \"j j\"\nrun = \"vim.normal\"", 1, "types text in insert"),
        ("[[composer]]\non = \"ctrl+x\"\nrun = \"vim.delete\"", 3, "move the row to normal"),
        ("[list]\non = \"x\"", 1, "[[list]]"),
    ] {
        let loaded = user(text);
        let found = loaded
            .problems
            .iter()
            .any(|p| p.line == Some(line).filter(|line| *line > 0) && p.to_string().contains(word));
        assert!(found, "{text}: {:?}", told(&loaded));
        assert!(!loaded.table.bindings().is_empty(), "the rest holds: {text}");
    }
}

proptest! {
    /// Whatever a chord is, feeding it key by key ends in the action of the first context that binds it, and never hangs.
    #[test]
    fn chords_end(place in 0usize..1_000, context in 0usize..Context::ALL.len()) {
        let table = &*TABLE;
        let binding = &table.bindings()[place % table.bindings().len()];
        let contexts = [binding.context, Context::ALL[context]];
        let mut pending: Vec<Key> = Vec::new();
        for (at, key) in binding.keys.iter().enumerate() {
            let fed = table.feed(&contexts, &pending, *key);
            if at + 1 == binding.keys.len() {
                prop_assert_eq!(fed, Fed::Action(binding.action));
            } else {
                prop_assert_eq!(fed, Fed::Pending);
            }
            pending.push(*key);
        }
    }

    /// No text makes the reader fail; what it cannot use it tells.
    #[test]
    fn any_text_is_read(text in "(\\[\\[(global|list|x)\\]\\]\n)?(on|run|clear) ?= ?(\"[a-z+. ]{0,9}\"|\\[\\]|true|1)\n.{0,20}") {
        let loaded = user(&text);
        for problem in &loaded.problems {
            prop_assert!(!problem.text.is_empty() && !problem.fix.is_empty());
        }
    }
}
