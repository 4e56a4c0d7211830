//! `lisle extensions list`: sources, skills, agents and commands of this directory, with their states.

use super::args::ExtensionsCommand;
use super::exit::Exit;
use super::output::{complain, print_json, say};
use crate::agent::extension_files::ExtensionBook;
use crate::agent::extension_views::of_list;
use crate::agent::source_files::SourceBook;
use crate::domain::extension::{ExtensionKind, ExtensionOrigin, ExtensionState, ExtensionView};
use crate::domain::sanitise::reveal_line;
use crate::extensions::skill_tool::NeededSource;
use crate::runtime::setup::Bootstrap;
use crate::sources::files::PROJECT;
use crate::sources::{Launch, SourceConfig};
use std::fmt::Write as _;

/// Columns of a description.
const DESCRIPTION: usize = 60;

/// Runs `lisle extensions`.
pub(super) fn run(bootstrap: &Bootstrap, command: ExtensionsCommand) -> Exit {
    match command {
        ExtensionsCommand::List(args) => list(bootstrap, args.json),
    }
}

fn list(bootstrap: &Bootstrap, as_json: bool) -> Exit {
    let rules = bootstrap.rules();
    let sources = rules.sources().read(bootstrap.cwd());
    sources.problems.iter().for_each(|problem| complain(&format!("lisle: {problem}")));
    let needed = |slug: &str| {
        let source = sources.find(slug).filter(|source| !matches!(source.launch, Launch::Unsupported(_)))?;
        Some(if source.trusted { NeededSource::Usable } else { NeededSource::NotTrusted })
    };
    let mut views: Vec<ExtensionView> = sources.sources.iter().map(source).collect();
    views.extend(of_list(&rules.extensions().read(bootstrap.cwd()), needed));
    if as_json {
        return print_json(&views);
    }
    let width = views.iter().map(|one| reveal_line(&one.name).chars().count()).max().unwrap_or(0).min(40);
    let mut out = String::new();
    for one in &views {
        let cost = if one.tokens == 0 { String::new() } else { format!("{} tokens", one.tokens) };
        let description: String = reveal_line(&one.description).chars().take(DESCRIPTION).collect();
        let why = one.state.why().map(|why| format!("  ({})", reveal_line(why))).unwrap_or_default();
        let line = format!(
            "{:7}  {:width$}  {:11}  {:10}  {cost:>11}  {description}{why}",
            one.kind.word(),
            reveal_line(&one.name),
            one.state.word(),
            one.origin.word(),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    say(&out);
    Exit::Done
}

fn source(source: &SourceConfig) -> ExtensionView {
    let state = match (&source.launch, source.trusted, source.enabled) {
        (Launch::Unsupported(why), ..) => ExtensionState::Failed { why: why.clone() },
        (_, false, _) => ExtensionState::NotTrusted,
        (_, true, true) => ExtensionState::On,
        (_, true, false) => ExtensionState::Off { why: String::new() },
    };
    let is_of_project = source.file.file_name().is_some_and(|name| name == PROJECT);
    ExtensionView {
        kind: ExtensionKind::Source,
        name: source.slug.clone(),
        description: source.target(),
        origin: if is_of_project { ExtensionOrigin::Repository } else { ExtensionOrigin::Workspace },
        file: source.file.clone(),
        state,
        // Tools are known once it was started.
        tokens: 0,
        notes: Vec::new(),
    }
}
