//! `lisle context`, `lisle pattern` and `lisle strategy`: the named texts of the user, their folders and their files.

use super::args::{ContextCommand, EditContext, Json, PatternCommand, SetContext, StrategyCommand};
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::domain::prompt_text::{PromptKind, PromptOrigin};
use crate::domain::sanitise::clean_line;
use crate::runtime::editor;
use crate::runtime::setup::Bootstrap;
use crate::store::prompt_files::{PromptError, PromptFile, PromptFolders};
use serde_json::json;
use std::io::{IsTerminal, Read};

/// Reports an error of a named text. A name that does not exist is a wrong argument.
pub(super) fn failed(error: &PromptError) -> Exit {
    complain(&format!("lisle: {error}"));
    match error {
        PromptError::Name { .. } | PromptError::Missing { .. } => Exit::Usage,
        PromptError::Unreadable { .. } | PromptError::Unwritable { .. } => Exit::Failed,
    }
}

pub(super) async fn contexts(bootstrap: &Bootstrap, command: ContextCommand) -> Exit {
    let folders = bootstrap.prompts();
    let kind = PromptKind::Context;
    match command {
        ContextCommand::List(args) => list(&folders, kind, &args),
        ContextCommand::Show(args) => show(&folders, kind, &args.name),
        ContextCommand::Edit(args) => edit(&folders, args).await,
        ContextCommand::Set(args) => set(&folders, args),
        ContextCommand::Rename(args) => done(folders.rename(PromptKind::Context, &args.name, &args.to)),
        ContextCommand::Delete(args) => {
            // Nothing is deleted if one of the names is wrong.
            if let Some(error) = args.names.iter().find_map(|name| folders.find(kind, name).err()) {
                return failed(&error);
            }
            let mut deleted = args.names.iter().map(|name| folders.delete(PromptKind::Context, name));
            deleted.find_map(Result::err).map_or(Exit::Done, |error| failed(&error))
        }
    }
}

pub(super) fn patterns(bootstrap: &Bootstrap, command: PatternCommand) -> Exit {
    let folders = bootstrap.prompts();
    match command {
        PatternCommand::List(args) => list(&folders, PromptKind::Pattern, &args),
        PatternCommand::Show(args) => show(&folders, PromptKind::Pattern, &args.name),
        // Done by `headless`.
        PatternCommand::Run(_) => Exit::Done,
    }
}

pub(super) fn strategies(bootstrap: &Bootstrap, command: StrategyCommand) -> Exit {
    let folders = bootstrap.prompts();
    match command {
        StrategyCommand::List(args) => list(&folders, PromptKind::Strategy, &args),
        StrategyCommand::Show(args) => show(&folders, PromptKind::Strategy, &args.name),
    }
}

fn done<T>(result: Result<T, PromptError>) -> Exit {
    result.map_or_else(|error| failed(&error), |_| Exit::Done)
}

/// Prints the text of that name.
pub(super) fn show(folders: &PromptFolders, kind: PromptKind, name: &str) -> Exit {
    match folders.read(kind, name) {
        Ok(text) => {
            say(&format!("{}\n", text.text));
            Exit::Done
        }
        Err(error) => failed(&error),
    }
}

/// Prints names with their origin, and of strategies what they are for.
pub(super) fn list(folders: &PromptFolders, kind: PromptKind, args: &Json) -> Exit {
    let files = folders.list(kind);
    let about = |file: &PromptFile| match kind {
        PromptKind::Strategy => match folders.strategy(&file.name) {
            Ok((about, _)) => about,
            Err(error) => {
                failed(&error);
                "(broken)".to_owned()
            }
        },
        PromptKind::Context | PromptKind::Pattern => String::new(),
    };
    if args.json {
        let rows: Vec<_> = files
            .iter()
            .map(|file| {
                let mut row = json!({"name": file.name, "origin": file.origin.word(), "path": file.path});
                if kind == PromptKind::Strategy {
                    row["description"] = about(file).into();
                }
                row
            })
            .collect();
        return print_json(&rows);
    }
    if files.is_empty() {
        empty(folders, kind);
    }
    let width = files.iter().map(|file| file.name.len()).max().unwrap_or(0);
    let row = |file: &PromptFile| {
        format!("{:width$}  {:9}  {}", file.name, file.origin.word(), clean_line(&about(file))).trim_end().to_owned()
            + "\n"
    };
    say(&files.iter().map(row).collect::<String>());
    Exit::Done
}

/// Says where the first one would go.
pub(super) fn empty(folders: &PromptFolders, kind: PromptKind) {
    let folder = folders.config.join(kind.folder());
    let form = match kind {
        PromptKind::Context => "NAME",
        PromptKind::Pattern => "NAME/system.md",
        PromptKind::Strategy => "NAME.json",
    };
    complain(&format!("lisle: none found. Make the first one: {}", folder.join(form).display()));
}

fn origin(local: bool) -> PromptOrigin {
    if local { PromptOrigin::Workspace } else { PromptOrigin::Config }
}

fn set(folders: &PromptFolders, args: SetContext) -> Exit {
    let text = if args.text.is_empty() {
        if std::io::stdin().is_terminal() {
            complain("lisle: reading the context from stdin; Ctrl+D ends it.");
        }
        let mut text = String::new();
        if let Err(error) = std::io::stdin().lock().read_to_string(&mut text) {
            complain(&format!("lisle: can't read stdin: {error}."));
            return Exit::Failed;
        }
        text
    } else {
        args.text.join(" ") + "\n"
    };
    if text.trim().is_empty() {
        complain("lisle: empty text. \"lisle context delete\" deletes a context.");
        return Exit::Usage;
    }
    done(folders.set(PromptKind::Context, origin(args.local), &args.name, &text))
}

async fn edit(folders: &PromptFolders, args: EditContext) -> Exit {
    let kind = PromptKind::Context;
    let there =
        folders.find(kind, &args.name).ok().filter(|file| !args.local || file.origin == PromptOrigin::Workspace);
    let origin = match &there {
        Some(file) if file.origin == PromptOrigin::Fabric => {
            complain(&format!("lisle: can't change {}: files of Fabric are only read", file.path.display()));
            return Exit::Failed;
        }
        Some(file) => file.origin,
        None => origin(args.local),
    };
    let before = match &there {
        Some(file) => match crate::store::prompt_files::text_of(&file.path) {
            Ok(text) => text,
            Err(error) => return failed(&error),
        },
        None => String::new(),
    };
    let command = match editor::command_without_screen(&|name| std::env::var(name).ok()) {
        Ok(command) => command,
        Err(error) => {
            complain(&format!("lisle: {error}"));
            return Exit::Usage;
        }
    };
    let after = match editor::edit_as(&command, &std::env::temp_dir(), &format!("{}.md", args.name), &before).await {
        Ok(after) => after,
        Err(error) => {
            complain(&format!("lisle: {error}"));
            return Exit::Failed;
        }
    };
    if after == before {
        return Exit::Done;
    }
    if after.trim().is_empty() {
        complain("lisle: empty text, nothing changed. \"lisle context delete\" deletes a context.");
        return Exit::Usage;
    }
    done(folders.set(PromptKind::Context, origin, &args.name, &after))
}
