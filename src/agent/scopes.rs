//! Scope that each command needs: the one place where it is decided what a client may send. A new command must be named here.

use crate::domain::permission::Mode;
use crate::domain::request::UserAnswer;
use crate::protocol::{Command, EngineCommand, Scope, SessionCommand};

/// Scope that a client needs for a command.
pub(super) fn needed(command: &Command) -> Scope {
    match command {
        Command::Engine(command) => of_engine(command),
        Command::Session { command, .. } => of_session(command),
    }
}

fn of_engine(command: &EngineCommand) -> Scope {
    match command {
        EngineCommand::List
        | EngineCommand::Search { .. }
        | EngineCommand::Trash
        | EngineCommand::Models { .. }
        | EngineCommand::Figures { .. }
        | EngineCommand::Levels { .. }
        | EngineCommand::Audit { .. }
        | EngineCommand::Usage { .. }
        | EngineCommand::Verify { repair: false, .. } => Scope::Read,
        // A directory, and a mode that asks nobody, are the owner's to choose.
        EngineCommand::Create(new) if new.cwd.is_some() || new.mode == Some(Mode::Execute) => Scope::Admin,
        EngineCommand::Create(_)
        | EngineCommand::Change { .. }
        | EngineCommand::Branch { .. }
        | EngineCommand::Restore { .. }
        | EngineCommand::Remember { .. }
        | EngineCommand::Define(_)
        | EngineCommand::Share { .. }
        | EngineCommand::Delete { now: false, .. }
        | EngineCommand::Rewind { files: None, .. } => Scope::Write,
        EngineCommand::Rewind { .. }
        | EngineCommand::Delete { .. }
        | EngineCommand::Verify { .. }
        | EngineCommand::Export { .. }
        | EngineCommand::Import { .. }
        | EngineCommand::Shutdown => Scope::Admin,
    }
}

fn of_session(command: &SessionCommand) -> Scope {
    match command {
        SessionCommand::Open { .. }
        | SessionCommand::Earlier { .. }
        | SessionCommand::OpenAt { .. }
        | SessionCommand::Resume { .. }
        | SessionCommand::Later { .. }
        | SessionCommand::Leave
        | SessionCommand::PlanUndo { .. }
        | SessionCommand::FilesChanged
        | SessionCommand::Context
        | SessionCommand::Rules => Scope::Read,
        SessionCommand::Enhance { .. }
        | SessionCommand::Send { .. }
        | SessionCommand::Steer { .. }
        | SessionCommand::Detach { .. }
        | SessionCommand::Queue(_)
        | SessionCommand::Stop
        | SessionCommand::Cut { .. }
        | SessionCommand::Retry
        | SessionCommand::Compact { .. }
        | SessionCommand::DropPlan
        | SessionCommand::Model { .. }
        | SessionCommand::Thinking(_)
        | SessionCommand::Switch { .. }
        | SessionCommand::UsePrompt { .. }
        | SessionCommand::Rename { .. }
        | SessionCommand::Retitle
        | SessionCommand::Read
        | SessionCommand::KillJob { .. }
        | SessionCommand::Claim
        | SessionCommand::Clear
        | SessionCommand::Draft { .. } => Scope::Write,
        SessionCommand::Mode { mode, .. } => match mode {
            Mode::Execute => Scope::Admin,
            Mode::Explore | Mode::Ask => Scope::Write,
        },
        SessionCommand::Answer { answer, .. } => match answer {
            UserAnswer::Key(_) | UserAnswer::Trust(_) | UserAnswer::Remember { .. } => Scope::Admin,
            UserAnswer::PlanApprove(approval) if approval.mode == Mode::Execute => Scope::Admin,
            UserAnswer::Once
            | UserAnswer::OnceWithout(_)
            | UserAnswer::Instead(_)
            | UserAnswer::No(_)
            | UserAnswer::PlanApprove(_)
            | UserAnswer::PlanEdited(_)
            | UserAnswer::PlanChanges(_)
            | UserAnswer::PlanDecline
            | UserAnswer::Reply(_) => Scope::Approve,
        },
        SessionCommand::Undo { .. }
        | SessionCommand::Forget { .. }
        | SessionCommand::Trust { .. }
        | SessionCommand::AskKey { .. }
        | SessionCommand::Attach { .. }
        | SessionCommand::Type { .. }
        | SessionCommand::StandIn { .. }
        | SessionCommand::Cwd(_)
        | SessionCommand::TakeOver => Scope::Admin,
    }
}
