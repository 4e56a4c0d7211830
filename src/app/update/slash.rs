//! Slash commands.

use super::{
    act as do_action, attach, chat, compose, connection, context, copy, find, lifecycle, list, model, offer, overlay,
    plan, properties, rewind, session, to, workspace,
};
use crate::app::effect::{Effect, Keep};
use crate::app::slash::{Call, Slash, Unknown};
use crate::app::state::State;
use crate::app::state::chat::Density;
use crate::app::state::overlay::{Confirm, Deed, Overlay};
use crate::domain::command::Origin;
use crate::domain::contract::Act;
use crate::domain::dropped;
use crate::domain::ids::ConnectionName;
use crate::domain::manual;
use crate::domain::nearest::nearest;
use crate::domain::session::ThinkingLevel;
use crate::domain::{Level, Mode, Notice};
use crate::keymap::action::Action;

/// Runs an offered command; one that cannot do without words is completed instead.
pub(super) fn accept(state: &mut State, slash: Slash, fx: &mut Vec<Effect>) {
    if matches!(slash, Slash::Steer | Slash::Attach | Slash::Enhance) {
        return state.composer_mut().set(&format!("/{} ", slash.word()));
    }
    state.composer_mut().take();
    run(state, Call { slash, args: String::new() }, fx);
}

/// A word after the slash that is no command.
pub(super) fn unknown(state: &mut State, unknown: &Unknown) {
    let text = format!("There is no command /{}.", unknown.word);
    let hint = match offer::nearest(state, &unknown.word) {
        Some(near) => format!("did you mean /{near}? A blank before the slash sends the text as it is"),
        None => "/help lists them; a blank before the slash sends the text as it is".to_owned(),
    };
    state.notify(Notice::new(Level::Warning, text).hint(hint));
}

/// A command of the user's own was chosen: it runs, or its arguments are written first. A draft is not lost for it.
pub(super) fn begin_own(state: &mut State, name: &str, fx: &mut Vec<Effect>) {
    let Some(at) = state.commands.iter().position(|own| own.name == name) else { return };
    compose::keep_draft(state, fx);
    match state.commands.get(at) {
        Some(own) if !own.hint.is_empty() => {
            let text = format!("/{} ", own.name);
            state.composer_mut().set(&text);
        }
        _ => run_own(state, at, "", fx),
    }
}

/// A command of the user's own: its text is sent. One that came with the repository is shown before its first use.
pub(super) fn run_own(state: &mut State, at: usize, args: &str, fx: &mut Vec<Effect>) {
    let Some(own) = state.commands.get(at).cloned() else { return };
    let text = own.fill(args);
    if own.origin != Origin::Repository || state.seen_commands.contains(&own.hash) {
        compose::send(state, text, compose::How::Queue, fx);
        return;
    }
    let mut says = vec![format!("It came with the repository: {}", own.path.display()), String::new()];
    says.extend(text.lines().take(12).map(|line| line.chars().take(200).collect()));
    let more = text.lines().count().saturating_sub(12);
    if more > 0 {
        says.push(format!("and {}", crate::domain::count::count(more, "more line", "more lines")));
    }
    let deed = Deed::Own { hash: own.hash, text };
    let title = format!("Send the text of /{}?", own.name);
    overlay::open(state, Overlay::Confirm(Box::new(Confirm { title, says, verb: "send it".to_owned(), deed })));
}

/// The text of a repository's command was seen and is sent; it is not asked for again until the file changes.
pub(super) fn send_own(state: &mut State, hash: String, text: String, fx: &mut Vec<Effect>) {
    state.seen_commands.insert(hash);
    list::keep_face(state, fx);
    compose::send(state, text, compose::How::Queue, fx);
}

/// Runs a command.
pub(super) fn run(state: &mut State, call: Call, fx: &mut Vec<Effect>) {
    let args = call.args.as_str();
    // Bare, it is the last answer, whatever is chosen in the conversation.
    let by_words = matches!(call.slash, Slash::Steer | Slash::Copy);
    if args.is_empty() && !by_words {
        return do_action(state, call.slash.action(), None, fx);
    }
    let done = match call.slash {
        Slash::Rename => {
            if let Some(id) = state.current_id() {
                fx.push(to(id, Act::Rename { title: args.to_owned() }));
            }
            Ok(())
        }
        Slash::Workspace => {
            workspace::command(state, args, fx);
            Ok(())
        }
        Slash::Branch => {
            rewind::branch_named(state, args, fx);
            Ok(())
        }
        Slash::Title if args.eq_ignore_ascii_case("regenerate") => {
            do_action(state, call.slash.action(), None, fx);
            Ok(())
        }
        Slash::Title => {
            if let Some(id) = state.current_id() {
                fx.push(to(id, Act::Rename { title: args.to_owned() }));
            }
            Ok(())
        }
        Slash::Enhance => {
            state.composer_mut().set(args);
            do_action(state, call.slash.action(), None, fx);
            Ok(())
        }
        Slash::Search => {
            find::open(state, Some(args), fx);
            Ok(())
        }
        Slash::Session => session::named(state, args, fx),
        Slash::Status => properties::status_named(state, args, fx),
        Slash::Label => properties::label_named(state, args, fx),
        Slash::Cwd => {
            if let Some(id) = state.current_id().cloned() {
                lifecycle::set_cwd(state, &id, args, fx);
            }
            Ok(())
        }
        Slash::Delete if args == "--now" => {
            lifecycle::ask_delete(state, &lifecycle::targets(state), true);
            Ok(())
        }
        Slash::Delete => Err("Only --now can follow: not to the trash, gone for good.".to_owned()),
        Slash::Copy => copied(state, args, fx),
        Slash::Export => lifecycle::export_to(state, args, fx),
        Slash::Import => {
            lifecycle::import(state, args, fx);
            Ok(())
        }
        Slash::Health if args == "repair" => {
            do_action(state, call.slash.action(), None, fx);
            if let Some(Overlay::Health(card)) = state.overlays.last_mut() {
                card.then_repair = true;
            }
            Ok(())
        }
        Slash::Health => Err("Only repair can follow.".to_owned()),
        Slash::Context => context::open_at(state, args, fx),
        Slash::Compact => {
            context::compact(state, args.to_owned(), fx);
            Ok(())
        }
        Slash::Model => model::choose_named(state, args, fx),
        Slash::Connection => match args.split_once(char::is_whitespace) {
            None => {
                connection::choose_named(state, &ConnectionName::new(args), fx);
                Ok(())
            }
            Some((name, "key")) => {
                connection::ask_for_key(state, &ConnectionName::new(name), fx);
                Ok(())
            }
            Some((name, "--all")) => connection::choose_everywhere(state, &ConnectionName::new(name), fx),
            Some(_) => {
                // It may be a key: it stays nowhere.
                let text = "Only a connection's name can follow, and the word key or --all; the key itself is asked for where \
                            it is not shown.";
                return state.notify(Notice::new(Level::Warning, text));
            }
        },
        Slash::Thinking => match ThinkingLevel::parse(&args.to_lowercase()) {
            Some(level) => {
                session::thinking(state, level, fx);
                Ok(())
            }
            None => Err("There is no such thinking level.".to_owned()),
        },
        Slash::Mode => mode(state, args, fx),
        Slash::Plan if args == "drop" => {
            plan::drop_plan(state, fx);
            Ok(())
        }
        Slash::Plan => Err("Only drop can follow: the plan is not carried out, or no further.".to_owned()),
        Slash::Steer if args.is_empty() => Err("Write behind it what is to go into the turn that runs.".to_owned()),
        Slash::Steer => {
            if !compose::send(state, args.to_owned(), compose::How::Steer, fx) {
                state.composer_mut().set(&format!("/{} {args}", call.slash.word()));
            }
            Ok(())
        }
        Slash::Attach => {
            let files = dropped::given(args).into_iter().map(|path| (path.into(), None)).collect();
            attach::ask(state, files, fx);
            Ok(())
        }
        Slash::Density => density(state, args),
        Slash::Theme => theme(state, args, fx),
        Slash::Help => {
            manual::find(args).map(|topic| overlay::open_topic(state, topic)).map_err(|error| error.to_string())
        }
        Slash::Keys => {
            do_action(state, Action::from(crate::keymap::action::AppAction::Help), None, fx);
            Ok(())
        }
        _ => Err(format!("/{} takes nothing after it.", call.slash.word())),
    };
    if let Err(why) = done {
        // What was written stays, to be corrected.
        state.composer_mut().set(&format!("/{} {args}", call.slash.word()));
        let usage = format!("/{} {}", call.slash.word(), call.slash.usage());
        state.notify(Notice::new(Level::Warning, why).hint(usage.trim_end().to_owned()));
    }
    list::keep_in_sight(state);
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
            Err(_) => return Err(format!("{number:?} is no number of a block of code.")),
        },
        (id, "") if copy::message(state, id, fx) => {}
        (word, _) => {
            let near = nearest(word, ["last", "code", "all"]);
            let near = near.map_or_else(String::new, |near| format!(" The nearest word is {near}."));
            return Err(format!("There is no message {word:?} among those that are loaded.{near}"));
        }
    }
    Ok(())
}

fn density(state: &mut State, word: &str) -> Result<(), String> {
    let density = match word {
        "lines" => Density::Lines,
        "tails" => Density::Tails,
        "full" => Density::Full,
        _ => return Err("There is no such density.".to_owned()),
    };
    chat::set_density(state, density);
    Ok(())
}

fn mode(state: &mut State, args: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    let drop_plan = args.split_whitespace().any(|word| word == "--drop-plan");
    let name = args.split_whitespace().filter(|word| *word != "--drop-plan").collect::<Vec<_>>().join(" ");
    let mode = Mode::parse(&name).ok_or_else(|| format!("{name:?} is not a permission mode."))?;
    session::set_mode(state, mode, drop_plan, fx);
    Ok(())
}

fn theme(state: &mut State, name: &str, fx: &mut Vec<Effect>) -> Result<(), String> {
    if !state.themes.iter().any(|theme| theme == name) {
        let near = nearest(name, state.themes.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!(" The nearest is {near}."));
        return Err(format!("There is no theme {name:?}.{near}"));
    }
    name.clone_into(&mut state.theme);
    fx.push(Effect::Theme { name: name.to_owned(), keep: Keep::Yes });
    Ok(())
}
