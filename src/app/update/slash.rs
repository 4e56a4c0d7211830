//! Slash commands.

use crate::app::composer::{attach, send};
use crate::app::conversation::{copy, reading};
use crate::app::effect::{Effect, Keep};
use crate::app::overlays::{
    connection_picker, context, find, help, model_picker, prompt, properties, rewind, session_picker, session_state,
    workspaces,
};
use crate::app::panels::plan;
use crate::app::sessions::{export, questions};
use crate::app::shell::{connections, session, session_changes, session_list};
use crate::app::slash::{Call, Slash};
use crate::app::state::State;
use crate::app::state::chat::Density;
use crate::app::state::overlay::Overlay;
use crate::app::update::actions;
use crate::domain::ids::ConnectionName;
use crate::domain::manual;
use crate::domain::nearest::nearest;
use crate::domain::session::ThinkingLevel;
use crate::domain::{Level, Mode, Notice, dropped};
use crate::keymap::action::Action;
use crate::protocol::SessionCommand;

/// Runs a command.
pub(super) fn run(state: &mut State, call: Call, fx: &mut Vec<Effect>) {
    let args = call.args.as_str();
    // Bare, it is the last answer, whatever is chosen in the conversation.
    let by_words = matches!(call.slash, Slash::Steer | Slash::Copy);
    if args.is_empty() && call.slash == Slash::Status {
        return session_state::open(state);
    }
    if args.is_empty() && !by_words {
        return actions::act(state, call.slash.action(), None, fx);
    }
    if call.slash == Slash::Connection && holds_a_secret(args) {
        // It may be a key: it stays nowhere.
        let text = "Usage: /connect [NAME [key|--all]]. Enter keys in the key field, not here";
        return state.notify(Notice::new(Level::Warning, text));
    }
    let done = if unchecked(state, &call, fx) { Ok(()) } else { checked(state, &call, fx) };
    if let Err(why) = done {
        // What was written stays, to be corrected.
        state.composer_mut().set(&format!("/{} {args}", call.slash.word()));
        let usage = format!("/{} {}", call.slash.word(), call.slash.usage());
        state.notify(Notice::new(Level::Warning, why).hint(usage.trim_end().to_owned()));
    }
    session_list::keep_in_sight(state);
}

/// Runs a command whose arguments can be anything. False: it is none of these.
fn unchecked(state: &mut State, call: &Call, fx: &mut Vec<Effect>) -> bool {
    let args = call.args.as_str();
    match call.slash {
        Slash::Title if args.eq_ignore_ascii_case("regenerate") => actions::act(state, call.slash.action(), None, fx),
        Slash::Rename | Slash::Title => {
            if let Some(id) = state.current_id() {
                fx.push(session::to(id, SessionCommand::Rename { title: args.to_owned() }));
            }
        }
        Slash::Workspace => workspaces::command(state, args, fx),
        Slash::Branch => rewind::branch_named(state, args, fx),
        Slash::Enhance => {
            state.composer_mut().set(args);
            actions::act(state, call.slash.action(), None, fx);
        }
        Slash::Search => find::open(state, Some(args), fx),
        Slash::Cwd => {
            if let Some(id) = state.current_id().cloned() {
                prompt::set_cwd(state, &id, args, fx);
            }
        }
        Slash::Delete if args == "--now" => questions::ask_delete(state, &session_changes::targets(state), true),
        Slash::Import => prompt::import(state, args, fx),
        Slash::Health if args == "repair" => {
            actions::act(state, call.slash.action(), None, fx);
            if let Some(Overlay::Health(card)) = state.overlays.last_mut() {
                card.then_repair = true;
            }
        }
        Slash::Compact => context::compact(state, args.to_owned(), fx),
        Slash::Plan if args == "drop" => plan::drop_plan(state, fx),
        Slash::Steer if !args.is_empty() => {
            if !send::send(state, args.to_owned(), send::How::Steer, fx) {
                state.composer_mut().set(&format!("/{} {args}", call.slash.word()));
            }
        }
        Slash::Attach => {
            let files = dropped::given(args).into_iter().map(|path| (path.into(), None)).collect();
            attach::ask(state, files, fx);
        }
        Slash::Keys => {
            actions::act(state, Action::from(crate::keymap::action::AppAction::Help), None, fx);
        }
        _ => return false,
    }
    true
}

/// Runs a command whose arguments can be wrong.
fn checked(state: &mut State, call: &Call, fx: &mut Vec<Effect>) -> Result<(), String> {
    let args = call.args.as_str();
    match call.slash {
        Slash::Session => session_picker::named(state, args, fx),
        Slash::Status => properties::status_named(state, args, fx),
        Slash::Label => properties::label_named(state, args, fx),
        Slash::Delete => Err("Usage: /delete [--now] (--now deletes permanently)".to_owned()),
        Slash::Copy => copied(state, args, fx),
        Slash::Export => export::export_to(state, args, fx),
        Slash::Health => Err("Usage: /health [repair]".to_owned()),
        Slash::Context => context::open_at(state, args, fx),
        Slash::Model => model_picker::choose_named(state, args, fx),
        Slash::Connection => connection(state, args, fx),
        Slash::Thinking => thinking(state, args, fx),
        Slash::Mode => mode(state, args, fx),
        Slash::Plan => Err("Usage: /plan [drop] (drop ends the plan)".to_owned()),
        Slash::Steer => Err("Add the text to send into the running turn".to_owned()),
        Slash::Density => density(state, args),
        Slash::Theme => theme(state, args, fx),
        Slash::Help => {
            manual::find(args).map(|topic| help::open_topic(state, topic)).map_err(|error| error.to_string())
        }
        _ => Err(format!("/{} takes no argument", call.slash.word())),
    }
}

/// `/connect NAME`, `/connect NAME key`, `/connect NAME --all`.
fn connection(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    match args.split_once(char::is_whitespace) {
        None => connection_picker::choose_named(state, &ConnectionName::new(args), fx),
        Some((name, "key")) => connections::ask_for_key(state, &ConnectionName::new(name), fx),
        Some((name, "--all")) => {
            return connection_picker::choose_everywhere(state, &ConnectionName::new(name), fx);
        }
        Some(_) => {}
    }
    Ok(())
}

fn thinking(state: &mut State, word: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let level = ThinkingLevel::parse(&word.to_lowercase()).ok_or("No such thinking level")?;
    session::thinking(state, level, fx);
    Ok(())
}

/// Something stands behind the name of a connection that is no word of the command: it may be a key.
fn holds_a_secret(args: &str) -> bool {
    args.split_once(char::is_whitespace).is_some_and(|(_, rest)| !matches!(rest, "key" | "--all"))
}

/// `/copy`: the last answer, a block of code, the conversation, or the message of an id.
fn copied(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let (what, which) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
    match (what, which.trim()) {
        ("" | "last", "") => copy::answer(state, fx),
        ("all", "") => copy::conversation(state, fx),
        ("code", "") => copy::code(state, fx),
        ("code", number) => match number.parse() {
            Ok(number) => copy::numbered_code(state, number, fx),
            Err(_) => return Err(format!("Not a code block number: {number:?}")),
        },
        (id, "") if copy::message(state, id, fx) => {}
        (word, _) => {
            let near = nearest(word, ["last", "code", "all"]);
            let near = near.map_or_else(String::new, |near| format!(" Closest match: {near}"));
            return Err(format!("No loaded message matches {word:?}.{near}"));
        }
    }
    Ok(())
}

fn density(state: &mut State, word: &str) -> Result<(), String> {
    let density = match word {
        "lines" => Density::Lines,
        "tails" => Density::Tails,
        "full" => Density::Full,
        _ => return Err("No such density: lines, tails or full".to_owned()),
    };
    reading::set_density(state, density);
    Ok(())
}

fn mode(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let drop_plan = args.split_whitespace().any(|word| word == "--drop-plan");
    let name = args.split_whitespace().filter(|word| *word != "--drop-plan").collect::<Vec<_>>().join(" ");
    let mode = Mode::parse(&name).ok_or_else(|| format!("Not a permission mode: {name:?}"))?;
    session::set_mode(state, mode, drop_plan, fx);
    Ok(())
}

fn theme(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    if !state.theme.names.iter().any(|theme| theme == name) {
        let near = nearest(name, state.theme.names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!(" Closest match: {near}"));
        return Err(format!("No theme {name:?}.{near}"));
    }
    name.clone_into(&mut state.theme.current);
    fx.push(Effect::Theme { name: name.to_owned(), keep: Keep::Yes });
    Ok(())
}
