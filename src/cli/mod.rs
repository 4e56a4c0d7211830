//! The command line: arguments, the headless `run`, and all that can be done to sessions without a screen: `sessions`
//! looks at them, `change` changes them, `auth` has the keys of connections, `definitions` has what the workspace defines. The app itself is `runtime`'s.

pub mod args;
mod audit;
mod auth;
mod change;
mod channel;
mod configuration;
mod definitions;
mod doctor;
mod exit;
mod export_output;
mod extensions;
mod fabric;
mod gateway;
mod headless;
mod help;
mod import;
mod import_report;
mod man;
mod output;
mod permissions;
mod prompt;
mod prompts;
pub mod reference;
mod route_transfer;
mod routes;
mod run_answer;
mod run_events;
mod run_input;
mod run_line;
mod run_output;
mod run_result;
mod run_rules;
mod run_start;
mod search;
mod sessions;
mod share;
mod shell;
mod sources;
mod stop_signals;
mod usage;
mod version;

use crate::agent::source_files::SourceBook;
use crate::domain::SessionId;
use crate::domain::nearest::nearest;
use crate::domain::source::TOOL_PREFIX;
use crate::runtime;
use crate::runtime::setup::{Bootstrap, Which};
use args::{Args, CliCommand, DoctorCommand, PatternCommand, PatternRun, RunArgs};
use clap::error::{ContextKind, ContextValue};
pub use exit::Exit;
use std::process::ExitCode;
use std::time::Duration;

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    shell::answer_shell();
    let args = match args::parsed(args::search_words(std::env::args_os())) {
        Ok(args) => args,
        Err(mut error) => {
            keep_near(&mut error);
            // Help and version go to stdout and end with 0, mistakes to stderr and end with 2.
            let wrong = error.use_stderr();
            let taken = if wrong { Ok(()) } else { output::closed_at_start() };
            let printed = taken.and_then(|()| error.print());
            return match printed.and_then(|()| std::io::Write::flush(&mut std::io::stdout())) {
                _ if wrong => Exit::Usage.into(),
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    output::complain(&format!("lisle: can't write stdout: {error}."));
                    Exit::Failed.into()
                }
                _ => Exit::Done.into(),
            };
        }
    };
    if args.version {
        return output::unless_lost(version::print(args.verbose)).into();
    }
    // Before the configuration is read: it may be what help is needed for.
    match &args.command {
        Some(CliCommand::Help(args)) => return output::unless_lost(help::run(args)).into(),
        Some(CliCommand::Completions(args)) => return output::unless_lost(shell::completions(args)).into(),
        Some(CliCommand::Man(args)) => return output::unless_lost(man::run(args)).into(),
        Some(CliCommand::Schema(command)) => return output::unless_lost(shell::schema(*command)).into(),
        _ => {}
    }
    if matches!(args.command, Some(CliCommand::ResetTerminal)) {
        // Of a pipe there is nothing to set.
        let _ = runtime::tty::make_lines(std::io::stdin());
        output::put(&runtime::terminal::reset());
        return output::unless_lost(Exit::Done).into();
    }
    let prompt = match args.prompt() {
        Ok(prompt) => prompt,
        Err(why) => {
            output::complain(&format!("lisle: {why}"));
            return Exit::Usage.into();
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain(&format!("lisle: can't start threads: {error}."));
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(start(args, prompt));
    // Work that does not end by itself must not hold the exit.
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    output::unless_lost(exit).into()
}

/// Leaves of the suggestions those that lisle would make.
fn keep_near(error: &mut clap::Error) {
    let asked = [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    ];
    for (given, suggested) in asked {
        let Some(ContextValue::String(word)) = error.get(given).cloned() else { continue };
        let is_near = |name: &str| nearest(word.trim_start_matches('-'), [name.trim_start_matches('-')]).is_some();
        let near = match error.remove(suggested) {
            Some(ContextValue::String(name)) => Some(name).filter(|name| is_near(name)).map(ContextValue::String),
            Some(ContextValue::Strings(mut names)) => {
                names.retain(|name| is_near(name));
                Some(names).filter(|names| !names.is_empty()).map(ContextValue::Strings)
            }
            other => other,
        };
        if let Some(near) = near {
            error.insert(suggested, near);
        }
    }
}

async fn start(args: Args, prompt: Option<String>) -> Exit {
    let linear = args.wants_lines();
    let no_gateway = args.common.no_gateway;
    let mut wanted: runtime::setup::StartRequest = args.common.into();
    // The app continues in the last workspace; a script does not depend on it.
    wanted.last_workspace = args.command.is_none();
    if let Some(run) = run_of(args.command.as_ref()) {
        wanted.connection = wanted.connection.take().or_else(|| run.input.vendor.clone());
        match run_rules::rules(&run.limits.allow, &run.limits.deny) {
            Ok(rules) => wanted.rules = rules,
            Err(why) => return ended_early(run, Exit::Usage, &why),
        }
    }
    // Of another machine, where they are looked for.
    let elsewhere = matches!(args.command, Some(CliCommand::Ssh(_)));
    if let Which::Named(name) = &wanted.which
        && elsewhere
    {
        match SessionId::parse(name.as_str()) {
            Ok(id) => wanted.which = Which::This(id),
            Err(error) => return gateway::usage(&error.to_string()),
        }
    }
    let there = wanted.clone();
    if elsewhere {
        wanted = runtime::setup::StartRequest { which: wanted.which, ..Default::default() };
    }
    let bootstrap = match Bootstrap::prepare(wanted) {
        Ok(bootstrap) => bootstrap,
        Err(error) => {
            let why = format!("{error:#}");
            return match run_of(args.command.as_ref()) {
                Some(run) => ended_early(run, Exit::Usage, &why),
                None => gateway::usage(&why),
            };
        }
    };
    if let Some(run) = run_of(args.command.as_ref())
        && let Some(why) = unknown_source(&bootstrap, run)
    {
        return ended_early(run, Exit::Usage, &why);
    }
    if args.command.is_some() {
        crate::config::log::on_failure(|problem| output::complain(&format!("lisle: {problem}")));
    }
    match args.command {
        Some(command) => dispatch(bootstrap, command, there, linear).await,
        None => app(bootstrap, runtime::gateway::EngineChoice::of_home(no_gateway), prompt, linear).await,
    }
}

/// Ends a run before it began.
fn ended_early(run: &RunArgs, exit: Exit, why: &str) -> Exit {
    output::complain(&format!("lisle: {why}"));
    run_output::RunPrinter::ended_early(&run.output, exit, Duration::ZERO)
}

/// Error for a rule of a run about a source that is not there.
fn unknown_source(bootstrap: &Bootstrap, run: &RunArgs) -> Option<String> {
    let rules = run_rules::rules(&run.limits.allow, &run.limits.deny).ok()?;
    let any = rules.iter().any(|rule| rule.tool.starts_with(TOOL_PREFIX));
    any.then(|| run_rules::unknown_source(&rules, &bootstrap.rules().sources().read(bootstrap.cwd())))?
}

/// Does a command. `wanted`: session, workspace and properties of new sessions, also of another machine.
async fn dispatch(
    mut bootstrap: Bootstrap,
    command: CliCommand,
    wanted: runtime::setup::StartRequest,
    linear: Option<bool>,
) -> Exit {
    if complains(&command) {
        complain_of(&bootstrap);
    }
    match command {
        CliCommand::Run(run) => {
            bootstrap.find_servers().await;
            headless::run(bootstrap, engine(&wanted), *run).await
        }
        CliCommand::Pattern(PatternCommand::Run(run)) => {
            bootstrap.find_servers().await;
            let PatternRun { name, mut run } = *run;
            run.input.pattern = Some(name);
            headless::run(bootstrap, engine(&wanted), run).await
        }
        CliCommand::Pattern(command) => prompts::patterns(&bootstrap, command),
        CliCommand::Context(command) => prompts::contexts(&bootstrap, command).await,
        CliCommand::Strategy(command) => prompts::strategies(&bootstrap, command),
        CliCommand::Sessions(command) => sessions::run(&bootstrap, command),
        CliCommand::Share(args) => share::run(&bootstrap, &args).await,
        CliCommand::Audit(args) => audit::run(&bootstrap, &args),
        CliCommand::Usage(args) => usage::run(&bootstrap, &args),
        CliCommand::Permissions(command) => permissions::run(&bootstrap, command),
        CliCommand::Sources(command) => sources::run(&bootstrap, command).await,
        CliCommand::Extensions(command) => extensions::run(&bootstrap, command),
        CliCommand::Auth(command) => auth::run(&bootstrap, command).await,
        CliCommand::Doctor(args) if args.what == Some(DoctorCommand::Keys) => inspect_keys(bootstrap).await,
        CliCommand::Doctor(args) => doctor::run(&bootstrap, &args),
        CliCommand::Labels(command) => definitions::labels(&bootstrap, command),
        CliCommand::Statuses(command) => definitions::statuses(&bootstrap, command),
        CliCommand::Views(command) => definitions::views(&bootstrap, command),
        CliCommand::Serve(args) => gateway::serve(bootstrap, args).await,
        CliCommand::Gateway(command) => gateway::run(&bootstrap, command).await,
        CliCommand::Channel(command) => channel::run(&bootstrap, command).await,
        CliCommand::Ssh(args) => ssh(bootstrap, &args.host, wanted, linear).await,
        CliCommand::Config(command) => configuration::config(&bootstrap, command).await,
        CliCommand::Themes(command) => configuration::themes(&bootstrap, command),
        CliCommand::Keys(command) => configuration::keys(&bootstrap, command),
        CliCommand::Help(args) => help::run(&args),
        // Done before anything was read.
        CliCommand::ResetTerminal | CliCommand::Completions(_) | CliCommand::Man(_) | CliCommand::Schema(_) => {
            Exit::Done
        }
    }
}

/// Engine of a run.
fn engine(wanted: &runtime::setup::StartRequest) -> runtime::gateway::EngineChoice {
    runtime::gateway::EngineChoice::of_home(wanted.no_gateway)
}

/// Decides if problems of the configuration are told before a command. Others show them themselves, or run the gateway.
fn complains(command: &CliCommand) -> bool {
    !matches!(
        command,
        CliCommand::Doctor(_)
            | CliCommand::Serve(_)
            | CliCommand::Gateway(_)
            | CliCommand::Ssh(_)
            | CliCommand::Config(_)
            | CliCommand::Themes(_)
            | CliCommand::Keys(_)
    )
}

/// Runs the app with the sessions of another machine.
async fn ssh(bootstrap: Bootstrap, host: &str, wanted: runtime::setup::StartRequest, linear: Option<bool>) -> Exit {
    let command = match runtime::gateway::machine(&bootstrap, host) {
        Ok(command) => command,
        Err(why) => return gateway::usage(&why),
    };
    let machine = runtime::gateway::RemoteMachine { command, wanted };
    app(bootstrap, runtime::gateway::EngineChoice::Machine(Box::new(machine)), None, linear).await
}

/// The arguments of a run.
fn run_of(command: Option<&CliCommand>) -> Option<&RunArgs> {
    match command? {
        CliCommand::Run(run) => Some(run),
        CliCommand::Pattern(PatternCommand::Run(run)) => Some(&run.run),
        _ => None,
    }
}

/// Shows what the terminal sends for each key.
async fn inspect_keys(mut bootstrap: Bootstrap) -> Exit {
    let mut problems = std::mem::take(&mut bootstrap.problems);
    let keys = runtime::keymap(&bootstrap, &mut problems);
    bootstrap.problems = problems;
    complain_of(&bootstrap);
    match runtime::inspect(keys).await {
        Ok(()) => Exit::Done,
        Err(error) => {
            output::complain(&format!("lisle: {error}"));
            Exit::Failed
        }
    }
}

/// Runs the app, on the screen or in lines.
async fn app(
    mut bootstrap: Bootstrap,
    engine: runtime::gateway::EngineChoice,
    prompt: Option<String>,
    linear: Option<bool>,
) -> Exit {
    if !output::is_open() {
        return Exit::Failed;
    }
    bootstrap.find_servers().await;
    match runtime::app(bootstrap, engine, prompt, linear).await {
        Ok(left) => {
            if let Some(resume) = &left.resume {
                output::say(&format!("Resume this session with:  lisle --session {resume}\n"));
            }
            let words = left.words();
            words.iter().for_each(|words| output::complain(&format!("lisle: {words}")));
            if words.is_empty() { Exit::Done } else { Exit::Failed }
        }
        Err(error) => {
            output::complain(&format!("lisle: {error:#}"));
            Exit::Failed
        }
    }
}

/// Mistakes in the configuration go to stderr where there is no screen to show them on.
fn complain_of(bootstrap: &Bootstrap) {
    for problem in &bootstrap.problems {
        output::complain(&problem.to_string());
    }
}
