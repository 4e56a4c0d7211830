//! The commands that are written as messages: `/new`, `/rename`, … What they do is in `update::slash`.

use crate::keymap::action::{
    Action, AnswerAction, AppAction, ChatAction, ComposerAction, JobAction, ModeAction, ModelAction, PaneAction,
    SessionAction, TurnAction, UndoAction,
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
    Session "session" "[new [NAME]|list|switch WHICH]" "a new session, or to another one" SessionAction::Switch;
    Reset "reset" "" "archive this session, start anew with its settings" SessionAction::Reset;
    Worktree "worktree" "" "new session in a git worktree of its own" SessionAction::Worktree;
    Search "search" "[WORDS]" "search all sessions" SessionAction::Search;
    Rename "rename" "[TITLE]" "rename this session" SessionAction::Rename;
    Title "title" "[TITLE]" "let the model make the title anew, or set it" SessionAction::Retitle;
    Status "status" "[STATUS]" "state of this session, or set its workflow status" SessionAction::Status;
    Label "label" "[LABEL[::VALUE]]" "add or take away labels" SessionAction::Labels;
    Flag "flag" "" "flag this session, or no longer" SessionAction::Flag;
    Archive "archive" "" "out of the list, or back in it" SessionAction::Archive;
    Unarchive "unarchive" "" "back in the list" SessionAction::Unarchive;
    Unread "unread" "" "mark as unread, or as read" SessionAction::Unread;
    Hide "hide" "" "never listed but by is:hidden, or listed again" SessionAction::Hide;
    Branch "branch" "[NAME]" "a new session with what was said so far" SessionAction::Branch;
    Parent "parent" "" "to the session that spawned this one, or that it is a branch of" SessionAction::Parent;
    Child "child" "" "to a session that this one spawned" SessionAction::Child;
    Rewind "rewind" "" "go back to an earlier message" SessionAction::Rewind;
    Undo "undo" "" "undo what the last turn changed in files" UndoAction::Files;
    Redo "redo" "" "redo what was undone in files" UndoAction::Redo;
    Diff "diff" "" "what this session changed in files" UndoAction::Changes;
    Clear "clear" "" "take all messages out of this session" SessionAction::Clear;
    Delete "delete" "[--now]" "move this session to the trash" SessionAction::Delete;
    Trash "trash" "" "what was deleted, and take it back" SessionAction::Trash;
    Cwd "cwd" "[DIR]" "change where tools work" SessionAction::Cwd;
    Health "health" "[repair]" "look at this session's files" SessionAction::Health;
    Audit "audit" "" "every tool call, and who let it run" SessionAction::Audit;
    Context "context" "[list|detail]" "what the model is given, and what takes how much" SessionAction::Context;
    Compact "compact" "[WHAT TO KEEP]" "sum up what was said, so that there is room again" TurnAction::Compact;
    Usage "usage" "" "what requests used and cost" SessionAction::Usage;
    Permissions "permissions" "" "the rules in force, and take one back" SessionAction::Rules;
    Trust "trust" "" "let what others wrote here count" SessionAction::Trust;
    TakeOver "takeover" "" "write here, though another process holds it" SessionAction::TakeOver;
    Workspace "workspace" "[[new] NAME or FOLDER]" "switch to another workspace, or create one" SessionAction::Workspace;
    Model "model" "[NAME]" "choose the model" ModelAction::Pick;
    Connection "connect" "[NAME [key|--all]]" "add a model, or choose the connection" ModelAction::Connection;
    Thinking "thinking" "[off|low|medium|high|xhigh|max]" "choose the thinking level" ModelAction::Thinking;
    Mode "mode" "[explore|ask|execute] [--drop-plan]" "choose the permission mode" ModeAction::Pick;
    Explore "explore" "" "go to Explore: read only" ModeAction::Explore;
    Ask "ask" "" "go to Ask to Edit: changes ask" ModeAction::Ask;
    Execute "execute" "" "go to Execute: runs without asking" ModeAction::Execute;
    Plan "plan" "[drop]" "answer the plan that waits, or see how far one is" AnswerAction::Plan;
    Stop "stop" "" "stop the turn" TurnAction::Stop;
    Retry "retry" "" "send the failed request again" TurnAction::Retry;
    Jobs "jobs" "" "commands in the background, and end one" JobAction::List;
    Steer "steer" "TEXT" "send into the running turn" ComposerAction::Steer;
    Attach "attach" "PATH…" "give files along with the message" ComposerAction::Attach;
    Image "image" "" "give the picture of the clipboard along" ComposerAction::Image;
    View "view" "" "open a file of the draft, or of a message" ComposerAction::OpenFile;
    Queue "queue" "" "the messages that wait: edit, move, delete" ComposerAction::Queue;
    Inbox "inbox" "" "all that waits, in every session" AnswerAction::Inbox;
    Copy "copy" "[last|code N|all|ID]" "copy the last answer, a block of code, or all of it" ChatAction::Copy;
    Export "export" "[PATH] [--format md|html|json|text]" "write the conversation to a file" SessionAction::Export;
    Share "share" "" "write the conversation as one page; nothing is sent" SessionAction::Share;
    Import "import" "[PATH]" "a session of another program becomes one here" SessionAction::Import;
    Density "density" "[lines|tails|full]" "how much of tool calls is shown" ChatAction::Density;
    Editor "editor" "" "write the message in $EDITOR" ComposerAction::Editor;
    List "list" "" "hide the list, or show it again" PaneAction::List;
    Focus "focus" "" "only the conversation, or all again" PaneAction::OnlyChat;
    Details "details" "" "hide the details of a wide screen, or show them" PaneAction::Details;
    Enhance "enhance" "TEXT" "rewrite a draft with names of the repository" ComposerAction::Enhance;
    Theme "theme" "[NAME]" "choose the colours" AppAction::Theme;
    Settings "settings" "" "the settings in force, and change them" AppAction::Settings;
    Doctor "doctor" "" "what of this machine can be used, and what is missing" AppAction::Doctor;
    Notices "notices" "" "what was said lately in the last row" AppAction::Notices;
    Keys "keys" "" "the keys of this place" AppAction::Help;
    Help "help" "[TOPIC]" "commands and manual" AppAction::Palette;
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
