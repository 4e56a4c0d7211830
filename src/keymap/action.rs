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
    /// The list of all that waits.
    Inbox,
    /// The search in the conversation.
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
            Context::List => "In the list",
            Context::Chat => "In the conversation",
            Context::Composer => "In the composer",
            Context::Slash => "While something is offered",
            Context::Insert => "While typing",
            Context::Normal => "While keys are verbs",
            Context::Visual => "While something is marked",
            Context::Operator => "Behind d, c and y",
            Context::Approval => "At an approval",
            Context::Plan => "At a plan",
            Context::Question => "At a question",
            Context::Input => "While writing an answer",
            Context::Picker => "In a picker",
            Context::Inbox => "In the inbox",
            Context::Search => "While searching",
            Context::Help => "On a page to read",
            Context::Confirm => "At a yes-or-no question",
            Context::Find => "In the search over all sessions",
            Context::Health => "At a session's health",
            Context::Undo => "At an undo of files",
            Context::Changes => "At a session's changes",
            Context::Rules => "In the permissions",
            Context::Queue => "Among the messages that wait",
            Context::Jobs => "Among the commands in the background",
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
        Worktree "worktree" "new session in a git worktree and branch of its own" [Global];
        Rename "rename" "rename the session" [Global];
        Switch "switch" "find a session by its title" [Global];
        Next "next" "next session of the list" [Global];
        Previous "previous" "previous session of the list" [Global];
        Position "position" "session by its place in the list (the digit pressed)" [Global];
        Search "search" "search all sessions" [Global];
        Status "status" "choose the status" [Global];
        Labels "labels" "choose the labels" [Global];
        Flag "flag" "flag the session, or no longer" [Global];
        Archive "archive" "archive the session, or take it back" [Global];
        Unarchive "unarchive" "take the session back out of the archive" [Global];
        Reset "reset" "archive the session and start anew with its settings" [Global];
        Unread "unread" "mark the session as unread, or as read" [Global];
        Hide "hide" "hide the session; the filter `is:hidden` has it" [Global];
        Branch "branch" "branch off here: a new session with what was said so far" [Global];
        Parent "parent" "to the session that spawned this one, or that it is a branch of" [Global];
        Child "child" "to a session that this one spawned: one that waits or works, else the last" [Global];
        Retitle "retitle" "let the model make the title anew" [Global];
        Rewind "rewind" "go back to an earlier message; this session stays" [Global];
        Clear "clear" "take all messages out of the session" [Global];
        Export "export" "write the conversation to a file" [Global];
        Share "share" "write the conversation as one page, to be given to others" [Global];
        Import "import" "make a session of one of another program" [Global];
        Delete "delete" "move the session to the trash" [Global];
        Trash "trash" "what was deleted, and take it back" [Global];
        Health "health" "look at the session's files, and repair them" [Global];
        Audit "audit" "every tool call, and who let it run" [Global];
        Context "context" "what the model is given, and what takes how much" [Global];
        Usage "usage" "what requests used and cost" [Global];
        Rules "rules" "the rules of the permissions, and take one back" [Global];
        Trust "trust" "what is not trusted here, and trust it" [Global];
        Cwd "cwd" "change the directory where tools work" [Global];
        TakeOver "take_over" "write here, though another process holds the session" [Global];
        Workspace "workspace" "to another workspace" [Global];
    }
    /// The turn that runs.
    Turn TurnAction "turn" {
        Stop "stop" "stop the turn" [Global];
        Retry "retry" "send the failed request again" [Global];
        Compact "compact" "sum up what was said, so that there is room again" [Global];
    }
    /// Permission modes.
    Mode ModeAction "mode" {
        Next "next" "next permission mode" [Global];
        Pick "pick" "choose the permission mode" [Global];
        Explore "explore" "go to Explore: read only" [Global];
        Ask "ask" "go to Ask to Edit: changes ask" [Global];
        Execute "execute" "go to Execute: runs without asking" [Global];
    }
    /// Models, connections and thinking levels.
    Model ModelAction "model" {
        Pick "pick" "choose the model" [Global];
        Thinking "thinking" "choose the thinking level" [Global];
        Connection "connection" "the connections, and give one a key" [Global];
    }
    /// The text being written.
    Composer ComposerAction "composer" {
        Send "send" "send; while a turn runs, queue" [Composer];
        Steer "steer" "send into the running turn" [Composer];
        Newline "newline" "break the line" [Composer Input];
        Left "left" "left" [Composer Input Picker Search];
        Right "right" "right" [Composer Input Picker Search];
        Up "up" "up; at the edge the last queued or an earlier message" [Composer Input];
        Down "down" "down; at the edge a later message" [Composer Input];
        LineStart "line_start" "to the start of the line" [Composer Input Picker Search];
        LineEnd "line_end" "to the end of the line" [Composer Input Picker Search];
        WordBack "word_back" "a word back" [Composer Input Picker Search];
        WordForward "word_forward" "a word forward" [Composer Input Picker Search];
        Backspace "backspace" "delete the character before" [Composer Input Picker Search];
        Delete "delete" "delete the character after" [Composer Input Picker Search];
        KillWord "kill_word" "delete the word before" [Composer Input Picker Search];
        KillWordForward "kill_word_forward" "delete the word after" [Composer Input Picker Search];
        KillToStart "kill_to_start" "delete to the start of the line" [Composer Input Picker Search];
        KillToEnd "kill_to_end" "delete to the end of the line" [Composer Input Picker Search];
        Yank "yank" "put back what was deleted last" [Composer Input Picker Search];
        YankPop "yank_pop" "right after that: what was deleted before it instead" [Composer Input];
        Mark "mark" "mark from here on, or no longer" [Composer Input];
        MarkAll "mark_all" "mark the whole text" [Composer Input];
        MarkSwap "mark_swap" "to the other end of what is marked" [Composer Input];
        MarkCut "mark_cut" "cut what is marked; without a mark the word before" [Composer Input];
        MarkCopy "mark_copy" "keep what is marked, to be put back" [Composer Input];
        Transpose "transpose" "swap the characters before and at the caret" [Composer Input];
        Upper "upper" "the next word in capitals" [Composer Input];
        Lower "lower" "the next word in small letters" [Composer Input];
        Capital "capital" "the next word with a capital" [Composer Input];
        First "first" "to the start of the text" [Composer Input];
        Last "last" "to the end of the text" [Composer Input];
        Undo "undo" "undo in the text" [Composer Input];
        Redo "redo" "redo in the text" [Composer Input];
        Editor "editor" "edit the text in $EDITOR" [Composer];
        Enhance "enhance" "rewrite the draft with names of the repository" [Composer];
        OpenPaste "open_paste" "unfold the pasted text at the caret" [Composer];
        Attach "attach" "give files along with the message" [Global];
        Image "image" "give the picture of the clipboard along" [Global];
        OpenFile "open_file" "open a file of the draft, or of a message" [Global];
        History "history" "search the messages sent earlier" [Composer];
        Queue "queue" "the messages that wait: edit, move, delete" [Global];
    }
    /// Modal editing of the draft, for keymaps with modes.
    Vim VimAction "vim" {
        Normal "normal" "keys are verbs; nothing is begun, nothing is marked" [Insert Normal Visual Operator];
        Digit "digit" "a digit of a count" [Normal Visual Operator];
        Left "left" "left" [Normal Visual Operator];
        Right "right" "right" [Normal Visual Operator];
        Up "up" "up; at the edge an earlier message" [Normal Visual Operator];
        Down "down" "down; at the edge a later message" [Normal Visual Operator];
        Word "word" "to the next word" [Normal Visual Operator];
        WordBack "word_back" "a word back" [Normal Visual Operator];
        WordEnd "word_end" "to the end of the word" [Normal Visual Operator];
        BigWord "big_word" "to the next word between blanks" [Normal Visual Operator];
        BigWordBack "big_word_back" "back to a word between blanks" [Normal Visual Operator];
        BigWordEnd "big_word_end" "to the end of a word between blanks" [Normal Visual Operator];
        LineStart "line_start" "to the start of the line" [Normal Visual Operator];
        FirstSign "first_sign" "to the first sign of the line" [Normal Visual Operator];
        LineEnd "line_end" "to the end of the line" [Normal Visual Operator];
        FirstLine "first_line" "to the first line, or to the one of the count" [Normal Visual Operator];
        LastLine "last_line" "to the last line, or to the one of the count" [Normal Visual Operator];
        Find "find" "to the next character that is pressed then" [Normal Visual Operator];
        Till "till" "to before the next character that is pressed then" [Normal Visual Operator];
        FindBack "find_back" "back to the character that is pressed then" [Normal Visual Operator];
        TillBack "till_back" "back to behind the character that is pressed then" [Normal Visual Operator];
        FindAgain "find_again" "to the next such character" [Normal Visual Operator];
        FindAgainBack "find_again_back" "to such a character the other way" [Normal Visual Operator];
        Pair "pair" "to the bracket that belongs to this one" [Normal Visual Operator];
        Inner "inner" "the word, or what stands between the quotes or brackets, that is pressed then" [Visual Operator];
        Around "around" "the same, with what is about it" [Visual Operator];
        Indent "indent" "move the lines that the motion spans to the right; twice the line" [Normal Visual Operator];
        Outdent "outdent" "move the lines that the motion spans to the left; twice the line" [Normal Visual Operator];
        Delete "delete" "delete what the motion spans; twice the line" [Normal Visual Operator];
        Change "change" "delete and type; twice the line" [Normal Visual Operator];
        Yank "yank" "copy what the motion spans; twice the line" [Normal Visual Operator];
        DeleteChar "delete_char" "delete the character here" [Normal Visual];
        DeleteCharBack "delete_char_back" "delete the character before" [Normal Visual];
        DeleteToEnd "delete_to_end" "delete to the end of the line" [Normal Visual];
        ChangeToEnd "change_to_end" "delete to the end of the line and type" [Normal Visual];
        YankLine "yank_line" "copy the line" [Normal Visual];
        Substitute "substitute" "delete the character here and type" [Normal Visual];
        SubstituteLine "substitute_line" "empty the line and type" [Normal Visual];
        Replace "replace" "replace by the character that is pressed then" [Normal Visual];
        Case "case" "turn capitals into small letters and back" [Normal Visual];
        Join "join" "join with the next line" [Normal Visual];
        Put "put" "put behind here what was cut or copied" [Normal Visual];
        PutBefore "put_before" "put before here what was cut or copied" [Normal Visual];
        Undo "undo" "undo" [Normal];
        Redo "redo" "redo" [Normal];
        Again "again" "do the last change again" [Normal];
        Insert "insert" "type here" [Normal];
        InsertStart "insert_start" "type at the start of the line" [Normal];
        Append "append" "type behind here" [Normal];
        AppendEnd "append_end" "type at the end of the line" [Normal];
        OpenBelow "open_below" "type on a new line below" [Normal];
        OpenAbove "open_above" "type on a new line above" [Normal];
        Visual "visual" "mark characters, or no longer" [Normal Visual];
        VisualLine "visual_line" "mark lines, or no longer" [Normal Visual];
        Swap "swap" "to the other end of what is marked" [Visual];
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
        PageUp "page_up" "scroll the chat a page up" [Global];
        PageDown "page_down" "scroll the chat a page down" [Global];
        Top "top" "scroll the chat to the top" [Global];
        End "end" "scroll the chat to the end" [Global];
        LineUp "line_up" "a line up" [Chat];
        LineDown "line_down" "a line down" [Chat];
        Previous "previous" "to the entry before" [Chat];
        Next "next" "to the next entry" [Chat];
        PreviousMessage "previous_message" "to your message before" [Chat];
        NextMessage "next_message" "to your next message" [Chat];
        PreviousTool "previous_tool" "to the tool call before" [Chat];
        NextTool "next_tool" "to the next tool call" [Chat];
        PreviousCode "previous_code" "to the block of code before" [Chat];
        NextCode "next_code" "to the next block of code" [Chat];
        Fold "fold" "fold or unfold the entry" [Chat];
        Mark "mark" "mark lines from here on, or no longer" [Chat];
        Copy "copy" "copy what is marked, else the block of code or entry in focus" [Chat];
        CopyCode "copy_code" "copy a block of code of the entry; again: the next one" [Chat];
        Open "open" "open the entry, or its block of code in focus, in $PAGER or $EDITOR" [Chat];
        EditFile "edit_file" "edit the file that the entry names, at its line; again: the next one" [Chat];
        Print "print" "print the conversation to the terminal's own scrollback" [Global];
        Beside "beside" "old and new of a change beside each other, or below" [Global];
        Density "density" "how much of tool calls is shown" [Global];
        Thinking "thinking" "fold or unfold thinking" [Global];
        Search "search" "search the conversation" [Chat];
        SearchNext "search_next" "next hit" [Chat];
        SearchPrevious "search_previous" "hit before" [Chat];
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
        Filters "filters" "what is listed: flagged, unread, archived, a status, a label" [Global];
        All "all" "list all again: no filter" [Global];
        Archived "archived" "show the archived sessions, or the others again" [Global];
        Group "group" "group by date, status, label, directory, or not at all" [Global];
        Fold "fold" "fold the group" [List];
        Unfold "unfold" "unfold the group" [List];
        FoldAll "fold_all" "fold all groups, or unfold them" [List];
        Mark "mark" "mark the session, or no longer; unfold the group" [List];
        MarkRange "mark_range" "marks go along with the cursor, or no longer" [List];
        MarkUp "mark_up" "mark and go up" [List];
        MarkDown "mark_down" "mark and go down" [List];
        MarkGroup "mark_group" "mark all of the group, or none" [List];
        MarkAll "mark_all" "mark all that is listed, or none" [List];
        Undo "undo" "undo the last change of sessions" [Global];
    }
    /// Panes and focus.
    Pane PaneAction "pane" {
        Next "next" "next pane (Tab only with an empty draft)" [Global];
        Swap "swap" "list or chat, where only one fits" [Global];
        Wider "wider" "a wider list" [Global];
        Narrower "narrower" "a narrower list" [Global];
        List "list" "hide the list, or show it again" [Global];
        Details "details" "hide the details of a wide screen, or show them again" [Global];
        OnlyChat "only_chat" "only the conversation, or all again" [Global];
    }
    /// Requests of the engine.
    Answer AnswerAction "answer" {
        Focus "focus" "answer what waits here" [Global];
        Plan "plan" "back to the plan that waits" [Global];
        Inbox "inbox" "all that waits, in every session" [Global];
        YesOnce "yes_once" "yes, this once, from the composer" [Global];
        Previous "previous" "the answer before" [Approval Plan Question];
        Next "next" "the next answer" [Approval Plan Question];
        Number "number" "the answer of that number" [Approval Plan Question];
        Confirm "confirm" "give the selected answer" [Approval Plan Question];
        Once "once" "yes, this once" [Approval];
        Session "session" "yes, for this session" [Approval];
        Workspace "workspace" "yes, for this workspace" [Approval];
        No "no" "no" [Approval];
        Reason "reason" "no, and say why" [Approval];
        Instead "instead" "edit the command first" [Approval];
        PlanToAsk "plan_to_ask" "approve, go to Ask to Edit" [Plan];
        PlanToExecute "plan_to_execute" "approve, go to Execute" [Plan];
        PlanCompact "plan_compact" "approve, compact first, go to Ask to Edit" [Plan];
        PlanChanges "plan_changes" "request changes" [Plan];
        PlanEdit "plan_edit" "edit the plan in $EDITOR, then decide" [Plan];
        PlanDecline "plan_decline" "decline the plan" [Plan];
        StepNext "step_next" "to the plan's next step" [Plan];
        StepPrevious "step_previous" "to the plan's step before" [Plan];
        StepStrike "step_strike" "strike the step out, or take it back" [Plan];
        StepComment "step_comment" "say something to the step" [Plan];
        Words "words" "answer in words" [Question];
        Equal "equal" "answer all that ask for the same, in the inbox" [Approval];
        Rules "rules" "change what a yes for longer remembers" [Approval];
        Full "full" "the whole screen for it, or no longer" [Approval Plan Question];
        ScrollUp "scroll_up" "scroll what is asked up" [Approval Plan Question];
        ScrollDown "scroll_down" "scroll what is asked down" [Approval Plan Question];
        ScrollTop "scroll_top" "to the top of what is asked, where it has the whole screen" [Approval Plan Question];
        ScrollEnd "scroll_end" "to its end, where it has the whole screen" [Approval Plan Question];
    }
    /// Lists on top of the screen, and texts asked for.
    Picker PickerAction "picker" {
        Up "up" "up" [Picker Inbox Search];
        Down "down" "down" [Picker Inbox Search];
        PageUp "page_up" "a page up" [Picker Inbox];
        PageDown "page_down" "a page down" [Picker Inbox];
        Accept "accept" "choose" [Picker Inbox Input Search Confirm];
        Other "other" "the other thing that can be done here, as the list says" [Picker];
    }
    /// The search over all sessions.
    Find FindAction "find" {
        NextSession "next_session" "to the next session" [Find];
        PreviousSession "previous_session" "to the session before" [Find];
    }
    /// Commands in the background.
    Job JobAction "job" {
        List "list" "commands in the background, and end one" [Global];
        Kill "kill" "end the command" [Jobs];
    }
    /// Messages that wait.
    Queue QueueAction "queue" {
        Edit "edit" "take the message back into the composer" [Queue];
        Earlier "earlier" "send the message earlier" [Queue];
        Later "later" "send the message later" [Queue];
        Remove "remove" "delete the message, with its files" [Queue];
        Release "release" "let a held queue go" [Queue];
        File "file" "open a file of the message" [Queue];
    }
    /// The rules of the permissions.
    Rules RulesAction "rules" {
        Remove "remove" "remove the rule" [Rules];
    }
    /// The health of a session's files.
    Health HealthAction "health" {
        Repair "repair" "repair what can be; a copy is kept" [Health];
        Again "again" "look again" [Health];
    }
    /// Undo of files.
    Undo UndoAction "undo" {
        Files "files" "undo what the last turn changed in files" [Global];
        Redo "redo" "redo what was undone in files" [Global];
        Changes "changes" "what this session changed in files" [Global];
        Tick "tick" "restore a file that was changed since, or leave it" [Undo];
        WithFiles "with_files" "restore files as well" [Confirm];
        NextFile "next_file" "the next file" [Changes];
        PreviousFile "previous_file" "the file before" [Changes];
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
        Back "back" "close, give the focus back, else stop the turn" [Global];
        Interrupt "interrupt" "draft to history; empty: stop the turn; neither: twice quits" [Global];
        EndOfInput "end_of_input" "with an empty draft twice quits" [Global];
        Palette "palette" "all commands" [Global];
        Help "help" "the keys of this place" [Global];
        HelpIfEmpty "help_if_empty" "the keys of this place, with an empty draft" [Composer List Chat];
        Theme "theme" "choose the colours" [Global];
        Settings "settings" "the settings in force, and change them" [Global];
        Doctor "doctor" "what of this machine lisle can use, and what is missing" [Global];
        Notices "notices" "what was said lately in the last row" [Global];
        Mouse "mouse" "give the mouse to the terminal, or take it back" [Global];
        Repaint "repaint" "draw everything anew" [Global];
        Suspend "suspend" "to the shell; fg comes back" [Global];
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
