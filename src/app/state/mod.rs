//! All that the screen knows, one file a concern.

pub mod audit;
pub mod catalogue;
pub mod chat;
pub mod composer;
pub mod context;
pub mod edit;
pub mod files;
pub mod find;
pub mod focus;
pub mod fuzzy;
pub mod gallery;
pub mod hidden;
pub mod hint;
pub mod mark;
pub mod notices;
pub mod offer;
pub mod open;
pub mod overlay;
pub mod panel;
pub mod panes;
pub mod picker;
pub mod plan;
pub mod rules;
pub mod search;
pub mod sessions;
pub mod usage;
pub mod vim;

use super::intent::Intent;
use super::msg::Frame;
use crate::domain::Notice;
use crate::domain::command::OwnCommand;
use crate::domain::contract::Configured;
use crate::domain::ids::{At, ConnectionName, RequestId, SessionId};
use crate::domain::message::UserText;
use crate::domain::property::Properties;
use crate::domain::request::{Ask, Request};
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::setting::Setting;
use crate::domain::workspace::Workspace;
use crate::keymap::Table;
use crate::keymap::action::Context;
use crate::keymap::key::Key;
use catalogue::Catalogue;
use chat::Density;
use composer::{Composer, History};
use find::{Find, Trail};
pub use focus::{Focus, Shown};
use gallery::Gallery;
use notices::Notices;
use open::Open;
use overlay::Overlay;
use panel::{Panel, Stage};
use panes::Panes;
use search::Search;
use sessions::Sessions;
use sessions::kept::Kept;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

/// Columns and rows of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

/// Abilities and state of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// It has the focus of its window system, as far as is known.
    pub focused: bool,
    /// Its background is dark; `None` while it has not answered.
    pub dark: Option<bool>,
}

/// Keys of an unfinished chord.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chord {
    /// Keys pressed so far; empty when there are none.
    pub keys: Vec<Key>,
    /// The strip of what can follow is to be shown.
    pub strip: bool,
    /// Number of pages turned.
    pub page: u16,
}

/// The way to the end of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quit {
    /// No quit is pending.
    #[default]
    No,
    /// This key pressed once more quits, until the timer runs out.
    OnceMore(Key),
    /// The engine was told to end; its last event is awaited.
    Ending,
}

/// Content of the chat pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Current {
    /// A new session that the engine has not made yet; its composer is [`State::lobby`].
    #[default]
    New,
    /// This session; it is in [`State::open`], perhaps not loaded yet.
    Session(SessionId),
}

/// All that the screen knows.
#[derive(Debug)]
pub struct State {
    /// The keymap in force.
    pub keys: Arc<Table>,
    /// The terminal's size.
    pub size: Size,
    /// The instant of the last message.
    pub now: At,
    /// Local time minus UTC, in seconds.
    pub utc_offset: i32,
    /// Focus of the keys.
    pub focus: Focus,
    /// Pane shown where only one fits.
    pub shown: Shown,
    /// Division of the screen by the user.
    pub panes: Panes,
    /// The line between list and chat is being drawn to a side.
    pub(crate) dragging: bool,
    /// Position under the mouse, for the next mouse message.
    pub(crate) spot: Option<mark::Spot>,
    /// The mouse on the conversation.
    pub(crate) pressed: Option<mark::Pressed>,
    /// The mouse was given to the terminal.
    pub mouse_given: bool,
    /// The list of sessions.
    pub sessions: Sessions,
    /// The sessions whose conversation is loaded or asked for.
    pub open: HashMap<SessionId, Open>,
    /// The sessions of `open`, last used last.
    pub recent: Vec<SessionId>,
    /// Content of the chat pane.
    pub current: Current,
    /// The composer while [`Current::New`].
    pub lobby: Composer,
    /// Messages sent from the lobby, until the engine made the session.
    pub lobby_sent: Vec<UserText>,
    /// Files with pictures of the clipboard that are being copied.
    pub pictures: Vec<PathBuf>,
    /// State of the pictures in conversations.
    pub gallery: Gallery,
    /// Texts sent earlier, from all sessions.
    pub history: History,
    /// Commands of the user's own, those of the shown session's directory among them.
    pub commands: Vec<OwnCommand>,
    /// The commands of repositories whose text the user saw before it was sent, by their hash.
    pub seen_commands: BTreeSet<String>,
    /// Overlays, the topmost last.
    pub overlays: Vec<Overlay>,
    /// The search in the conversation, while it is open.
    pub search: Option<Search>,
    /// The search over all sessions.
    pub find: Find,
    /// The way through the hits of the session that is shown, after one was opened from the results.
    pub trail: Option<Trail>,
    /// Words to the user.
    pub notices: Notices,
    /// Configuration as the engine reported it.
    pub config: Configured,
    /// Statuses, labels and views of the workspace; empty until the engine told them.
    pub properties: Properties,
    /// Models that servers told, or why not.
    pub models: HashMap<ConnectionName, Result<Vec<String>, String>>,
    /// Model catalogue.
    pub catalogue: Catalogue,
    /// The user's settings, once they were asked for.
    pub settings: Vec<Setting>,
    /// Names of the themes.
    pub themes: Vec<String>,
    /// The theme in force; while another one is looked at, the one that comes back.
    pub theme: String,
    /// The theme that is looked at while one is chosen.
    pub(crate) looked_at: Option<String>,
    /// Detail of tool calls, for every session.
    pub density: Density,
    /// Old and new of a change stand below each other however wide the pane is, in every session.
    pub unified: bool,
    /// An unfinished chord.
    pub chord: Chord,
    /// The terminal.
    pub terminal: Terminal,
    /// Time of the last key or paste, initially of the start; the mouse does not count.
    pub last_key: At,
    /// Until then keys are dropped: what they were meant for has just changed under them.
    pub quiet_until: At,
    /// Times that decide what a key means.
    pub(crate) moments: Moments,
    /// The way to the end.
    pub quit: Quit,
    /// The terminal's title as last set.
    pub title: String,
    /// Facts that the last frame found out.
    pub frame: Frame,
    /// Milliseconds without a key before the one that is being handled.
    pub(crate) idle_before: u64,
    /// The number of the last search for files.
    pub(crate) ticket: u64,
    /// The directory whose commands were asked for last.
    pub(crate) commands_of: Option<PathBuf>,
    /// The number of the last wish to rewrite a draft.
    pub(crate) enhanced: u64,
    /// The engine was asked for a new session and has not answered.
    pub(crate) creating: bool,
    /// The engine was asked for a session with a worktree, which is shown when it comes.
    pub(crate) apart: bool,
    /// The sequence number of the last event of the engine as a whole.
    pub(crate) engine_seq: Option<u64>,
    /// Milliseconds of the armed timer for the times on the screen.
    pub(crate) ticking: Option<u64>,
    /// The countdown of the session that is shown is armed for this instant.
    pub(crate) counting: Option<At>,
    /// A label that is being defined, and the sessions that get it then.
    pub(crate) new_label: Option<(String, Vec<SessionId>)>,
    /// The text that is to be written anew in the branch of this session.
    pub(crate) rewound: Option<(SessionId, String)>,
    /// The session that is shown was marked as unread, and stays so until it is left.
    pub(crate) left_unread: Option<SessionId>,
    /// The workspaces there are, once they were asked for.
    pub(crate) workspaces: Vec<Workspace>,
    /// The workspace that is opened when this one has ended.
    pub(crate) moving: Option<PathBuf>,
    /// Keys that were typed where nobody reads them, and went on into the composer.
    pub(crate) blind: Blind,
    /// The title of the new session that the engine makes.
    pub(crate) titled: Option<String>,
    /// Receiver of [`crate::app::Msg::Edited`].
    pub(crate) editing: Option<Editing>,
    /// Wishes of features for the router.
    pub(crate) intents: VecDeque<Intent>,
}

/// Blind typing: keys swallowed by an overlay without a text field, and those after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Blind {
    /// No.
    #[default]
    No,
    /// An overlay swallows what is typed.
    Swallowed,
    /// The overlay closed while keys were coming, and the rest of them goes into the composer.
    WentOn,
}

/// Text being edited in $EDITOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Editing {
    /// The draft of this place.
    Draft(Current),
    /// A plan that waits.
    Plan {
        /// In this session.
        session: SessionId,
        /// Asked by this request.
        request: RequestId,
    },
}

/// Times that decide what a key means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// Time since when the request in [`Frame::panel`] is on the screen.
    pub panel_seen: At,
    /// Time when Esc closed something last.
    pub closed: At,
    /// Esc was pressed where it had nothing to do.
    pub escaped: Option<At>,
}

impl State {
    /// The state before the first message. `utc_offset` is local time minus UTC in seconds.
    #[must_use]
    pub fn new(keys: Arc<Table>, size: Size, now: At, utc_offset: i32) -> Self {
        Self {
            keys,
            size,
            now,
            utc_offset,
            focus: Focus::Composer,
            shown: Shown::Chat,
            panes: Panes::default(),
            dragging: false,
            spot: None,
            pressed: None,
            mouse_given: false,
            sessions: Sessions::default(),
            open: HashMap::new(),
            recent: Vec::new(),
            current: Current::New,
            lobby: Composer::default(),
            lobby_sent: Vec::new(),
            pictures: Vec::new(),
            history: History::default(),
            commands: Vec::new(),
            seen_commands: BTreeSet::new(),
            overlays: Vec::new(),
            search: None,
            find: Find::default(),
            trail: None,
            notices: Notices::default(),
            config: Configured::default(),
            properties: Properties::default(),
            models: HashMap::new(),
            catalogue: Catalogue::default(),
            settings: Vec::new(),
            themes: Vec::new(),
            theme: String::new(),
            looked_at: None,
            density: Density::default(),
            unified: false,
            chord: Chord::default(),
            terminal: Terminal { focused: true, dark: None },
            gallery: Gallery::default(),
            last_key: now,
            idle_before: 0,
            ticket: 0,
            commands_of: None,
            enhanced: 0,
            creating: false,
            apart: false,
            quiet_until: At(i64::MIN),
            moments: Moments { panel_seen: At(i64::MIN), closed: At(i64::MIN), escaped: None },
            quit: Quit::No,
            title: String::new(),
            frame: Frame::default(),
            engine_seq: None,
            ticking: None,
            counting: None,
            new_label: None,
            rewound: None,
            left_unread: None,
            workspaces: Vec::new(),
            moving: None,
            blind: Blind::No,
            titled: None,
            editing: None,
            intents: VecDeque::new(),
        }
    }

    /// Screen state for the next start.
    #[must_use]
    pub fn kept(&self) -> Kept {
        let commands = self.seen_commands.iter().cloned().collect();
        Kept { commands, panes: self.panes, ..self.sessions.kept() }
    }

    /// Takes over what was kept, before there are sessions.
    pub fn recall(&mut self, kept: Kept) {
        self.panes = kept.panes;
        self.seen_commands = kept.commands.iter().cloned().collect();
        self.sessions.recall(kept);
    }

    /// The id of the session that is shown.
    #[must_use]
    pub fn current_id(&self) -> Option<&SessionId> {
        match &self.current {
            Current::Session(id) => Some(id),
            Current::New => None,
        }
    }

    /// The session that is shown.
    #[must_use]
    pub fn current_open(&self) -> Option<&Open> {
        self.open.get(self.current_id()?)
    }

    /// The session that is shown, to be changed.
    pub fn current_open_mut(&mut self) -> Option<&mut Open> {
        match &self.current {
            Current::Session(id) => self.open.get_mut(id),
            Current::New => None,
        }
    }

    /// Properties of the session that is shown.
    #[must_use]
    pub fn current_meta(&self) -> Option<&SessionMeta> {
        self.sessions.meta(self.current_id()?)
    }

    /// The composer that is shown.
    #[must_use]
    pub fn composer(&self) -> &Composer {
        self.current_open().map_or(&self.lobby, |open| &open.composer)
    }

    /// The composer that is shown, to be changed.
    pub fn composer_mut(&mut self) -> &mut Composer {
        match &self.current {
            Current::Session(id) => self.open.get_mut(id).map_or(&mut self.lobby, |open| &mut open.composer),
            Current::New => &mut self.lobby,
        }
    }

    /// The panel of the session that is shown: what waits there first.
    #[must_use]
    pub fn panel(&self) -> Option<(&Panel, &Request)> {
        let open = self.current_open()?;
        let panel = open.panel.as_ref()?;
        Some((panel, open.request(&panel.request)?))
    }

    /// The topmost overlay.
    #[must_use]
    pub fn overlay(&self) -> Option<&Overlay> {
        self.overlays.last()
    }

    /// True while a turn of the shown session runs, including one that waits for an answer; false
    /// once it was stopped.
    #[must_use]
    pub fn running(&self) -> bool {
        let told = self.current_meta().is_some_and(|meta| matches!(meta.activity, Activity::Running(_)));
        self.current_open().map_or(told, |open| !open.turn.stopping && (told || open.turn.started.is_some()))
    }

    /// Consequences of quitting for running and waiting work, in a sentence or two.
    #[must_use]
    pub fn at_the_end(&self) -> String {
        let of = |wanted: fn(&SessionMeta) -> bool| self.sessions.metas().filter(|meta| wanted(meta)).count();
        let some = |n: usize, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        let running = of(|meta| matches!(meta.activity, Activity::Running(_)));
        let asking = of(|meta| matches!(meta.activity, Activity::NeedsYou(_)) && !meta.plan_pending);
        let plans = of(|meta| matches!(meta.activity, Activity::NeedsYou(_)) && meta.plan_pending);
        let jobs = self.open.values().map(Open::running_jobs).sum();
        let stopped: Vec<String> = [
            some(running, "running turn", "running turns"),
            some(asking, "turn waiting for your answer", "turns waiting for your answer"),
            some(jobs, "background job", "background jobs"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut said = Vec::new();
        if let Some((last, others)) = stopped.split_last() {
            let others = if others.is_empty() { String::new() } else { format!("{} and ", others.join(", ")) };
            said.push(format!("{others}{last} will be stopped. Everything is saved."));
        }
        match plans {
            0 => {}
            1 => said.push("1 plan waits for your answer and will still be there after a restart.".to_owned()),
            n => said.push(format!("{n} plans wait for your answer and will still be there after a restart.")),
        }
        if said.is_empty() {
            said.push("Nothing is running. Everything is saved.".to_owned());
        }
        said.join(" ")
    }

    /// Leaves something to the router, which does it when the feature has returned.
    pub(crate) fn follow_up(&mut self, intent: Intent) {
        self.intents.push_back(intent);
    }

    /// Puts a word to the user on the screen.
    pub fn notify(&mut self, notice: Notice) {
        self.notices.push(self.now, notice);
    }

    /// Local time for the list.
    pub(crate) fn arrange(&mut self) {
        self.sessions.arrange(self.now, self.utc_offset);
    }

    /// Sessions that a change applies to: in the list the marked ones, else the one at the cursor;
    /// elsewhere the shown one.
    #[must_use]
    pub fn chosen(&self) -> Vec<SessionId> {
        match self.focus {
            Focus::List => self.sessions.chosen(),
            _ => self.current_id().cloned().into_iter().collect(),
        }
    }

    /// Rows that the list has for sessions and headings.
    pub(crate) fn list_height(&self) -> usize {
        usize::from(if self.frame.list_rows > 0 { self.frame.list_rows } else { self.size.height.saturating_sub(3) })
            .max(1)
    }

    /// The request with this id, of whichever open session.
    #[must_use]
    pub fn request(&self, session: &SessionId, id: &RequestId) -> Option<&Request> {
        self.open.get(session)?.request(id)
    }

    /// Keymap contexts in force; the first that knows a key wins.
    #[must_use]
    pub fn contexts(&self) -> Vec<Context> {
        let mut contexts = Vec::with_capacity(3);
        match self.overlays.last() {
            // The keys of a list, or of a page, hold there too.
            Some(Overlay::Find) => contexts.extend([Context::Find, Context::Picker]),
            Some(Overlay::Health(_)) => contexts.extend([Context::Health, Context::Help]),
            Some(Overlay::Undo(_)) => contexts.extend([Context::Undo, Context::Inbox]),
            Some(Overlay::Changes(_)) => contexts.extend([Context::Changes, Context::Help]),
            Some(Overlay::Jobs(_)) => contexts.extend([Context::Jobs, Context::Inbox]),
            Some(Overlay::Queue(_)) => contexts.extend([Context::Queue, Context::Inbox]),
            Some(Overlay::Rules(_)) => contexts.extend([Context::Rules, Context::Inbox]),
            Some(overlay) => contexts.push(self.overlay_context(overlay)),
            None => match self.focus {
                Focus::List if self.sessions.filter_open() => contexts.push(Context::Search),
                Focus::List => contexts.push(Context::List),
                Focus::Chat if self.search.as_ref().is_some_and(|s| s.typing) => contexts.push(Context::Search),
                Focus::Chat => contexts.push(Context::Chat),
                Focus::Panel => contexts.extend(self.panel().map(|(panel, request)| panel_context(panel, request))),
                Focus::Composer => {
                    let vim = self.composer().vim();
                    let typing = !self.keys.modal() || vim.mode() == vim::Mode::Insert;
                    if typing && self.composer().offers() {
                        contexts.push(Context::Slash);
                    }
                    if self.keys.modal() {
                        match vim.mode() {
                            vim::Mode::Insert => contexts.push(Context::Insert),
                            vim::Mode::Visual | vim::Mode::VisualLine => {
                                contexts.extend([Context::Visual, Context::Normal]);
                            }
                            vim::Mode::Normal if vim.has_operator() => {
                                contexts.extend([Context::Operator, Context::Normal]);
                            }
                            vim::Mode::Normal => contexts.push(Context::Normal),
                        }
                    }
                    contexts.push(Context::Composer);
                }
            },
        }
        contexts.push(Context::Global);
        contexts
    }

    /// True if a key in the composer is typed: always, except in modes where keys are verbs.
    #[must_use]
    pub fn types(&self) -> bool {
        !self.keys.modal() || self.composer().vim().mode() == vim::Mode::Insert
    }

    fn overlay_context(&self, overlay: &Overlay) -> Context {
        match overlay {
            Overlay::Help(_) => Context::Help,
            Overlay::Picker(_) => Context::Picker,
            Overlay::Find => Context::Find,
            Overlay::Rename(_) | Overlay::Prompt(_) => Context::Search,
            Overlay::ConfirmQuit | Overlay::Confirm(_) => Context::Confirm,
            Overlay::Trash(_) | Overlay::Audit(_) | Overlay::Usage(_) | Overlay::Context(_) => Context::Inbox,
            Overlay::Health(_) => Context::Health,
            Overlay::Undo(_) => Context::Undo,
            Overlay::Changes(_) => Context::Changes,
            Overlay::Rules(_) => Context::Rules,
            Overlay::Jobs(_) => Context::Jobs,
            Overlay::Queue(_) => Context::Queue,
            Overlay::Inbox(inbox) => match &inbox.answering {
                Some((session, panel)) => self
                    .request(session, &panel.request)
                    .map_or(Context::Inbox, |request| panel_context(panel, request)),
                None => Context::Inbox,
            },
        }
    }
}

fn panel_context(panel: &Panel, request: &Request) -> Context {
    match (&panel.stage, &request.ask) {
        (Stage::Writing { .. } | Stage::Rules { .. } | Stage::Secret { .. }, _) => Context::Input,
        (Stage::Choosing, Ask::Approval(_)) => Context::Approval,
        (Stage::Choosing, Ask::Plan(_)) => Context::Plan,
        (Stage::Choosing, Ask::Question(_) | Ask::Trust(_) | Ask::Key(_)) => Context::Question,
    }
}
