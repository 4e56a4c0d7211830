//! The roles that a theme gives styles to. Closed: another role in a theme file is an error.

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// Role of a piece of text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role { $($(#[$doc])* $name),+ }

        impl Role {
            /// All roles, in the order of their numbers.
            pub const ALL: &'static [Role] = &[$(Role::$name),+];

            /// Its name in theme files.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Role::$name => $word),+ }
            }
        }
    };
}

roles! {
    /// Ordinary text, and the background of the screen.
    Text = "text",
    /// Text of less weight: ages, figures, hints.
    Dim = "dim",
    /// The weakest text: rules, gutters, placeholders.
    Faint = "faint",
    /// Emphasis: titles, the selected answer.
    Strong = "strong",
    /// The one accent: the caret's row mark, links to the way on.
    Accent = "accent",
    /// The line between panes.
    Rule = "rule",
    /// The same line beside the pane in focus.
    RuleFocus = "rule-focus",
    /// The row that is selected, while its pane has the focus.
    Selected = "selected",
    /// The row that is selected, while its pane has no focus.
    SelectedDim = "selected-dim",
    /// Request that waits for the user: the only loud role.
    NeedsYou = "needs-you",
    /// Running.
    Running = "running",
    /// Unread.
    Unread = "unread",
    /// Group headings of the list.
    Group = "group",
    /// Explore.
    ModeExplore = "mode-explore",
    /// Ask to Edit.
    ModeAsk = "mode-ask",
    /// Execute.
    ModeExecute = "mode-execute",
    /// The line above a user's message.
    UserHead = "user-head",
    /// A user's message.
    User = "user",
    /// The band that a user's message stands on.
    UserGround = "user-ground",
    /// The line above an answer.
    AssistantHead = "assistant-head",
    /// Thinking.
    Thinking = "thinking",
    /// The verb of a tool line.
    ToolVerb = "tool-verb",
    /// The subject of a tool line.
    ToolSubject = "tool-subject",
    /// Output of a tool.
    ToolOutput = "tool-output",
    /// Success.
    Good = "good",
    /// A warning.
    Warning = "warning",
    /// An error.
    Error = "error",
    /// First headings in markdown.
    Heading = "heading",
    /// Second headings in markdown.
    Heading2 = "heading-2",
    /// Deeper headings in markdown.
    Heading3 = "heading-3",
    /// Emphasised markdown.
    Emphasis = "emphasis",
    /// Strong markdown.
    Bold = "bold",
    /// Code in a line.
    Code = "code",
    /// Code in a block.
    CodeBlock = "code-block",
    /// The ground of a block of code.
    CodeGround = "code-ground",
    /// Keywords in code.
    CodeKeyword = "code-keyword",
    /// Texts in quotes in code.
    CodeString = "code-string",
    /// Comments in code.
    CodeComment = "code-comment",
    /// Numbers in code.
    CodeNumber = "code-number",
    /// Types in code.
    CodeType = "code-type",
    /// Functions in code.
    CodeFunction = "code-function",
    /// Constants, escapes and attributes in code.
    CodeConstant = "code-constant",
    /// Links.
    Link = "link",
    /// Quotes.
    Quote = "quote",
    /// List bullets and table lines.
    Mark = "mark",
    /// An added line.
    DiffAdded = "diff-added",
    /// A removed line.
    DiffRemoved = "diff-removed",
    /// A word that came, in a line that was changed.
    DiffAddedWord = "diff-added-word",
    /// A word that went, in a line that was changed.
    DiffRemovedWord = "diff-removed-word",
    /// A line number or hunk head.
    DiffMeta = "diff-meta",
    /// The ground of panels and overlays.
    Panel = "panel",
    /// The title of a panel.
    PanelTitle = "panel-title",
    /// Keys in hints.
    Key = "key",
    /// A hit of a search or filter.
    Match = "match",
    /// A hit in the conversation, where one looks for it among much text.
    Found = "found",
    /// The status line.
    Status = "status",
}
