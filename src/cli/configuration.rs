//! `lisle config`, `lisle themes` and `lisle keys`: what is configured, where it comes from, and if it can be read.

use super::args::{ConfigCommand, Json, KeymapName, KeysCommand, ListKeys, ShowConfig, ThemeNames, ThemesCommand};
use super::exit::Exit;
use super::output::{complain, hint, print_json, say};
use crate::config::settings::{Settings, shown};
use crate::config::user_files::{self, UserFileKind};
use crate::domain::nearest::nearest;
use crate::domain::problem::Problem;
use crate::domain::sanitise::clean_line;
use crate::domain::setting::{Setting, SettingSource};
use crate::keymap;
use crate::keymap::action::Context;
use crate::keymap::key::chord_name;
use crate::runtime::setup::Bootstrap;
use crate::runtime::{self, editor, own_themes};
use crate::theme::resolve::{self, builtin_names, builtin_text};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) async fn config(bootstrap: &Bootstrap, command: ConfigCommand) -> Exit {
    match command {
        ConfigCommand::Show(args) => show(bootstrap, &args),
        ConfigCommand::Path => {
            say(&format!("{}\n", bootstrap.paths.config_file().display()));
            Exit::Done
        }
        ConfigCommand::Check => verdict(&all_problems(bootstrap)),
        ConfigCommand::Edit => edit(bootstrap).await,
    }
}

/// Prints problems one a line. The exit says if there are any.
fn verdict(problems: &[Problem]) -> Exit {
    say(&problems.iter().map(|problem| format!("{problem}\n")).collect::<String>());
    if problems.is_empty() { Exit::Done } else { Exit::Failed }
}

fn all_problems(bootstrap: &Bootstrap) -> Vec<Problem> {
    let mut problems = bootstrap.problems.clone();
    let _ = runtime::keymap(bootstrap, &mut problems);
    problems.extend(theme_problems(bootstrap, &user_files::names(&bootstrap.paths, UserFileKind::Theme)));
    problems.extend(values_of_nothing(bootstrap));
    problems
}

/// Settings that name a theme or a folder which does not exist.
fn values_of_nothing(bootstrap: &Bootstrap) -> Vec<Problem> {
    let path = bootstrap.paths.config_file();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let at = |key: &str, text_of: String, fix: &str| Problem {
        path: path.clone(),
        line: shown::line_of(&text, key),
        text: text_of,
        fix: fix.to_owned(),
    };
    let settings = &bootstrap.settings;
    let mut problems = Vec::new();
    if settings.ui.theme != "auto" {
        let of_setting = theme_problems(bootstrap, std::slice::from_ref(&settings.ui.theme));
        let of_setting = of_setting.into_iter().filter(|problem| problem.path == Path::new(resolve::SETTING));
        problems.extend(of_setting.map(|problem| at(resolve::SETTING, problem.text, &problem.fix)));
    }
    let workspace = bootstrap.workspace();
    if settings.workspace.is_some() && bootstrap.wanted.workspace.is_none() && !workspace.is_dir() {
        let text = format!("workspace {} does not exist", workspace.display());
        problems.push(at("workspace", text, "a session makes it, or name another one"));
    }
    if let Some(fabric) = bootstrap.prompts().fabric.filter(|fabric| settings.fabric_home.is_some() && !fabric.is_dir())
    {
        let text = format!("fabric.home {} does not exist", fabric.display());
        problems.push(at("fabric.home", text, "name the folder that has patterns/"));
    }
    problems
}

fn source(setting: &Setting, file: &str) -> String {
    match setting.said {
        SettingSource::Default => "default".to_owned(),
        SettingSource::Line(line) => format!("{file}:{line}"),
        SettingSource::Kept => "chosen in the app".to_owned(),
    }
}

fn show(bootstrap: &Bootstrap, args: &ShowConfig) -> Exit {
    let path = bootstrap.paths.config_file();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut all = shown::shown(&bootstrap.settings, &Settings::default(), &text);
    let theme = runtime::chosen_theme(bootstrap).filter(|_| bootstrap.settings.ui.theme == "auto");
    if let (Some(theme), Some(one)) = (theme, all.iter_mut().find(|one| one.key == "ui.theme")) {
        (one.value, one.said) = (theme, SettingSource::Kept);
    }
    if let Some(key) = &args.key {
        let below = format!("{key}.");
        let keys: Vec<String> = all.iter().map(|one| one.key.clone()).collect();
        all.retain(|one| one.key == *key || one.key.starts_with(&below));
        if all.is_empty() {
            let near = nearest(key, keys.iter().map(String::as_str));
            let groups: BTreeSet<&str> = keys.iter().filter_map(|key| key.split('.').next()).collect();
            let groups: Vec<String> = groups.into_iter().map(str::to_owned).collect();
            complain(&format!("lisle: no setting {key:?}{}", hint(near, &groups)));
            return Exit::Usage;
        }
    }
    let file = path.display().to_string();
    if args.json {
        let rows: Vec<_> = all
            .iter()
            .map(|one| json!({"key": one.key, "value": one.value, "source": source(one, &file), "about": one.about, "choices": one.choices}))
            .collect();
        return print_json(&rows);
    }
    let widest = |of: &dyn Fn(&Setting) -> usize| all.iter().map(of).max().unwrap_or(0);
    let (keys, values) = (widest(&|one| one.key.len()), widest(&|one| one.value.chars().count()).min(30));
    let row =
        |one: &Setting| format!("{:keys$}  {:values$}  {}\n", one.key, clean_line(&one.value), source(one, &file));
    say(&all.iter().map(row).collect::<String>());
    Exit::Done
}

async fn edit(bootstrap: &Bootstrap) -> Exit {
    let path = bootstrap.paths.config_file();
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let command = match editor::command_without_screen(&|name| std::env::var(name).ok()) {
        Ok(command) => command,
        Err(error) => {
            complain(&format!("lisle: {error}"));
            return Exit::Usage;
        }
    };
    let edited = match made {
        Ok(()) => editor::open_file(&command, &path, None).await.map_err(|error| error.to_string()),
        Err(error) => Err(format!("can't make the folder of {}: {error}", path.display())),
    };
    if let Err(why) = edited {
        complain(&format!("lisle: {why}"));
        return Exit::Failed;
    }
    let env = |name: &str| std::env::var(name).ok();
    verdict(&crate::config::load(&bootstrap.paths, &env).problems)
}

pub(super) fn themes(bootstrap: &Bootstrap, command: ThemesCommand) -> Exit {
    match command {
        ThemesCommand::List(args) => list_themes(bootstrap, &args),
        ThemesCommand::Show(args) => match theme_text(bootstrap, &args.name) {
            Ok(text) => {
                say(&text);
                Exit::Done
            }
            Err(exit) => exit,
        },
        ThemesCommand::Check(args) => check_themes(bootstrap, &args),
    }
}

/// Names of all themes, the user's first.
fn theme_names(bootstrap: &Bootstrap) -> Vec<(String, &'static str)> {
    let own = user_files::names(&bootstrap.paths, UserFileKind::Theme);
    let builtin: Vec<_> = builtin_names().filter(|name| own.iter().all(|known| known != name)).collect();
    let builtin = builtin.into_iter().map(|name| (name.to_owned(), "built-in"));
    own.iter().map(|name| (name.clone(), "config")).chain(builtin).collect()
}

fn list_themes(bootstrap: &Bootstrap, args: &Json) -> Exit {
    let all = theme_names(bootstrap);
    if args.json {
        let rows: Vec<_> = all.iter().map(|(name, origin)| json!({"name": name, "origin": origin})).collect();
        return print_json(&rows);
    }
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    say(&all.iter().map(|(name, origin)| format!("{name:width$}  {origin}\n")).collect::<String>());
    Exit::Done
}

fn theme_text(bootstrap: &Bootstrap, name: &str) -> Result<String, Exit> {
    match user_files::find(&bootstrap.paths, UserFileKind::Theme, name) {
        Ok(Some(text)) => return Ok(text),
        Ok(None) => {}
        Err(problem) => {
            complain(&format!("lisle: {problem}"));
            return Err(Exit::Failed);
        }
    }
    builtin_text(name).map(str::to_owned).ok_or_else(|| unknown_theme(bootstrap, name))
}

fn unknown_theme(bootstrap: &Bootstrap, name: &str) -> Exit {
    let all = theme_names(bootstrap);
    let names: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    complain(&format!("lisle: no theme {name:?}{}", hint(near, &names)));
    Exit::Usage
}

fn check_themes(bootstrap: &Bootstrap, args: &ThemeNames) -> Exit {
    let own = user_files::names(&bootstrap.paths, UserFileKind::Theme);
    let names = if args.names.is_empty() { &own } else { &args.names };
    let known = |name: &String| own.contains(name) || builtin_names().any(|builtin| builtin == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return unknown_theme(bootstrap, name);
    }
    verdict(&theme_problems(bootstrap, names))
}

fn theme_problems(bootstrap: &Bootstrap, names: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let texts = own_themes(&bootstrap.paths, &mut problems);
    for problem in names.iter().flat_map(|name| resolve::load(name, &texts).problems) {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

pub(super) fn keys(bootstrap: &Bootstrap, command: KeysCommand) -> Exit {
    match command {
        KeysCommand::List(args) => list_keys(bootstrap, &args),
        KeysCommand::Show(args) => show_keymap(bootstrap, &args),
        KeysCommand::Check => {
            let mut problems = Vec::new();
            let _ = runtime::keymap(bootstrap, &mut problems);
            verdict(&problems)
        }
    }
}

fn list_keys(bootstrap: &Bootstrap, args: &ListKeys) -> Exit {
    let mut problems = Vec::new();
    let table = runtime::keymap(bootstrap, &mut problems);
    problems.iter().for_each(|problem| complain(&problem.to_string()));
    let places: Vec<Context> = match &args.place {
        None => Context::ALL.to_vec(),
        Some(word) => match Context::parse(word) {
            Some(place) => vec![place],
            None => {
                let words: Vec<&str> = Context::ALL.iter().map(|place| place.word()).collect();
                complain(&format!("lisle: no place {word:?}. Available: {}", words.join(", ")));
                return Exit::Usage;
            }
        },
    };
    let bound = places.iter().flat_map(|place| table.of(*place));
    if args.json {
        let rows: Vec<_> = bound
            .map(|one| {
                json!({
                    "place": one.context.word(),
                    "keys": chord_name(&one.keys),
                    "action": one.action.name(),
                    "about": one.desc,
                    "source": format!("{}:{}", one.at.0, one.at.1),
                })
            })
            .collect();
        return print_json(&rows);
    }
    let row = |one: &keymap::Binding| {
        format!("{:12}  {:18}  {:24}  {}\n", one.context.word(), chord_name(&one.keys), one.action.name(), one.desc)
    };
    say(&bound.map(row).collect::<String>());
    Exit::Done
}

fn show_keymap(bootstrap: &Bootstrap, args: &KeymapName) -> Exit {
    let name = args.name.as_deref().unwrap_or(&bootstrap.settings.ui.keymap);
    let own = match user_files::find(&bootstrap.paths, UserFileKind::Keymap, name) {
        Ok(own) => own,
        Err(problem) => {
            complain(&format!("lisle: {problem}"));
            return Exit::Failed;
        }
    };
    let text = own.or_else(|| match keymap::STYLES.iter().find(|style| style.0 == name) {
        Some(style) => Some(style.2.to_owned()),
        None => (name == keymap::GROUND).then(|| keymap::DEFAULT.to_owned()),
    });
    match text {
        Some(text) => {
            say(&text);
            Exit::Done
        }
        None => {
            let own = user_files::names(&bootstrap.paths, UserFileKind::Keymap);
            let names: Vec<String> = own.into_iter().chain(keymap::names().map(str::to_owned)).collect();
            complain(&format!("lisle: no keymap {name:?}. Available: {}", names.join(", ")));
            Exit::Usage
        }
    }
}
