//! README.md, CONTRIBUTING.md and docs/: the tables of keys and commands come from the tables in force (`LISLE_DOCS=write`
//! writes them), every example is read without a problem, every link leads somewhere, every setting, rule key and role is
//! named, every page for users is a help topic, and every file and module that the pages for developers name exists.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop where it fails")]

use lisle::app::slash::Slash;
use lisle::cli::reference;
use lisle::config::{rules, settings::Settings};
use lisle::domain::manual::TOPICS;
use lisle::domain::problem::Problem;
use lisle::domain::rule::Rule;
use lisle::keymap::action::{
    Action, AnswerAction, AppAction, ComposerAction, Context, ModeAction, PaneAction, SessionAction,
};
use lisle::keymap::key::chord_name;
use lisle::keymap::{self, Table};
use lisle::theme::{self, Role, ThemeText};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The ten keys of the README.
const FIRST: &[(Context, &[Action])] = &[
    (Context::Composer, &[Action::Composer(ComposerAction::Send), Action::Composer(ComposerAction::Newline)]),
    (
        Context::Global,
        &[
            Action::Mode(ModeAction::Next),
            Action::App(AppAction::Back),
            Action::Answer(AnswerAction::Focus),
            Action::Pane(PaneAction::Next),
            Action::Session(SessionAction::New),
            Action::Session(SessionAction::Search),
            Action::App(AppAction::Palette),
            Action::App(AppAction::Interrupt),
        ],
    ),
];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The table of that keymap, which must be free of problems.
fn table(name: &str) -> Table {
    let loaded = keymap::load_style(name).unwrap();
    assert_eq!(loaded.problems, vec![], "{name}");
    loaded.table
}

/// A chord as a cell of a table: `|` would end it.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
}

/// Chords with the digits 1 to 9 as their ends.
fn in_short(mut keys: Vec<String>) -> Vec<String> {
    let ends = |keys: &[String]| {
        let prefix = keys.first()?.strip_suffix('1')?.to_owned();
        let digits = (1..=9).map(|digit| format!("{prefix}{digit}"));
        digits.eq(keys.iter().take(9).cloned()).then(|| format!("{prefix}1 … {prefix}9"))
    };
    let mut at = 0;
    while at < keys.len() {
        if let Some(short) = ends(&keys[at..]) {
            keys.splice(at..at + 9, [short]);
        }
        at += 1;
    }
    keys
}

fn row(out: &mut String, table: &Table, context: Context, action: Action) {
    let found: Vec<_> = table.of(context).filter(|binding| binding.action == action).collect();
    let Some(first) = found.first() else { panic!("{} has no key in {}", action.name(), context.word()) };
    let keys = found.iter().map(|binding| cell(&chord_name(&binding.keys))).collect();
    writeln!(out, "| {} | {} |", in_short(keys).join(", "), cell(&first.desc)).unwrap();
}

/// Each verb of a place with all its keys, in the order of the file.
fn place(out: &mut String, table: &Table, context: Context) {
    let mut actions: Vec<Action> = Vec::new();
    for binding in table.of(context) {
        if !actions.contains(&binding.action) {
            actions.push(binding.action);
        }
    }
    if actions.is_empty() {
        return;
    }
    write!(out, "\n### {}\n\n| Key | What it does |\n|---|---|\n", context.heading()).unwrap();
    for action in actions {
        row(out, table, context, action);
    }
}

fn manual() -> String {
    let mut out =
        "# Keys and commands\n\n`?` with an empty draft shows the keys for this pane, `/` the commands.\n\n## Keys\n"
            .to_owned();
    let plain = table("default");
    for &context in Context::ALL {
        place(&mut out, &plain, context);
    }
    for name in keymap::names().filter(|name| *name != "default") {
        let other = table(name);
        write!(out, "\n## Keymap {name}\n\nWhat is different from the keys above.\n").unwrap();
        for &context in Context::ALL {
            let of = |table: &Table| -> Vec<_> { table.of(context).map(|b| (b.keys.clone(), b.action)).collect() };
            if of(&other) != of(&plain) {
                place(&mut out, &other, context);
            }
        }
    }
    out.push_str("\n## Commands\n\n| Command | What it does |\n|---|---|\n");
    for &slash in Slash::ALL {
        let usage = if slash.usage().is_empty() { String::new() } else { format!(" {}", slash.usage()) };
        writeln!(out, "| `/{}{}` | {} |", slash.word(), cell(&usage), cell(slash.description())).unwrap();
    }
    out
}

fn first_keys() -> String {
    let plain = table("default");
    let mut out = "| Key | What it does |\n|---|---|\n".to_owned();
    for (context, actions) in FIRST {
        for &action in *actions {
            row(&mut out, &plain, *context, action);
        }
    }
    out
}

/// The file says `wanted`, or is made to.
#[track_caller]
fn holds(path: &str, wanted: &str) {
    if std::env::var("LISLE_DOCS").is_ok_and(|word| word == "write") {
        std::fs::write(here(path), wanted).unwrap();
    }
    let found = std::fs::read_to_string(here(path)).unwrap_or_default();
    assert!(found == wanted, "{path} is not what the tables say: run LISLE_DOCS=write cargo test --test manual");
}

#[test]
fn the_manual_says_what_the_tables_say() {
    holds("docs/keys.md", &manual());
}

#[test]
fn the_first_keys_in_the_readme_are_those_of_the_table() {
    let readme = std::fs::read_to_string(here("README.md")).unwrap();
    let (begin, end) = ("<!-- keys -->\n", "<!-- /keys -->\n");
    let (before, rest) = readme.split_once(begin).expect("README.md marks where its keys begin");
    let (_, after) = rest.split_once(end).expect("README.md marks where its keys end");
    holds("README.md", &format!("{before}{begin}{}{end}{after}", first_keys()));
}

/// A page with the table below `head` made of these rows.
fn with_table(path: &str, head: &str, code: bool, rows: &[(&str, &str)]) -> String {
    let text = page(path);
    let lead = format!("| {head} |\n|---|---|\n");
    let (before, rest) = text.split_once(&lead).unwrap_or_else(|| panic!("{path} has a table {head}"));
    let after = rest.find("\n\n").map_or("", |at| &rest[at + 1..]);
    let mut out = format!("{before}{lead}");
    for (word, meaning) in rows {
        let word = if code { format!("`{}`", word.replace(", ", "`, `")) } else { (*word).to_owned() };
        writeln!(out, "| {word} | {meaning} |").unwrap();
    }
    out + after
}

#[test]
fn exit_statuses_environment_and_files_are_those_of_man_pages() {
    let scripting = with_table("docs/scripting.md", "Exit status of `lisle run` | Meaning", false, reference::RUN);
    holds("docs/scripting.md", &scripting);
    holds("docs/settings.md", &with_table("docs/settings.md", "Variable | Effect", true, reference::ENVIRONMENT));
    holds("docs/settings.md", &with_table("docs/settings.md", "Path | Content", true, reference::FILES));
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined(&page("docs/settings.md")).contains(reference::FOLDERS));
}

/// README.md, CONTRIBUTING.md and the pages of docs/, each with its path from the root of the repository.
fn pages() -> Vec<(String, String)> {
    let mut paths = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in std::fs::read_dir(here("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            paths.push(format!("docs/{name}"));
        }
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(here(&path)).unwrap())).collect()
}

fn page(path: &str) -> String {
    std::fs::read_to_string(here(path)).unwrap()
}

/// Fenced blocks of a page that name this language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = None;
    for line in text.lines() {
        match (open, line.trim_start().strip_prefix("```")) {
            (None, Some(tag)) => {
                open = Some(tag == language);
                out.extend((tag == language).then(String::new));
            }
            (Some(_), Some(_)) => open = None,
            (Some(true), None) => out.last_mut().unwrap().extend([line, "\n"]),
            _ => {}
        }
    }
    out
}

/// Problem of an example in TOML: it is a theme, a keymap, or part of config.toml.
fn problems_of_toml(text: &str) -> Vec<Problem> {
    if text.contains("[roles]") {
        let own = ThemeText { name: "own".to_owned(), file: "own.toml".to_owned(), text: text.to_owned() };
        theme::load("own", &[own]).problems
    } else if text.contains("\n[[") && !text.contains("[channels.") {
        let parent = keymap::inherits(text).and_then(|(name, _)| keymap::STYLES.iter().find(|style| style.0 == name));
        let ground = std::iter::once((keymap::DEFAULT_NAME, keymap::DEFAULT));
        let files: Vec<_> = ground.chain(parent.map(|style| (style.1, style.2))).chain([("own.toml", text)]).collect();
        keymap::load_files(&files).problems
    } else {
        Settings::parse(Path::new("config.toml"), text).1
    }
}

#[test]
fn examples_are_read_without_a_problem() {
    let mut seen = 0;
    for (path, text) in pages() {
        for example in blocks(&text, "toml") {
            assert_eq!(problems_of_toml(&example), vec![], "{path}\n{example}");
            seen += 1;
        }
        for example in blocks(&text, "json") {
            assert_eq!(rules::parse(Path::new("permissions.json"), &example).1, vec![], "{path}\n{example}");
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} examples were found");
    assert!(!problems_of_toml("[ui]\nthem = \"x\"\n").is_empty());
}

#[test]
fn examples_of_sources_are_read_as_what_they_show() {
    use lisle::sources::config::{craft_source, project_servers};
    use lisle::sources::permissions::SourcePermissions;
    let examples = blocks(&page("docs/sources.md"), "json");
    let about = |word: &str| examples.iter().find(|text| text.contains(word)).unwrap();
    let source = craft_source(Path::new("sources/files/config.json"), about("\"slug\"")).unwrap();
    assert_eq!((source.slug.as_str(), source.writable.len(), source.readable.len()), ("files", 1, 1));
    let (servers, problems) = project_servers(Path::new(".mcp.json"), about("mcpServers"));
    assert_eq!((servers.len(), problems), (2, Vec::new()));
    let (permissions, problems) = SourcePermissions::parse(Path::new("permissions.json"), about("allowedMcpPatterns"));
    assert!(permissions.is_read_only("list_directory", false) && problems.is_empty());
    assert!(!permissions.is_read_only("write_file", true));
}

/// The targets of links and pictures.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_lead_somewhere_and_the_readme_leads_to_every_page() {
    let mut reached = BTreeSet::from(["README.md".to_owned()]);
    for (path, text) in pages() {
        let folder = Path::new(&path).parent().unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { here(&path) } else { here("").join(folder).join(file) };
            assert!(target.exists(), "{path}: {link} does not exist");
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#').trim()) == heading);
                assert!(found, "{path}: {link} names no heading");
            }
            if path == "README.md" {
                reached.insert(file.to_owned());
            }
        }
    }
    let missing: Vec<_> = pages().into_iter().map(|(path, _)| path).filter(|path| !reached.contains(path)).collect();
    assert_eq!(missing, Vec::<String>::new(), "README.md links to every page of docs/");
}

/// Pages of docs/ for developers: the program does not show them.
const FOR_DEVELOPERS: &[&str] = &["architecture"];

#[test]
fn every_page_for_users_is_a_help_topic() {
    let pages: Vec<String> = pages()
        .into_iter()
        .filter_map(|(path, _)| Some(path.strip_prefix("docs/")?.strip_suffix(".md")?.to_owned()))
        .filter(|name| !FOR_DEVELOPERS.contains(&name.as_str()))
        .collect();
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    assert_eq!(pages, topics);
}

/// Parts of a text that look like a file or a module: words of path characters.
fn words_of_paths(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    text.split(move |c| !part(c)).map(|word| word.trim_end_matches(['.', ':', '/'])).filter(|word| !word.is_empty())
}

/// Folders and files of the repository that a text can name.
fn names_a_file(word: &str) -> bool {
    let folder = word.split_once('/').map(|(folder, _)| folder);
    let roots = ["src", "tests", "docs", "benches", "themes", "keymaps", "hosts", ".ci"];
    folder.is_some_and(|folder| roots.contains(&folder))
}

/// True if the file is there. A part in capitals stands for a name: what is before it has to be there.
fn file_is_there(word: &str) -> bool {
    let in_capitals = |part: &&str| {
        let name = part.split('.').next().unwrap_or_default();
        name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    let known: PathBuf = word.split('/').take_while(|part| !in_capitals(part)).collect();
    here("").join(known).exists()
}

/// True if `a::b::C` is a module of ours, or named in the file of one.
fn module_is_there(word: &str) -> bool {
    let mut folder = here("src");
    let mut file = here("src/lib.rs");
    for part in word.split("::") {
        let inner = [folder.join(part).join("mod.rs"), folder.join(format!("{part}.rs"))];
        match inner.into_iter().find(|inner| inner.exists()) {
            Some(inner) => file = inner,
            None => {
                let text = std::fs::read_to_string(&file).unwrap();
                return text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|name| name == part);
            }
        }
        folder.push(part);
    }
    true
}

#[test]
fn files_and_modules_that_the_pages_for_developers_name_exist() {
    assert!(file_is_there("src/tools/NAME.rs") && !file_is_there("src/tool/NAME.rs") && !file_is_there("src/x.rs"));
    assert!(module_is_there("app::update::update") && !module_is_there("app::updates"));
    for path in ["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/security.md", "src/lib.rs"] {
        let text = page(path);
        let files: Vec<&str> = words_of_paths(&text).filter(|word| names_a_file(word)).collect();
        let missing: Vec<_> = files.iter().filter(|word| !file_is_there(word)).collect();
        assert_eq!(missing, Vec::<&&str>::new(), "files that {path} names");
        let rooms: Vec<String> = std::fs::read_dir(here("src"))
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let ours = |word: &&str| word.split_once("::").is_some_and(|(room, _)| rooms.iter().any(|name| name == room));
        let missing: Vec<&str> = words_of_paths(&text)
            .filter(|word| !word.contains('/'))
            .filter(ours)
            .filter(|word| !module_is_there(word))
            .collect();
        assert_eq!(missing, Vec::<&str>::new(), "modules that {path} names");
    }
}

/// Keys that `text`, source of the settings, reads from config.toml. Those it only refuses are asked for with `has`.
fn keys_asked_for(text: &str) -> BTreeSet<&str> {
    let after = |call| text.match_indices(call).map(|(at, _)| &text[at..]);
    let method = |rest: &&str| {
        rest.split_once("(\"").is_some_and(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)))
    };
    let calls =
        after("section.").chain(after("owned(")).filter(method).filter(|rest| !rest.starts_with("section.has("));
    calls.filter_map(|rest| rest.split('"').nth(1)).collect()
}

#[test]
fn every_setting_rule_key_and_role_is_described() {
    let named = |text: &str, word: &str| {
        text.split('`').skip(1).step_by(2).any(|code| code.split(['.', ' ', '[', ']', '=']).any(|part| part == word))
    };
    let settings = page("src/config/settings/sections.rs");
    let keys = keys_asked_for(&settings);
    assert!(keys.len() > 50, "{keys:?}");
    let pages: String = ["settings", "sandbox", "models"].map(|name| page(&format!("docs/{name}.md"))).concat();
    let missing: Vec<_> = keys.into_iter().filter(|key| !named(&pages, key)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "keys of config.toml");

    let rule = Rule {
        program: Some("p".to_owned()),
        args: Some(Vec::new()),
        path: Some("./".to_owned()),
        host: Some("h".to_owned()),
        reads: true,
        env: vec!["E".to_owned()],
        readable: vec!["/r".to_owned()],
        writable: vec!["/w".to_owned()],
        sockets: vec!["/s".to_owned()],
        note: Some("n".to_owned()),
        ..Rule::allow("bash")
    };
    let rule = serde_json::to_value(rule).unwrap();
    let approvals = page("docs/approvals.md");
    let missing: Vec<_> = rule.as_object().unwrap().keys().filter(|key| !named(&approvals, key)).collect();
    assert_eq!(missing, Vec::<&String>::new(), "keys of a rule");

    let themes = page("docs/themes.md");
    let words = Role::ALL.iter().map(|role| role.word()).chain(theme::builtin_names());
    let missing: Vec<_> = words.filter(|word| !named(&themes, word)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "roles and built-in themes");
}

/// Words of neither people nor programs: the field has its own for each (toggle, again, restore, redraw).
const REFUSED: [&str; 8] =
    ["anew", "no longer", "take it back", "take back", "take one back", "what there is", "what was said", "is to be"];

#[test]
fn descriptions_use_the_words_of_the_field() {
    let commands = Slash::ALL.iter().map(|slash| (slash.word(), slash.description()));
    let actions = Action::ALL.iter().map(|action| (action.name(), action.description()));
    for (name, text) in commands.chain(actions) {
        let refused: Vec<_> = REFUSED.iter().filter(|word| text.contains(**word)).collect();
        assert_eq!(refused, Vec::<&&str>::new(), "{name}: {text}");
        assert!(!text.ends_with('.') && !text.is_empty(), "{name}: {text}");
    }
}
