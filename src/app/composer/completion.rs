//! Completions above the composer, rebuilt after each change of the draft, and the effect of choosing one.

use crate::app::composer::{enter, send, user_commands};
use crate::app::effect::Effect;
use crate::app::msg::Found;
use crate::app::shell::command_table::{self, Command, CommandRow};
use crate::app::shell::{connections, draft, labels, models, text};
use crate::app::slash::{self, Slash};
use crate::app::state::chat::Density;
use crate::app::state::offer::{Menu, OfferKind, OfferRow, Value};
use crate::app::state::picker::{Item, Value as Picked};
use crate::app::state::{Focus, State, fuzzy};
use crate::domain::manual::TOPICS;
use crate::domain::property::{Label, split_label};
use crate::domain::{Level, Notice};
use crate::keymap::action::SlashAction;

/// Rows at the most: more are found by typing.
const ROWS: usize = 50;

/// Sessions among the files.
const SESSIONS: usize = 8;

/// Makes the offer anew where the draft changed.
pub(crate) fn settle(state: &mut State, fx: &mut Vec<Effect>) {
    if state.composer().offered == state.composer().revision() {
        return;
    }
    let mut menu = state.composer_takes_text().then(|| offer(state)).flatten();
    if let Some(menu) = &mut menu
        && let Some(ask) = search(state, menu)
    {
        state.drafts.ticket += 1;
        menu.ticket = state.drafts.ticket;
        fx.push(Effect::Find { ticket: state.drafts.ticket, root: ask.0, query: ask.1, folders: ask.2 });
        // What was found for a letter less stays until the answer comes.
        if let Some(before) = state.composer_mut().menu.take().filter(|before| before.kind == menu.kind) {
            let files = before.rows.into_iter().filter(|row| matches!(row.value, Value::File(_) | Value::Folder(_)));
            put_files(menu, files);
        }
    }
    let composer = state.composer_mut();
    composer.offered = composer.revision();
    composer.menu = menu;
}

/// File search for a completion: the directory, the query, and whether only folders count.
fn search(state: &State, menu: &Menu) -> Option<(std::path::PathBuf, String, bool)> {
    let root = state.current_meta()?.cwd.clone();
    match menu.kind {
        OfferKind::Things => Some((root, menu.typed.clone(), false)),
        // Many files are attached at once by a pattern: that is written out.
        OfferKind::Words(Slash::Attach | Slash::Import) if !menu.typed.is_empty() => {
            Some((root, menu.typed.clone(), false))
        }
        OfferKind::Words(Slash::Cwd) => Some((root, menu.typed.clone(), true)),
        _ => None,
    }
}

fn offer(state: &State) -> Option<Menu> {
    let editor = state.composer().editor();
    let (before, _) = editor.around();
    if let [line] = editor.lines()
        && let Some(rest) = line.strip_prefix('/')
    {
        let name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if rest.chars().all(name) {
            return full(OfferKind::Commands, rest, 0, command_rows(state, rest));
        }
        let (word, args) = rest.split_once(char::is_whitespace)?;
        let slash = slash::named(word)?;
        let args = args.trim_start();
        let (typed, rows) = deeper_rows(state, slash, args).unwrap_or_else(|| (args, word_rows(state, slash, args)));
        let from = line.chars().count() - typed.chars().count();
        if matches!(slash, Slash::Cwd | Slash::Attach | Slash::Import) {
            return Some(Menu { rows, ..empty(OfferKind::Words(slash), typed, from) });
        }
        if slash == Slash::Session && typed.len() < args.len() {
            // Enter sends what was typed, which may mean several: the rows are for Tab and for the arrows.
            return Some(Menu { rows, ..empty(OfferKind::Words(slash), "", from) })
                .filter(|menu| !menu.rows.is_empty());
        }
        return full(OfferKind::Words(slash), typed, from, rows);
    }
    let token = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let from = before.chars().count() - token.chars().count();
    if let Some(typed) = token.strip_prefix('@') {
        // Nothing is typed and nothing found yet: it is there all the same, for what the disk answers.
        let mut rows = mention_rows(state, typed);
        rows.extend(session_rows(state, typed));
        return Some(Menu { rows, ..empty(OfferKind::Things, typed, from) });
    }
    let typed = token.strip_prefix('#')?;
    full(OfferKind::Labels, typed, from, label_rows(state, typed))
}

fn empty(kind: OfferKind, typed: &str, from: usize) -> Menu {
    Menu { kind, rows: Vec::new(), selected: 0, touched: false, typed: typed.to_owned(), from, ticket: 0 }
}

fn full(kind: OfferKind, typed: &str, from: usize, rows: Vec<OfferRow>) -> Option<Menu> {
    // What is written out already needs no offer.
    let done = kind != OfferKind::Commands && matches!(rows.as_slice(), [one] if one.label == typed);
    (!rows.is_empty() && !done).then(|| Menu { rows, ..empty(kind, typed, from) })
}

fn row(value: Value, label: impl Into<String>, detail: impl Into<String>) -> OfferRow {
    OfferRow {
        value,
        label: label.into(),
        usage: String::new(),
        detail: detail.into(),
        current: false,
        marks: Vec::new(),
    }
}

/// Rows that match, best first; all in their order if nothing is typed.
fn matching(typed: &str, rows: Vec<OfferRow>) -> Vec<OfferRow> {
    let hits = fuzzy::rank(typed, rows.iter().map(|row| row.label.as_str()));
    let pick = |(place, marks): (usize, Vec<usize>)| rows.get(place).map(|row| OfferRow { marks, ..row.clone() });
    hits.into_iter().filter_map(pick).take(ROWS).collect()
}

/// The commands that fit, in the order of [`command_table::rank`].
fn command_rows(state: &State, typed: &str) -> Vec<OfferRow> {
    let rows = command_table::typed(state);
    let hits = command_table::rank(state, typed, &rows);
    let offered = |(place, marks): (usize, Vec<usize>)| {
        let CommandRow { name, usage, about, command, .. } = rows.get(place)?.clone();
        let value = match command {
            Command::Slash(slash) => Value::Command(slash),
            Command::Own(place) => Value::Own(place),
            Command::Verb(_) | Command::Topic(_) => return None,
        };
        Some(OfferRow { usage, marks, ..row(value, name, about) })
    };
    hits.into_iter().filter_map(offered).collect()
}

/// Arguments of a command, as far as they are known here.
fn word_rows(state: &State, slash: Slash, typed: &str) -> Vec<OfferRow> {
    let word = |label: &str, detail: &str| row(Value::Word(label.to_owned()), label, detail);
    let mut rows: Vec<OfferRow> = match slash {
        Slash::Model => {
            let items = models::list(state).items;
            let models = items.into_iter().filter(|item| matches!(item.value, Picked::Model { .. }));
            models.map(|item| word(&item.label, &model_detail(&item))).collect()
        }
        Slash::Connection => {
            connections::items(state).iter().map(|item| word(&item.label, &model_detail(item))).collect()
        }
        Slash::Thinking => models::levels(state).iter().map(|item| word(&item.label, &item.detail)).collect(),
        Slash::Status => state.engine.properties.statuses.iter().map(|one| word(&one.id, &one.label)).collect(),
        Slash::Label => labels(&state.engine.properties.labels).iter().map(|one| word(&one.id, &one.name)).collect(),
        Slash::Help => TOPICS.iter().map(|topic| word(topic.name, topic.title())).collect(),
        Slash::Theme => state.theme.names.iter().map(|name| word(name, "")).collect(),
        Slash::Mode => choices(slash.usage()).map(|choice| word(choice, mode_detail(choice))).collect(),
        Slash::Density => choices(slash.usage()).map(|choice| word(choice, density_detail(choice))).collect(),
        _ => choices(slash.usage()).map(|choice| word(choice, "")).collect(),
    };
    let now = in_force(state, slash);
    for row in &mut rows {
        row.current = now.contains(&row.label);
    }
    matching(typed, rows)
}

/// Arguments after the first word of some commands: a session after `/session switch`, a format
/// after `/export --format`.
fn deeper_rows<'t>(state: &State, slash: Slash, args: &'t str) -> Option<(&'t str, Vec<OfferRow>)> {
    match slash {
        Slash::Session => {
            let typed = args.strip_prefix("switch ")?.trim_start();
            let rows = session_rows(state, typed).into_iter().map(|row| match &row.value {
                Value::Session(id) => OfferRow { value: Value::Word(id.as_str().to_owned()), ..row },
                _ => row,
            });
            Some((typed, rows.collect()))
        }
        Slash::Export => {
            let (_, typed) = args.rsplit_once("--format ")?;
            let formats = slash.usage().split_once("--format ").map_or("", |(_, formats)| formats);
            let words = formats.trim_end_matches(']').split('|');
            let rows = words.map(|word| row(Value::Word(word.to_owned()), word, "")).collect();
            Some((typed, matching(typed, rows)))
        }
        _ => None,
    }
}

/// The words behind a command that are in force.
fn in_force(state: &State, slash: Slash) -> Vec<String> {
    let meta = state.current_meta();
    let of_list =
        |items: Vec<Item>| items.into_iter().filter(|item| item.facts.current).map(|item| item.label).collect();
    match slash {
        Slash::Model => of_list(models::list(state).items),
        Slash::Connection => of_list(connections::items(state)),
        Slash::Thinking => meta.map(|meta| meta.thinking.word().to_owned()).into_iter().collect(),
        Slash::Status => meta.map(|meta| meta.status.clone()).into_iter().collect(),
        Slash::Label => {
            let set = meta.map(|meta| meta.labels.as_slice()).unwrap_or_default();
            set.iter().map(|entry| split_label(entry).0.to_owned()).collect()
        }
        Slash::Theme => vec![state.theme.current.clone()],
        Slash::Mode => meta.map(|meta| meta.mode.word().to_owned()).into_iter().collect(),
        Slash::Density => vec![
            match state.conversations.density {
                Density::Lines => "lines",
                Density::Tails => "tails",
                Density::Full => "full",
            }
            .to_owned(),
        ],
        _ => Vec::new(),
    }
}

/// A model or a connection beside its name: where it is, and the first two columns.
fn model_detail(item: &Item) -> String {
    let columns = item.facts.columns.iter().take(2);
    let parts = std::iter::once(&item.detail).chain(columns).filter(|part| !part.is_empty());
    parts.cloned().collect::<Vec<_>>().join("  ")
}

fn mode_detail(word: &str) -> &'static str {
    match word {
        "explore" => "read-only, never asks",
        "ask" => "reads freely, asks before changes",
        "execute" => "runs without asking",
        _ => "",
    }
}

fn density_detail(word: &str) -> &'static str {
    match word {
        "lines" => "one line per call",
        "tails" => "plus the last lines of output",
        "full" => "everything",
        _ => "",
    }
}

/// The words that a usage names: `[lines|tails|full]`, `[--now]`. What is written in capitals is no word.
fn choices(usage: &str) -> impl Iterator<Item = &str> {
    let group = usage.split(['[', ']']).nth(1).unwrap_or_default();
    let words = group.split('|').filter_map(|choice| choice.split_whitespace().next());
    words.filter(|word| word.starts_with(|c: char| c.is_lowercase() || c == '-'))
}

fn labels(all: &[Label]) -> Vec<&Label> {
    all.iter().flat_map(|label| std::iter::once(label).chain(labels(&label.children))).collect()
}

fn label_rows(state: &State, typed: &str) -> Vec<OfferRow> {
    let set = state.current_meta().map(|meta| meta.labels.as_slice()).unwrap_or_default();
    let has = |id: &str| set.iter().any(|entry| split_label(entry).0 == id);
    let rows = labels(&state.engine.properties.labels).into_iter().map(|label| {
        let detail = if has(&label.id) { "set: removes it" } else { "adds the label" };
        row(Value::Label(label.id.clone()), label.name.clone(), detail)
    });
    matching(typed, rows.collect())
}

/// Agents and skills.
fn mention_rows(state: &State, typed: &str) -> Vec<OfferRow> {
    let rows = state.drafts.mentioned().map(|own| {
        let detail = format!("{}: {}", own.kind.word(), text::one_line(&own.description));
        row(Value::Word(format!("@{} ", own.name)), own.name.clone(), detail)
    });
    let mut rows = matching(typed, rows.collect());
    rows.sort_by_key(|row| !begins(row, typed));
    rows.truncate(SESSIONS);
    rows
}

/// An agent or a skill whose name begins with what was typed: it stands before the files that are found.
fn begins(row: &OfferRow, typed: &str) -> bool {
    matches!(row.value, Value::Word(_)) && !typed.is_empty() && row.label.starts_with(typed)
}

fn put_files(menu: &mut Menu, files: impl Iterator<Item = OfferRow>) {
    let behind = menu.rows.iter().take_while(|row| begins(row, &menu.typed)).count();
    menu.rows.splice(behind..behind, files);
}

fn session_rows(state: &State, typed: &str) -> Vec<OfferRow> {
    if typed.contains('/') {
        return Vec::new();
    }
    let here = state.current_id();
    let mut metas: Vec<_> = state.sessions.metas().filter(|meta| !meta.hidden && Some(&meta.id) != here).collect();
    metas.sort_by(|a, b| b.last_message.cmp(&a.last_message).then_with(|| b.id.cmp(&a.id)));
    let rows = metas.into_iter().map(|meta| {
        let detail = format!("session {}", meta.id.as_str());
        row(Value::Session(meta.id.clone()), text::one_line(meta.shown_title()), detail)
    });
    let mut rows = matching(typed, rows.collect());
    rows.truncate(SESSIONS);
    rows
}

/// Files were found.
pub(crate) fn found(state: &mut State, found: Found) {
    let Some(menu) = state.composer_mut().menu.as_mut().filter(|menu| menu.ticket == found.ticket) else { return };
    let chosen = menu.chosen().filter(|_| menu.touched).map(|row| row.value.clone());
    menu.rows.retain(|row| !matches!(row.value, Value::File(_) | Value::Folder(_)));
    let files = found.hits.into_iter().map(|hit| OfferRow {
        marks: hit.marks,
        ..match hit.folder {
            true => row(Value::Folder(hit.path.clone()), hit.path, ""),
            false => row(Value::File(hit.path.clone()), hit.path, ""),
        }
    });
    put_files(menu, files);
    let place = chosen.and_then(|value| menu.rows.iter().position(|row| row.value == value));
    menu.selected = place.unwrap_or_else(|| menu.selected.min(menu.rows.len().saturating_sub(1)));
    if !menu.touched {
        menu.selected = 0;
    }
}

/// The verbs of what is offered.
pub(crate) fn act(state: &mut State, verb: SlashAction, fx: &mut Vec<Effect>) {
    let Some(menu) = &mut state.composer_mut().menu else { return };
    match verb {
        SlashAction::Up => menu.step(-1),
        SlashAction::Down => menu.step(1),
        SlashAction::Complete => complete(state, fx),
        SlashAction::Accept if menu.takes_enter() => accept(state, fx),
        SlashAction::Accept => {
            draft::close_menu(state);
            enter::enter(state, send::How::Queue, fx);
        }
    }
}

/// A click on a row.
pub(crate) fn press(state: &mut State, at: usize, fx: &mut Vec<Effect>) {
    let Some(menu) = state.composer_mut().menu.as_mut().filter(|menu| at < menu.rows.len()) else { return };
    (menu.selected, menu.touched) = (at, true);
    state.focus = Focus::Composer;
    accept(state, fx);
}

/// Writes the selected row out, and does nothing else.
fn complete(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((menu, row)) = chosen(state) else { return };
    match row.value {
        Value::Command(_) | Value::Own(_) => state.composer_mut().set(&format!("/{} ", row.label)),
        _ => accept_row(state, &menu, row, fx),
    }
}

/// Enter on the selected row: a command runs, a word behind one completes it and runs it, anything else is written out.
fn accept(state: &mut State, fx: &mut Vec<Effect>) {
    let Some((menu, row)) = chosen(state) else { return };
    let runs = matches!(menu.kind, OfferKind::Words(_)) && !matches!(row.value, Value::Folder(_));
    match row.value {
        Value::Command(slash) => user_commands::accept(state, slash),
        // What follows may be wanted; one that says that nothing does runs at once.
        Value::Own(at) => match state.drafts.commands.get(at) {
            Some(own) if own.hint.is_empty() => user_commands::run_own(state, at, "", fx),
            Some(own) => {
                let text = format!("/{} ", own.name);
                state.composer_mut().set(&text);
            }
            None => {}
        },
        _ => {
            accept_row(state, &menu, row, fx);
            if runs {
                draft::close_menu(state);
                enter::enter(state, send::How::Queue, fx);
            }
        }
    }
}

fn chosen(state: &State) -> Option<(Menu, OfferRow)> {
    let menu = state.composer().menu.as_ref()?;
    Some((menu.clone(), menu.chosen()?.clone()))
}

fn accept_row(state: &mut State, menu: &Menu, row: OfferRow, fx: &mut Vec<Effect>) {
    let text = match &row.value {
        Value::Word(word) => word.clone(),
        Value::File(path) => mention(path, menu.kind, " "),
        // Its own files are offered next.
        Value::Folder(path) => mention(path, menu.kind, ""),
        Value::Session(id) => format!("@{} ", id.as_str()),
        Value::Label(id) => {
            state.composer_mut().replace(menu.from, "");
            return label(state, id, fx);
        }
        Value::Command(_) | Value::Own(_) => return,
    };
    state.composer_mut().replace(menu.from, &text);
}

fn mention(path: &str, kind: OfferKind, end: &str) -> String {
    match kind {
        OfferKind::Things if path.contains(char::is_whitespace) => format!("@\"{path}\"{end}"),
        OfferKind::Things => format!("@{path}{end}"),
        _ => path.to_owned(),
    }
}

/// The session gets the label, or loses it.
fn label(state: &mut State, id: &str, fx: &mut Vec<Effect>) {
    let Some(session) = state.current_id().cloned() else {
        return state.notify(Notice::new(Level::Info, "Session not saved yet, try again in a second"));
    };
    labels::toggle(state, id, vec![session], fx);
}
