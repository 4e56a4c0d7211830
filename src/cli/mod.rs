//! The command line: arguments, the headless `run`, and all that can be done to sessions without a screen: `sessions`
//! looks at them, `change` changes them, `auth` has the keys of connections, `definitions` has what the workspace defines. The app itself is `runtime`'s.

pub mod args;
mod audit;
mod auth;
mod change;
mod definitions;
mod doctor;
mod exit;
mod gateway;
mod headless;
mod help;
mod output;
mod permissions;
mod prompt;
mod search;
mod sessions;
mod share;
mod usage;

use crate::runtime;
use args::{Args, CliCommand, DoctorCommand};
use clap::Parser;
pub use exit::Exit;
use std::process::ExitCode;

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version go to stdout and end with 0, mistakes to stderr and end with 2.
            let wrong = error.use_stderr();
            let _ = error.print();
            return if wrong { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    // Before the configuration is read: it may be what help is needed for.
    if let Some(CliCommand::Help(args)) = &args.command {
        return help::run(args).into();
    }
    if matches!(args.command, Some(CliCommand::ResetTerminal)) {
        // Of a pipe there is nothing to set.
        let _ = runtime::tty::make_lines(std::io::stdin());
        output::put(&runtime::terminal::reset());
        return Exit::Done.into();
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
    let exit = if output::is_lost() && exit == Exit::Done { Exit::Failed } else { exit };
    exit.into()
}

async fn start(args: Args, prompt: Option<String>) -> Exit {
    let linear = args.wants_lines();
    let no_gateway = args.common.no_gateway;
    let mut wanted: runtime::setup::StartRequest = args.common.into();
    // The app continues in the last workspace; a script does not depend on it.
    wanted.last_workspace = args.command.is_none();
    // Of another machine, where they are looked for.
    let elsewhere = matches!(args.command, Some(CliCommand::Ssh(_)));
    let (workspace, cwd) = if elsewhere { (wanted.workspace.take(), wanted.cwd.take()) } else { (None, None) };
    let mut bootstrap = match runtime::setup::Bootstrap::prepare(wanted) {
        Ok(bootstrap) => bootstrap,
        Err(error) => {
            output::complain(&format!("lisle: {error:#}"));
            return Exit::Usage;
        }
    };
    if args.command.is_some() {
        crate::config::log::on_failure(|problem| output::complain(&format!("lisle: {problem}")));
    }
    match args.command {
        Some(CliCommand::Run(run)) => {
            complain_of(&bootstrap);
            bootstrap.find_servers().await;
            headless::run(bootstrap, run).await
        }
        Some(CliCommand::Sessions(command)) => {
            complain_of(&bootstrap);
            sessions::run(&bootstrap, command)
        }
        Some(CliCommand::Audit(args)) => {
            complain_of(&bootstrap);
            audit::run(&bootstrap, &args)
        }
        Some(CliCommand::Usage(args)) => {
            complain_of(&bootstrap);
            usage::run(&bootstrap, &args)
        }
        Some(CliCommand::Permissions(command)) => {
            complain_of(&bootstrap);
            permissions::run(&bootstrap, command)
        }
        Some(CliCommand::Auth(command)) => {
            complain_of(&bootstrap);
            auth::run(&bootstrap, command).await
        }
        Some(CliCommand::Doctor(args)) if args.what == Some(DoctorCommand::Keys) => inspect_keys(bootstrap).await,
        Some(CliCommand::Doctor(args)) => doctor::run(&bootstrap, &args),
        Some(CliCommand::Labels(command)) => {
            complain_of(&bootstrap);
            definitions::labels(&bootstrap, command)
        }
        Some(CliCommand::Statuses(command)) => {
            complain_of(&bootstrap);
            definitions::statuses(&bootstrap, command)
        }
        Some(CliCommand::Serve(args)) => gateway::serve(bootstrap, args).await,
        Some(CliCommand::Gateway(command)) => gateway::run(&bootstrap, command).await,
        Some(CliCommand::Ssh(args)) => {
            let command = match runtime::gateway::machine(&bootstrap, &args.host) {
                Ok(command) => command,
                Err(why) => return gateway::usage(&why),
            };
            let machine = runtime::gateway::RemoteMachine { command, workspace, cwd };
            app(bootstrap, runtime::gateway::EngineChoice::Machine(Box::new(machine)), None, linear).await
        }
        // Done above.
        Some(CliCommand::ResetTerminal) => Exit::Done,
        Some(CliCommand::Help(args)) => help::run(&args),
        Some(CliCommand::Views(command)) => {
            complain_of(&bootstrap);
            definitions::views(&bootstrap, command)
        }
        None => app(bootstrap, runtime::gateway::EngineChoice::of_home(no_gateway), prompt, linear).await,
    }
}

/// Shows what the terminal sends for each key.
async fn inspect_keys(mut bootstrap: runtime::setup::Bootstrap) -> Exit {
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
    mut bootstrap: runtime::setup::Bootstrap,
    engine: runtime::gateway::EngineChoice,
    prompt: Option<String>,
    linear: Option<bool>,
) -> Exit {
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
fn complain_of(bootstrap: &runtime::setup::Bootstrap) {
    for problem in &bootstrap.problems {
        output::complain(&problem.to_string());
    }
}
