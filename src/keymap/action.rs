//! Every verb that can be bound to a key: one table for the keymap, help, the palette and the manual.
//!
//! `app::update` implements the verbs; `table` assigns keys to them.

/// A place in which keys have a meaning of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Everywhere, after the other places.
    Global,
    /// The list of sessions.
    List,
    /// The conversation.
    Chat,
    /// The composer.
    Composer,
    /// Completions above the draft: commands and their arguments, files, sessions, labels.
    Slash,
    /// The composer while keys are typed, in a keymap of modes (vim). The keys of the composer hold there too.
    Insert,
    /// The composer while keys are verbs.
    Normal,
    /// The composer while something is marked; the keys of `normal` hold there too.
    Visual,
    /// The composer while an operator waits for a motion; the keys of `normal` hold there too.
    Operator,
    /// An approval that has the focus.
    Approval,
    /// A plan that has the focus.
    Plan,
    /// A question that has the focus.
    Question,
    /// A text asked for by a panel or an overlay.
    Input,
    /// A picker, the palette among them.
    Picker,
    /// Rows to choose from: inbox, trash, audit, usage, jobs, queue, rules.
    Inbox,
    /// One-line input: search in the conversation, filter of the list, title, prompt.
    Search,
    /// A page to read: the keys of a place.
    Help,
    /// A yes-or-no question of lisle's own.
    Confirm,
    /// The search over all sessions; the keys of a picker hold there too.
    Find,
    /// The health of a session's files; the keys of a page to read hold there too.
    Health,
    /// Preview of an undo of files; the keys of the inbox list apply, too.
    Undo,
    /// Changes of a session; the keys of a page to read apply, too.
    Changes,
    /// The rules of the permissions; the keys of a list hold there too.
    Rules,
    /// The commands in the background; the keys of a list hold there too.
    Jobs,
    /// The messages that wait; the keys of a list hold there too.
    Queue,
}

impl Context {
    /// True where letters are text and not keys: one place says so, for typing and for pasting.
    #[must_use]
    pub fn takes_text(self) -> bool {
        [Context::Input, Context::Picker, Context::Search, Context::Find].contains(&self)
    }

    /// All of them.
    pub const ALL: &'static [Context] = &[
        Context::Global,
        Context::List,
        Context::Chat,
        Context::Composer,
        Context::Slash,
        Context::Insert,
        Context::Normal,
        Context::Visual,
        Context::Operator,
        Context::Approval,
        Context::Plan,
        Context::Question,
        Context::Input,
        Context::Picker,
        Context::Inbox,
        Context::Search,
        Context::Help,
        Context::Confirm,
        Context::Find,
        Context::Health,
        Context::Undo,
        Context::Changes,
        Context::Rules,
        Context::Jobs,
        Context::Queue,
    ];

    /// Its name in keymap files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Context::Global => "global",
            Context::List => "list",
            Context::Chat => "chat",
            Context::Composer => "composer",
            Context::Slash => "slash",
            Context::Insert => "insert",
            Context::Normal => "normal",
            Context::Visual => "visual",
            Context::Operator => "operator",
            Context::Approval => "approval",
            Context::Plan => "plan",
            Context::Question => "question",
            Context::Input => "input",
            Context::Picker => "picker",
            Context::Inbox => "inbox",
            Context::Search => "search",
            Context::Help => "help",
            Context::Confirm => "confirm",
            Context::Find => "find",
            Context::Health => "health",
            Context::Undo => "undo",
            Context::Changes => "changes",
            Context::Rules => "rules",
            Context::Jobs => "jobs",
            Context::Queue => "queue",
        }
    }

    /// The place in words, as a heading over its keys.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Context::Global => "Everywhere",
            Context::List => "Session list",
            Context::Chat => "Conversation",
            Context::Composer => "Composer",
            Context::Slash => "Completion",
            Context::Insert => "Insert mode",
            Context::Normal => "Normal mode",
            Context::Visual => "Visual mode",
            Context::Operator => "After d, c and y",
            Context::Approval => "Approval",
            Context::Plan => "Plan",
            Context::Question => "Question",
            Context::Input => "Answer field",
            Context::Picker => "Picker",
            Context::Inbox => "Inbox",
            Context::Search => "Find",
            Context::Help => "Reader",
            Context::Confirm => "Yes/no dialog",
            Context::Find => "Search all sessions",
            Context::Health => "Session health",
            Context::Undo => "Undo",
            Context::Changes => "Changed files",
            Context::Rules => "Permission rules",
            Context::Queue => "Queue",
            Context::Jobs => "Background jobs",
        }
    }

    /// The context of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|context| context.word() == text)
    }
}

macro_rules! actions {
    ($( $(#[$tdoc:meta])* $topic:ident $enum:ident $word:literal {
        $( $name:ident $verb:literal $desc:literal [$($ctx:ident)+]; )+
    } )+) => {
        /// A verb, by topic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action { $( $(#[$tdoc])* $topic($enum) ),+ }

        $(
            $(#[$tdoc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum $enum { $( #[doc = $desc] $name ),+ }

            impl From<$enum> for Action {
                fn from(verb: $enum) -> Self { Action::$topic(verb) }
            }
        )+

        impl Action {
            /// All of them, by topic.
            pub const ALL: &'static [Action] = &[$($(Action::$topic($enum::$name)),+),+];

            /// `session.new`: what keymap files say.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($(Action::$topic($enum::$name) => concat!($word, ".", $verb)),+),+ }
            }

            /// Description in a few words.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self { $($(Action::$topic($enum::$name) => $desc),+),+ }
            }

            /// Contexts in which it has a meaning. One with `Global` has it everywhere.
            #[must_use]
            pub fn contexts(self) -> &'static [Context] {
                match self { $($(Action::$topic($enum::$name) => &[$(Context::$ctx),+]),+),+ }
            }
        }
    };
}

actions! {
    /// Sessions as a whole.
    Session SessionAction "session" {
        New "new" "new session" [Global];
        Worktree "worktree" "new session in its own git worktree and branch" [Global];
        Rename "rename" "rename the session" [Global];
        Switch "switch" "switch session by title" [Global];
        Next "next" "next session in the list" [Global];
        Previous "previous" "previous session in the list" [Global];
        Position "position" "session by its number in the list (the digit pressed)" [Global];
        Search "search" "search all sessions" [Global];
        Status "status" "set the status" [Global];
        Labels "labels" "add or remove labels" [Global];
        Flag "flag" "toggle the flag" [Global];
        Archive "archive" "archive or unarchive" [Global];
        Unarchive "unarchive" "unarchive the session" [Global];
        Reset "reset" "archive the session and start over with its settings" [Global];
        Unread "unread" "mark as read or unread" [Global];
        Hide "hide" "hide the session (filter `is:hidden`)" [Global];
        Branch "branch" "branch here: new session with the conversation so far" [Global];
        Parent "parent" "go to the parent session (spawned or branched from)" [Global];
        Child "child" "go to a spawned session: waiting or running first" [Global];
        Retitle "retitle" "regenerate the title" [Global];
        Rewind "rewind" "rewind to an earlier message; this session stays" [Global];
        Clear "clear" "clear all messages" [Global];
        Export "export" "export the conversation to a file" [Global];
        Share "share" "share by an address, or as an HTML page" [Global];
        Unshare "unshare" "revoke the addresses of this session" [Global];
        Import "import" "import a session from another program" [Global];
        Delete "delete" "move the session to the trash" [Global];
        Trash "trash" "trash: restore deleted sessions" [Global];
        Health "health" "health: check and repair the session's files" [Global];
        Audit "audit" "audit log: tool calls and who allowed them" [Global];
        Context "context" "context: contents and size" [Global];
        Usage "usage" "usage: tokens and cost of requests" [Global];
        Rules "rules" "permission rules: view or revoke" [Global];
        Sources "sources" "sources: servers whose tools the agent calls" [Global];
        Extensions "extensions" "extensions: sources, skills, agents and commands" [Global];
        Trust "trust" "trust this workspace" [Global];
        Cwd "cwd" "change the working directory" [Global];
        TakeOver "take_over" "take over a session held by another process" [Global];
        Workspace "workspace" "switch workspace" [Global];
    }
    /// The turn that runs.
    Turn TurnAction "turn" {
        Stop "stop" "stop the turn" [Global];
        Retry "retry" "retry the failed request" [Global];
        Compact "compact" "summarize to free context" [Global];
    }
    /// Permission modes.
    Mode ModeAction "mode" {
        Next "next" "next permission mode" [Global];
        Pick "pick" "choose the permission mode" [Global];
        Explore "explore" "switch to Explore: read-only" [Global];
        Ask "ask" "switch to Ask to Edit: changes need approval" [Global];
        Execute "execute" "switch to Execute: runs without asking" [Global];
    }
    /// Models, connections and thinking levels.
    Model ModelAction "model" {
        Pick "pick" "choose the model" [Global];
        Thinking "thinking" "choose the thinking level" [Global];
        Connection "connection" "connections: choose one or enter its key" [Global];
    }
    /// The text being written.
    Composer ComposerAction "composer" {
        Send "send" "send; while a turn runs, queue" [Composer];
        Steer "steer" "steer: send into the running turn" [Composer];
        Newline "newline" "new line" [Composer Input];
        Left "left" "left" [Composer Input Picker Search];
        Right "right" "right" [Composer Input Picker Search];
        Up "up" "up; at the edge the last queued or an earlier message" [Composer Input];
        Down "down" "down; at the edge a later message" [Composer Input];
        LineStart "line_start" "to the start of the line" [Composer Input Picker Search];
        LineEnd "line_end" "to the end of the line" [Composer Input Picker Search];
        WordBack "word_back" "previous word" [Composer Input Picker Search];
        WordForward "word_forward" "next word" [Composer Input Picker Search];
        Backspace "backspace" "delete the previous character" [Composer Input Picker Search];
        Delete "delete" "delete the next character" [Composer Input Picker Search];
        KillWord "kill_word" "delete the previous word" [Composer Input Picker Search];
        KillWordForward "kill_word_forward" "delete the next word" [Composer Input Picker Search];
        KillToStart "kill_to_start" "delete to the start of the line" [Composer Input Picker Search];
        KillToEnd "kill_to_end" "delete to the end of the line" [Composer Input Picker Search];
        Yank "yank" "paste the last deletion" [Composer Input Picker Search];
        YankPop "yank_pop" "after a paste: swap in the previous deletion" [Composer Input];
        Mark "mark" "start or end the selection" [Composer Input];
        MarkAll "mark_all" "select the whole text" [Composer Input];
        MarkSwap "mark_swap" "to the other end of the selection" [Composer Input];
        MarkCut "mark_cut" "cut the selection, or the previous word" [Composer Input];
        MarkCopy "mark_copy" "copy the selection" [Composer Input];
        Transpose "transpose" "transpose characters" [Composer Input];
        Upper "upper" "uppercase the next word" [Composer Input];
        Lower "lower" "lowercase the next word" [Composer Input];
        Capital "capital" "capitalize the next word" [Composer Input];
        First "first" "to the start of the text" [Composer Input];
        Last "last" "to the end of the text" [Composer Input];
        Undo "undo" "undo in the text" [Composer Input];
        Redo "redo" "redo in the text" [Composer Input];
        Editor "editor" "edit the text in $EDITOR" [Composer];
        Enhance "enhance" "enhance the draft with names from the repository" [Composer];
        OpenPaste "open_paste" "expand the pasted text at the caret" [Composer];
        Attach "attach" "attach files" [Global];
        Image "image" "attach an image from the clipboard" [Global];
        OpenFile "open_file" "open an attached file" [Global];
        History "history" "search sent messages" [Composer];
        Queue "queue" "queued messages: edit, move, delete" [Global];
    }
    /// Modal editing of the draft, for keymaps with modes.
    Vim VimAction "vim" {
        Normal "normal" "normal mode; ends the selection and a started verb" [Insert Normal Visual Operator];
        Digit "digit" "a digit of a count" [Normal Visual Operator];
        Left "left" "left" [Normal Visual Operator];
        Right "right" "right" [Normal Visual Operator];
        Up "up" "up; at the edge an earlier message" [Normal Visual Operator];
        Down "down" "down; at the edge a later message" [Normal Visual Operator];
        Word "word" "to the next word" [Normal Visual Operator];
        WordBack "word_back" "previous word" [Normal Visual Operator];
        WordEnd "word_end" "to the end of the word" [Normal Visual Operator];
        BigWord "big_word" "to the next space-separated word" [Normal Visual Operator];
        BigWordBack "big_word_back" "back a space-separated word" [Normal Visual Operator];
        BigWordEnd "big_word_end" "to the end of a space-separated word" [Normal Visual Operator];
        LineStart "line_start" "to the start of the line" [Normal Visual Operator];
        FirstSign "first_sign" "to the first character of the line" [Normal Visual Operator];
        LineEnd "line_end" "to the end of the line" [Normal Visual Operator];
        FirstLine "first_line" "to the first line, or to line COUNT" [Normal Visual Operator];
        LastLine "last_line" "to the last line, or to line COUNT" [Normal Visual Operator];
        Find "find" "to the next character you press" [Normal Visual Operator];
        Till "till" "to before the next character you press" [Normal Visual Operator];
        FindBack "find_back" "back to the character you press" [Normal Visual Operator];
        TillBack "till_back" "back to after the character you press" [Normal Visual Operator];
        FindAgain "find_again" "repeat the last find" [Normal Visual Operator];
        FindAgainBack "find_again_back" "repeat the last find backwards" [Normal Visual Operator];
        Pair "pair" "to the matching bracket" [Normal Visual Operator];
        Inner "inner" "inner word, quotes or brackets (the key you press)" [Visual Operator];
        Around "around" "the same, with its surroundings" [Visual Operator];
        Indent "indent" "indent the lines of the motion; twice: the line" [Normal Visual Operator];
        Outdent "outdent" "outdent the lines of the motion; twice: the line" [Normal Visual Operator];
        Delete "delete" "delete the motion; twice: the line" [Normal Visual Operator];
        Change "change" "change the motion; twice: the line" [Normal Visual Operator];
        Yank "yank" "copy the motion; twice: the line" [Normal Visual Operator];
        DeleteChar "delete_char" "delete the character here" [Normal Visual];
        DeleteCharBack "delete_char_back" "delete the previous character" [Normal Visual];
        DeleteToEnd "delete_to_end" "delete to the end of the line" [Normal Visual];
        ChangeToEnd "change_to_end" "delete to the end of the line and type" [Normal Visual];
        YankLine "yank_line" "copy the line" [Normal Visual];
        Substitute "substitute" "delete the character here and type" [Normal Visual];
        SubstituteLine "substitute_line" "empty the line and type" [Normal Visual];
        Replace "replace" "replace by the character you press" [Normal Visual];
        Case "case" "toggle upper and lower case" [Normal Visual];
        Join "join" "join with the next line" [Normal Visual];
        Put "put" "paste after the caret" [Normal Visual];
        PutBefore "put_before" "paste before the caret" [Normal Visual];
        Undo "undo" "undo" [Normal];
        Redo "redo" "redo" [Normal];
        Again "again" "repeat the last change" [Normal];
        Insert "insert" "type here" [Normal];
        InsertStart "insert_start" "type at the start of the line" [Normal];
        Append "append" "type after the caret" [Normal];
        AppendEnd "append_end" "type at the end of the line" [Normal];
        OpenBelow "open_below" "type on a new line below" [Normal];
        OpenAbove "open_above" "type on a new line above" [Normal];
        Visual "visual" "toggle the selection of characters" [Normal Visual];
        VisualLine "visual_line" "toggle the selection of lines" [Normal Visual];
        Swap "swap" "to the other end of the selection" [Visual];
    }
    /// Completions above the composer.
    Slash SlashAction "slash" {
        Up "up" "the command above" [Slash];
        Down "down" "the command below" [Slash];
        Complete "complete" "complete the command" [Slash];
        Accept "accept" "run the command" [Slash];
    }
    /// The conversation.
    Chat ChatAction "chat" {
        PageUp "page_up" "scroll up a page" [Global];
        PageDown "page_down" "scroll down a page" [Global];
        Top "top" "scroll to the top" [Global];
        End "end" "scroll to the end" [Global];
        LineUp "line_up" "a line up" [Chat];
        LineDown "line_down" "a line down" [Chat];
        Previous "previous" "previous entry" [Chat];
        Next "next" "next entry" [Chat];
        PreviousMessage "previous_message" "previous message of yours" [Chat];
        NextMessage "next_message" "next message of yours" [Chat];
        PreviousTool "previous_tool" "previous tool call" [Chat];
        NextTool "next_tool" "next tool call" [Chat];
        PreviousCode "previous_code" "previous code block" [Chat];
        NextCode "next_code" "next code block" [Chat];
        Fold "fold" "fold or unfold the entry" [Chat];
        Mark "mark" "start or end the selection of lines" [Chat];
        Copy "copy" "copy the selection, else the code block or entry in focus" [Chat];
        CopyCode "copy_code" "copy a code block of the entry; repeat for the next" [Chat];
        Open "open" "open the entry, or its code block in focus, in $PAGER or $EDITOR" [Chat];
        EditFile "edit_file" "edit the file named in the entry, at its line; repeat for the next" [Chat];
        Print "print" "print the conversation to the terminal's scrollback" [Global];
        Beside "beside" "toggle side-by-side diffs" [Global];
        Density "density" "tool output: lines, tails or full" [Global];
        Thinking "thinking" "fold or unfold thinking" [Global];
        Search "search" "search the conversation" [Chat];
        SearchNext "search_next" "next match" [Chat];
        SearchPrevious "search_previous" "previous match" [Chat];
    }
    /// The list of sessions.
    List ListAction "list" {
        Up "up" "up" [List];
        Down "down" "down" [List];
        First "first" "to the first" [List];
        Last "last" "to the last" [List];
        PageUp "page_up" "a page up" [List];
        PageDown "page_down" "a page down" [List];
        Open "open" "open the session" [List];
        New "new" "new session" [List];
        Rename "rename" "rename the selected session" [List];
        Filter "filter" "filter the list" [List];
        Filters "filters" "choose a filter: flagged, unread, archived, a status, a label" [Global];
        All "all" "clear the filter" [Global];
        Archived "archived" "toggle archived sessions" [Global];
        Group "group" "group by date, status, label, directory, or none" [Global];
        Fold "fold" "fold the group" [List];
        Unfold "unfold" "unfold the group" [List];
        FoldAll "fold_all" "collapse / expand all groups" [List];
        Mark "mark" "mark / unmark the session; expand the group" [List];
        MarkRange "mark_range" "toggle marking with the cursor" [List];
        MarkUp "mark_up" "mark and go up" [List];
        MarkDown "mark_down" "mark and go down" [List];
        MarkGroup "mark_group" "mark / unmark the group" [List];
        MarkAll "mark_all" "mark / unmark all listed sessions" [List];
        Undo "undo" "undo the last session change" [Global];
    }
    /// Panes and focus.
    Pane PaneAction "pane" {
        Next "next" "next pane (Tab only with an empty draft)" [Global];
        Swap "swap" "switch between list and chat (narrow screens)" [Global];
        Wider "wider" "widen the list" [Global];
        Narrower "narrower" "narrow the list" [Global];
        List "list" "toggle the session list" [Global];
        Details "details" "toggle the details pane (wide screens)" [Global];
        OnlyChat "only_chat" "toggle full-width conversation" [Global];
    }
    /// Requests of the engine.
    Answer AnswerAction "answer" {
        Focus "focus" "answer the request of this session" [Global];
        Plan "plan" "back to the pending plan" [Global];
        Inbox "inbox" "inbox: requests from all sessions" [Global];
        YesOnce "yes_once" "yes, this once, from the composer" [Global];
        Previous "previous" "previous answer" [Approval Plan Question];
        Next "next" "next answer" [Approval Plan Question];
        Number "number" "answer by number" [Approval Plan Question];
        Confirm "confirm" "give the selected answer" [Approval Plan Question];
        Once "once" "yes, this once" [Approval];
        Session "session" "yes, for this session" [Approval];
        Workspace "workspace" "yes, for this workspace" [Approval];
        No "no" "no" [Approval];
        Reason "reason" "no, with a reason" [Approval];
        Instead "instead" "edit the command first" [Approval];
        PlanToAsk "plan_to_ask" "approve and continue in Ask to Edit" [Plan];
        PlanToExecute "plan_to_execute" "approve and continue in Execute" [Plan];
        PlanCompact "plan_compact" "approve, compact, continue in Ask to Edit" [Plan];
        PlanChanges "plan_changes" "request changes" [Plan];
        PlanEdit "plan_edit" "edit the plan in $EDITOR, then decide" [Plan];
        PlanDecline "plan_decline" "decline the plan" [Plan];
        StepNext "step_next" "next step, or next change of a diff" [Approval Plan];
        StepPrevious "step_previous" "previous step or change" [Approval Plan];
        StepStrike "step_strike" "strike or restore it" [Approval Plan];
        StepComment "step_comment" "comment on the step" [Plan];
        Words "words" "answer with text" [Question];
        Equal "equal" "answer all identical requests (inbox)" [Approval];
        Rules "rules" "edit the rule a lasting approval saves" [Approval];
        Full "full" "toggle full screen" [Approval Plan Question];
        ScrollUp "scroll_up" "scroll the request up" [Approval Plan Question];
        ScrollDown "scroll_down" "scroll the request down" [Approval Plan Question];
        ScrollTop "scroll_top" "to the top of the request, in full screen" [Approval Plan Question];
        ScrollEnd "scroll_end" "to its end, in full screen" [Approval Plan Question];
    }
    /// Lists on top of the screen, and texts asked for.
    Picker PickerAction "picker" {
        Up "up" "up" [Picker Inbox Search Confirm];
        Down "down" "down" [Picker Inbox Search Confirm];
        PageUp "page_up" "a page up" [Picker Inbox Confirm];
        PageDown "page_down" "a page down" [Picker Inbox Confirm];
        Accept "accept" "choose" [Picker Inbox Input Search Confirm];
        Other "other" "the list's second action" [Picker];
    }
    /// The search over all sessions.
    Find FindAction "find" {
        NextSession "next_session" "next session" [Find];
        PreviousSession "previous_session" "previous session" [Find];
    }
    /// Commands in the background.
    Job JobAction "job" {
        List "list" "background jobs: view or stop" [Global];
        Kill "kill" "stop the job" [Jobs];
    }
    /// Messages that wait.
    Queue QueueAction "queue" {
        Edit "edit" "edit the message in the composer" [Queue];
        Earlier "earlier" "move the message up" [Queue];
        Later "later" "move the message down" [Queue];
        Remove "remove" "delete the message, with its files" [Queue];
        Release "release" "resume a paused queue" [Queue];
        File "file" "open a file of the message" [Queue];
    }
    /// The rules of the permissions.
    Rules RulesAction "rules" {
        Remove "remove" "remove the rule" [Rules];
    }
    /// The health of a session's files.
    Health HealthAction "health" {
        Repair "repair" "repair (keeps a backup)" [Health];
        Again "again" "check again" [Health];
    }
    /// Undo of files.
    Undo UndoAction "undo" {
        Files "files" "undo the last turn's file changes" [Global];
        Redo "redo" "redo undone file changes" [Global];
        Changes "changes" "file changes of this session" [Global];
        Tick "tick" "include or skip a changed file" [Undo];
        WithFiles "with_files" "restore files as well" [Confirm];
        NextFile "next_file" "next file" [Changes];
        PreviousFile "previous_file" "previous file" [Changes];
    }
    /// A page to read.
    Help HelpAction "help" {
        Up "up" "a line up" [Help];
        Down "down" "a line down" [Help];
        PageUp "page_up" "a page up" [Help];
        PageDown "page_down" "a page down" [Help];
        Top "top" "to the top" [Help];
        End "end" "to the end" [Help];
    }
    /// The program.
    App AppAction "app" {
        Back "back" "close, return the focus, else stop the turn" [Global];
        Interrupt "interrupt" "save the draft to history; if empty, stop the turn; twice: quit" [Global];
        EndOfInput "end_of_input" "with an empty draft, twice: quit" [Global];
        Palette "palette" "all commands" [Global];
        Help "help" "keys for this pane" [Global];
        HelpIfEmpty "help_if_empty" "keys for this pane, with an empty draft" [Composer List Chat];
        Theme "theme" "choose a theme" [Global];
        Settings "settings" "settings: view or change" [Global];
        Doctor "doctor" "doctor: check this machine's setup" [Global];
        Notices "notices" "recent notifications" [Global];
        Mouse "mouse" "toggle mouse capture" [Global];
        Repaint "repaint" "redraw" [Global];
        Suspend "suspend" "suspend to the shell; fg returns" [Global];
        Quit "quit" "save and quit" [Global];
    }
}

impl Action {
    /// The action of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// True if it has a meaning in `context`.
    #[must_use]
    pub fn lives_in(self, context: Context) -> bool {
        self.contexts().contains(&Context::Global) || self.contexts().contains(&context) || self == BACK
    }
}

const BACK: Action = Action::App(AppAction::Back);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_read_back() {
        let mut seen = HashSet::new();
        for action in Action::ALL {
            assert!(seen.insert(action.name()), "{}", action.name());
            assert_eq!(Action::parse(action.name()), Some(*action));
            assert!(!action.description().is_empty() && !action.contexts().is_empty());
        }
        assert_eq!(Action::parse("session.nwe"), None);
        for context in Context::ALL {
            assert_eq!(Context::parse(context.word()), Some(*context));
        }
    }
}
