//! `lisle sources`: the sources of the workspace and of the project, their files, their logs, and a try of one.

use super::args::{AddSource, SourceLogs, SourcesCommand, TestSource};
use super::exit::Exit;
use super::output::{complain, hint, print_json, say};
use crate::agent::rule_files::RuleBook;
use crate::agent::source_files::SourceBook;
use crate::domain::count::count;
use crate::domain::nearest::nearest;
use crate::domain::sanitise::reveal_line;
use crate::runtime::setup::Bootstrap;
use crate::sources::config::{Launch, SourceConfig, new_source};
use crate::sources::names::slug_fault;
use crate::sources::{Reach, ServerState, Servers, SourceList, log};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Runs `lisle sources`.
pub(super) async fn run(bootstrap: &Bootstrap, command: SourcesCommand) -> Exit {
    match command {
        SourcesCommand::List(args) => list(bootstrap, args.json),
        SourcesCommand::Test(args) => test(bootstrap, &args).await,
        SourcesCommand::Add(args) => add(bootstrap, args),
        SourcesCommand::Remove { name } => remove(bootstrap, &name),
        SourcesCommand::Logs(args) => logs(bootstrap, &args),
    }
}

fn known(bootstrap: &Bootstrap) -> SourceList {
    let list = bootstrap.rules().sources().read(bootstrap.cwd());
    list.problems.iter().for_each(|problem| complain(&format!("lisle: {problem}")));
    list
}

fn find(bootstrap: &Bootstrap, name: &str) -> Result<SourceConfig, Exit> {
    let list = known(bootstrap);
    if let Some(source) = list.find(name) {
        return Ok(source.clone());
    }
    let names: Vec<String> = list.sources.iter().map(|source| source.slug.clone()).collect();
    let near = nearest(name, names.iter().map(String::as_str));
    let end = if names.is_empty() { ": none yet. Add one: lisle sources add".to_owned() } else { hint(near, &names) };
    complain(&format!("lisle: no source {name:?}{end}"));
    Err(Exit::Usage)
}

fn word(source: &SourceConfig) -> &'static str {
    match (&source.launch, source.trusted, source.enabled) {
        (Launch::Unsupported(_), ..) => "not supported",
        (_, false, _) => "not trusted",
        (_, true, true) => "on",
        (_, true, false) => "off",
    }
}

fn why(source: &SourceConfig) -> Option<&str> {
    match &source.launch {
        Launch::Unsupported(why) => Some(why),
        Launch::Program { .. } | Launch::Http { .. } if !source.trusted => Some("/trust in a session shows it."),
        Launch::Program { .. } | Launch::Http { .. } => None,
    }
}

fn list(bootstrap: &Bootstrap, as_json: bool) -> Exit {
    let list = known(bootstrap);
    if as_json {
        let rows: Vec<Value> = list.sources.iter().map(entry).collect();
        return print_json(&rows);
    }
    let width = list.sources.iter().map(|source| source.slug.len()).max().unwrap_or(0);
    let mut out = String::new();
    for source in &list.sources {
        let target = reveal_line(&source.target());
        let end = why(source).map(|why| format!("  ({})", reveal_line(why))).unwrap_or_default();
        let _ = writeln!(out, "{:width$}  {:13}  {target}{end}", source.slug, word(source));
    }
    say(&out);
    Exit::Done
}

fn entry(source: &SourceConfig) -> Value {
    let kind = match &source.launch {
        Launch::Program { .. } => "stdio",
        Launch::Http { .. } => "http",
        Launch::Unsupported(_) => "unsupported",
    };
    json!({
        "slug": source.slug, "name": source.name, "kind": kind, "target": source.target(), "state": word(source),
        "why": why(source), "enabled": source.enabled, "trusted": source.trusted, "file": source.file,
    })
}

async fn test(bootstrap: &Bootstrap, args: &TestSource) -> Exit {
    let source = match find(bootstrap, &args.name) {
        Ok(source) => source,
        Err(exit) => return exit,
    };
    if let Some(why) = why(&source) {
        complain(&format!("lisle: {}: {}. {why}", source.slug, word(&source)));
        return Exit::Failed;
    }
    let servers = Servers::new(bootstrap.source_surroundings());
    let server = servers.of(&source, bootstrap.cwd(), Reach::Configured);
    server.start();
    let ready = server.ready().await;
    if let ServerState::Failed(why) = server.state() {
        complain(&format!("lisle: {}: {why}", source.slug));
        return Exit::Failed;
    }
    let Ok(ready) = ready else { return Exit::Failed };
    let definitions = &ready.definitions;
    definitions.left_out.iter().for_each(|why| complain(&format!("lisle: {}: {why}", source.slug)));
    let views: Vec<_> = definitions.tools.iter().map(|tool| (tool, tool.view())).collect();
    if args.json {
        let tools: Vec<Value> = views
            .iter()
            .map(|(tool, view)| json!({"name": view.name, "readOnly": view.read_only, "tokens": view.tokens, "description": tool.spec.description}))
            .collect();
        return print_json(&json!({"slug": source.slug, "tools": tools, "leftOut": definitions.left_out}));
    }
    let mut out = String::new();
    for (_, view) in &views {
        let kind = if view.read_only { "read-only" } else { "asks" };
        let _ = writeln!(out, "{kind:9}  {:>5} tokens  {}", view.tokens, view.name);
    }
    let cost: u64 = views.iter().map(|(_, view)| view.tokens).sum();
    let _ = writeln!(out, "{}: {}, {cost} tokens", source.slug, count(views.len(), "tool", "tools"));
    say(&out);
    Exit::Done
}

/// `NAME=VALUE` of the command line.
fn pairs(given: &[String]) -> Result<BTreeMap<String, String>, String> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        // What is behind the sign may be a key.
        _ => Err("use NAME=VALUE".to_owned()),
    };
    given.iter().map(pair).collect()
}

fn add(bootstrap: &Bootstrap, args: AddSource) -> Exit {
    let AddSource { name, url, env, header, command } = args;
    let usage = |why: &str| {
        complain(&format!("lisle: {why}"));
        Exit::Usage
    };
    if let Some(fault) = slug_fault(&name) {
        return usage(&format!("invalid name {name:?}: {fault}"));
    }
    let launch = match (url, command.split_first()) {
        (Some(url), _) if !["http://", "https://"].iter().any(|begin| url.starts_with(begin)) => {
            return usage("the address must begin with https:// or http://");
        }
        (Some(url), _) => match pairs(&header) {
            Ok(headers) => Launch::Http { url, headers },
            Err(why) => return usage(&why),
        },
        (None, Some((program, args))) => match pairs(&env) {
            Ok(env) => Launch::Program { command: program.clone(), args: args.to_vec(), env },
            Err(why) => return usage(&why),
        },
        (None, None) => return usage("name a program after --, or an address"),
    };
    let folder = bootstrap.workspace().join("sources").join(&name);
    if folder.symlink_metadata().is_ok() {
        return usage(&format!("{} exists. Remove it first: lisle sources remove {name}", folder.display()));
    }
    let text = new_source(&name, &launch);
    if let Err(error) = write(&folder, &text) {
        complain(&format!("lisle: can't write {}: {error}", folder.display()));
        return Exit::Failed;
    }
    // Who adds it knows what it says.
    let rules = bootstrap.rules();
    let file = folder.join("config.json");
    let asked = rules.read(bootstrap.cwd()).untrusted.iter().find(|one| one.path == file).cloned();
    if let Some(Err(why)) = asked.map(|asked| rules.trust(&asked)) {
        complain(&format!("lisle: {why}"));
    }
    say(&format!("{}\n", file.display()));
    Exit::Done
}

fn write(folder: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut open = std::fs::OpenOptions::new();
    open.write(true).create_new(true).mode(0o600);
    open.open(folder.join("config.json"))?.write_all(text.as_bytes())
}

fn remove(bootstrap: &Bootstrap, name: &str) -> Exit {
    let folder = bootstrap.workspace().join("sources").join(name);
    let is_folder = slug_fault(name).is_none() && folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    if !is_folder {
        return match find(bootstrap, name) {
            Ok(source) => {
                complain(&format!("lisle: {name} is not of this workspace: edit {}", source.file.display()));
                Exit::Usage
            }
            Err(exit) => exit,
        };
    }
    // The user may have written a guide.
    let kept = bootstrap.source_surroundings().folder.join("removed");
    let time = jiff::Zoned::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
    let to = kept.join(format!("{name}.{time}"));
    let moved = std::fs::create_dir_all(&kept).and_then(|()| std::fs::rename(&folder, &to));
    match moved {
        Ok(()) => {
            say(&format!("Moved to {}\n", to.display()));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: can't remove {}: {error}", folder.display()));
            Exit::Failed
        }
    }
}

fn logs(bootstrap: &Bootstrap, args: &SourceLogs) -> Exit {
    let source = match find(bootstrap, &args.name) {
        Ok(source) => source,
        Err(exit) => return exit,
    };
    let lines = log::read(&bootstrap.source_surroundings().folder_of(&source), args.lines);
    if args.json {
        return print_json(&lines);
    }
    let text = lines.iter().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}  {:6}  {}", line.time, line.from, line.text);
        out
    });
    say(&text);
    Exit::Done
}
