//! Scope that each command needs: the one place where it is decided what a client may send. A new command must be named here.

use crate::domain::permission::Mode;
use crate::domain::request::UserAnswer;
use crate::protocol::{Command, EngineCommand, Scope, Scopes, SessionCommand};

/// Scope that a client needs for a command.
pub(super) fn needed(command: &Command) -> Scope {
    match command {
        Command::Engine(command) => of_engine(command),
        Command::Session { command, .. } => of_session(command),
    }
}

/// A command as a client of these scopes may mean it: the mode that it leaves out is none that it could not ask for.
/// `usual`: the mode of sessions that name none.
pub(super) fn within(mut command: Command, scopes: &Scopes, usual: Mode) -> Command {
    if let Command::Engine(EngineCommand::Create(new)) = &mut command
        && !scopes.cover(Scope::Admin)
    {
        new.mode.get_or_insert(usual.stricter(Mode::Ask));
    }
    command
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
        | EngineCommand::AddServer { .. }
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
        | SessionCommand::Rules
        | SessionCommand::Sources
        | SessionCommand::Extensions => Scope::Read,
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
            // Another command, or plan, is one of the client's own, as one that it types.
            UserAnswer::Key(_)
            | UserAnswer::Trust(_)
            | UserAnswer::Remember { .. }
            | UserAnswer::Instead(_)
            | UserAnswer::PlanEdited(_) => Scope::Admin,
            UserAnswer::PlanApprove(approval) if approval.mode == Mode::Execute => Scope::Admin,
            UserAnswer::Once
            | UserAnswer::OnceWithout(_)
            | UserAnswer::No(_)
            | UserAnswer::PlanApprove(_)
            | UserAnswer::PlanChanges(_)
            | UserAnswer::PlanDecline
            | UserAnswer::Reply(_) => Scope::Approve,
        },
        SessionCommand::Undo { .. }
        // A source starts a program.
        | SessionCommand::UseSource { .. }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may fail")]
    use super::*;
    use crate::domain::SessionId;
    use crate::domain::ids::RequestId;
    use crate::protocol::NewSession;

    #[test]
    fn a_mode_that_is_left_out_is_none_that_the_client_could_not_ask_for() {
        let write = Scopes::of([Scope::Write]);
        for (scopes, usual, asked, expected) in [
            (&write, Mode::Execute, None, Some(Mode::Ask)),
            (&write, Mode::Explore, None, Some(Mode::Explore)),
            (&write, Mode::Execute, Some(Mode::Explore), Some(Mode::Explore)),
            (&Scopes::all(), Mode::Execute, None, None),
        ] {
            let create = EngineCommand::Create(NewSession { mode: asked, ..NewSession::default() });
            let Command::Engine(EngineCommand::Create(new)) = within(Command::Engine(create), scopes, usual) else {
                panic!("another command");
            };
            assert_eq!(new.mode, expected, "{usual:?} {asked:?}");
        }
    }

    #[test]
    fn a_command_of_its_own_is_the_owners_also_as_an_answer() {
        let id = SessionId::numbered(1);
        let answer = |answer| Command::Session {
            id: id.clone(),
            command: SessionCommand::Answer { request: RequestId::new("r"), answer, shown: None },
        };
        assert_eq!(needed(&answer(UserAnswer::Once)), Scope::Approve);
        assert_eq!(needed(&answer(UserAnswer::Instead("ls".to_owned()))), Scope::Admin);
    }
}
