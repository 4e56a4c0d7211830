//! The commands that are written as messages: `/new`, `/rename`, … What they do is in `update::slash`.

use crate::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, JobAction, ListAction, ModeAction, ModelAction,
    PaneAction, SessionAction, TurnAction, UndoAction,
};

macro_rules! commands {
    ($( $name:ident $word:literal $usage:literal $desc:literal $action:expr; )+) => {
        /// A command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Slash { $( #[doc = $desc] $name ),+ }

        impl Slash {
            /// All of them, in the order in which they are offered.
            pub const ALL: &'static [Slash] = &[$(Slash::$name),+];

            /// Its name without the slash.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Slash::$name => $word),+ }
            }

            /// Arguments that can follow it; empty for none.
            #[must_use]
            pub fn usage(self) -> &'static str {
                match self { $(Slash::$name => $usage),+ }
            }

            /// Description in a few words.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $(Slash::$name => $desc),+ }
            }

            /// Action of the command without arguments.
            #[must_use]
            pub fn action(self) -> Action {
                match self { $(Slash::$name => Action::from($action)),+ }
            }
        }
    };
}

commands! {
    New "new" "" "new session" SessionAction::New;
    Session "session" "[new [NAME]|list|switch WHICH]" "start a new session or switch to another" SessionAction::Switch;
    Search "search" "[WORDS]" "search all sessions" SessionAction::Search;
    Model "model" "[NAME]" "choose the model" ModelAction::Pick;
    Connection "connect" "[NAME [key|--all]]" "add a model, or choose the connection" ModelAction::Connection;
    Mode "mode" "[explore|ask|execute] [--drop-plan]" "choose the permission mode" ModeAction::Pick;
    Explore "explore" "" "switch to Explore: read-only" ModeAction::Explore;
    Ask "ask" "" "switch to Ask to Edit: changes need approval" ModeAction::Ask;
    Execute "execute" "" "switch to Execute: runs without asking" ModeAction::Execute;
    Plan "plan" "[drop]" "answer the pending plan, or view its progress" AnswerAction::Plan;
    Undo "undo" "" "undo the last turn's file changes" UndoAction::Files;
    Redo "redo" "" "redo undone file changes" UndoAction::Redo;
    Diff "diff" "" "file changes of this session" UndoAction::Changes;
    Rewind "rewind" "" "rewind to an earlier message" SessionAction::Rewind;
    Branch "branch" "[NAME]" "new session with the conversation so far" SessionAction::Branch;
    Compact "compact" "[WHAT TO KEEP]" "summarize to free context" TurnAction::Compact;
    Context "context" "[list|detail|use NAME|none]" "context: contents and size, or use a named one" SessionAction::Context;
    Usage "usage" "" "usage: tokens and cost" SessionAction::Usage;
    Status "status" "[STATUS]" "session state, or set its workflow status" SessionAction::Status;
    Rename "rename" "[TITLE]" "rename this session" SessionAction::Rename;
    Title "title" "[TITLE]" "regenerate or set the title" SessionAction::Retitle;
    Label "label" "[LABEL[::VALUE]]" "add or remove labels" SessionAction::Labels;
    Flag "flag" "" "flag or unflag" SessionAction::Flag;
    Archive "archive" "" "archive or unarchive" SessionAction::Archive;
    ArchivedOnes "archived" "" "list archived sessions, or leave them" ListAction::Archived;
    Unarchive "unarchive" "" "unarchive" SessionAction::Unarchive;
    Unread "unread" "" "mark as read or unread" SessionAction::Unread;
    Hide "hide" "" "hide from the list, or show again" SessionAction::Hide;
    Inbox "inbox" "" "inbox: requests from all sessions" AnswerAction::Inbox;
    Queue "queue" "" "queued messages: edit, move, delete" ComposerAction::Queue;
    Stop "stop" "" "stop the turn" TurnAction::Stop;
    Retry "retry" "" "retry the failed request" TurnAction::Retry;
    Jobs "jobs" "" "background jobs: view or stop" JobAction::List;
    Attach "attach" "PATH…" "attach files" ComposerAction::Attach;
    Copy "copy" "[last|code N|all|ID]" "copy the last response, a code block, or everything" ChatAction::Copy;
    Export "export" "[PATH] [--format md|html|json|text|openclaw]" "export the conversation to a file" SessionAction::Export;
    Share "share" "" "share by an address, or as an HTML page" SessionAction::Share;
    Unshare "unshare" "" "revoke the addresses of this session" SessionAction::Unshare;
    Import "import" "[PATH]" "import a session from another program" SessionAction::Import;
    Settings "settings" "" "view or change settings" AppAction::Settings;
    Theme "theme" "[NAME]" "choose a theme" AppAction::Theme;
    Reset "reset" "" "archive this session and start over" SessionAction::Reset;
    Worktree "worktree" "" "new session in its own git worktree" SessionAction::Worktree;
    Parent "parent" "" "go to the parent session (spawned or branched from)" SessionAction::Parent;
    Child "child" "" "go to a spawned session" SessionAction::Child;
    Clear "clear" "" "clear all messages" SessionAction::Clear;
    Delete "delete" "[--now]" "move this session to the trash" SessionAction::Delete;
    Trash "trash" "" "view or restore deleted sessions" SessionAction::Trash;
    Cwd "cwd" "[DIR]" "change the working directory" SessionAction::Cwd;
    Health "health" "[repair]" "check this session's files" SessionAction::Health;
    Audit "audit" "" "audit log: tool calls and who allowed them" SessionAction::Audit;
    Permissions "permissions" "" "view or revoke the rules" SessionAction::Rules;
    Sources "sources" "" "sources: servers and their tools, on or off" SessionAction::Sources;
    Extensions "extensions" "" "extensions: sources, skills, agents, commands" SessionAction::Extensions;
    Trust "trust" "" "trust this workspace" SessionAction::Trust;
    TakeOver "takeover" "" "take over the session from another process" SessionAction::TakeOver;
    Workspace "workspace" "[[new] NAME or FOLDER]" "switch to another workspace, or create one" SessionAction::Workspace;
    Thinking "thinking" "[off|low|medium|high|xhigh|max]" "choose the thinking level" ModelAction::Thinking;
    Steer "steer" "TEXT" "steer: send into the running turn" ComposerAction::Steer;
    Image "image" "" "attach an image from the clipboard" ComposerAction::Image;
    View "view" "" "open an attached file" ComposerAction::OpenFile;
    Density "density" "[lines|tails|full]" "tool output: lines, tails or full" ChatAction::Density;
    Editor "editor" "" "edit the message in $EDITOR" ComposerAction::Editor;
    List "list" "" "toggle the session list" PaneAction::List;
    Focus "focus" "" "toggle full-width conversation" PaneAction::OnlyChat;
    Details "details" "" "toggle the details pane (wide screens)" PaneAction::Details;
    Enhance "enhance" "TEXT" "enhance the draft with names from the repository" ComposerAction::Enhance;
    Doctor "doctor" "" "check this machine's setup" AppAction::Doctor;
    Notices "notices" "" "recent notifications" AppAction::Notices;
    Keys "keys" "" "keys for this pane" AppAction::Help;
    Help "help" "[TOPIC]" "commands and help topics" AppAction::Palette;
    Quit "quit" "" "save and quit" AppAction::Quit;
}

/// Other words for commands, which no menu lists.
const ALIASES: [(&str, &str); 1] = [("connection", "connect")];

/// A command as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Command.
    pub slash: Slash,
    /// Arguments, without blanks around them.
    pub args: String,
}

/// Error: the word is neither a command nor one of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The word after the slash.
    pub word: String,
}

/// Reads a draft as a command. `None`: it is a message. A path (`/etc/hosts`) is one, and so is a lone slash.
#[must_use]
pub fn read(draft: &str) -> Option<Result<Call, Unknown>> {
    let rest = draft.trim_end().strip_prefix('/')?;
    let (word, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
        return None;
    }
    Some(match named(word) {
        Some(slash) => Ok(Call { slash, args: args.trim().to_owned() }),
        None => Err(Unknown { word: word.to_owned() }),
    })
}

/// The command of this word, or of an older word for it.
#[must_use]
pub fn named(word: &str) -> Option<Slash> {
    let lower = word.to_lowercase();
    let lower = ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(lower.as_str(), |(_, word)| word);
    Slash::ALL.iter().copied().find(|slash| slash.word() == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_read() {
        let call = |slash, args: &str| Some(Ok(Call { slash, args: args.to_owned() }));
        assert_eq!(read("/new"), call(Slash::New, ""));
        assert_eq!(read("/rename  A title \n"), call(Slash::Rename, "A title"));
        assert_eq!(read("/MODE explore"), call(Slash::Mode, "explore"));
        for message in ["", "hello", " /new", "/", "/etc/hosts is odd", "// note", "/ new"] {
            assert_eq!(read(message), None, "{message}");
        }
        let wrong = Unknown { word: "modle".to_owned() };
        assert_eq!(read("/modle x"), Some(Err(wrong)));
    }

    fn is_emacs(action: Action) -> bool {
        use ComposerAction::{Capital, Lower, Transpose, Upper};
        use ComposerAction::{Mark, MarkAll, MarkCopy, MarkCut, MarkSwap, YankPop};
        let marks = matches!(action, Action::Composer(Mark | MarkAll | MarkCopy | MarkCut | MarkSwap | YankPop));
        marks || matches!(action, Action::Composer(Capital | Lower | Transpose | Upper))
    }

    #[test]
    fn every_action_is_reached_without_alt_f_and_shift() {
        let slashed: Vec<Action> = Slash::ALL.iter().map(|slash| slash.action()).collect();
        for name in crate::keymap::names() {
            let table = crate::keymap::load_style(name).unwrap().table;
            let lost: Vec<&str> = Action::ALL
                .iter()
                // Modal editing is for keymaps that have it; a capital letter is a verb of its own there.
                .filter(|action| !matches!(action, Action::Vim(_)))
                // Marking after emacs is for its keymap.
                .filter(|action| name == "emacs" || !is_emacs(**action))
                .filter(|action| {
                    let pressed = table
                        .keys_of(**action)
                        .any(|b| crate::keymap::check::plain(&b.keys) && action.lives_in(b.context));
                    !pressed && !slashed.contains(action)
                })
                .map(|action| action.name())
                .collect();
            assert_eq!(lost, Vec::<&str>::new(), "{name}");
        }
    }
}
