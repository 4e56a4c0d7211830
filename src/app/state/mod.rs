//! All that the screen knows, one file a concern.

pub mod audit;
pub mod catalogue;
pub mod chat;
pub mod clock;
pub mod composer;
pub mod connecting;
pub mod context;
pub mod conversations;
pub mod drafts;
pub mod edit;
pub mod empty_enter;
pub mod ending;
pub mod engine_facts;
pub mod files;
pub mod find;
pub mod focus;
pub mod fuzzy;
pub mod gallery;
pub mod hidden;
pub mod hint;
pub mod hunks;
pub mod input;
mod leaving;
pub mod lobby;
pub mod mark;
pub mod notices;
pub mod offer;
pub mod open;
pub mod overlay;
pub mod panel;
pub mod panes;
pub mod picker;
pub mod plan;
pub mod ranked;
pub mod rules;
pub mod screen;
pub mod search;
pub mod searches;
pub mod session_rows;
pub mod sessions;
pub mod terminal;
pub mod theme_choice;
pub mod usage;
pub mod vim;

use super::intent::Intent;
use crate::domain::Notice;
use crate::domain::ids::{At, RequestId, SessionId};
use crate::domain::request::{Ask, Request};
use crate::domain::session::{Activity, SessionMeta};
use crate::keymap::Table;
use crate::keymap::action::Context;
use clock::Clock;
use composer::Composer;
use connecting::Connecting;
pub use conversations::{Conversations, Current};
use drafts::Drafts;
pub(crate) use drafts::Editing;
pub use ending::Quit;
use ending::QuitState;
use engine_facts::EngineFacts;
pub use focus::{Focus, Shown};
use input::KeyInput;
pub(crate) use input::{Blind, Held};
use lobby::Lobby;
use notices::{Notices, TrueWhile};
use open::Open;
use overlay::Overlay;
use panel::{Panel, Stage};
use screen::ScreenLayout;
pub use screen::Size;
use searches::Searches;
use sessions::Sessions;
use sessions::kept::Kept;
use std::collections::VecDeque;
use std::sync::Arc;
use terminal::Terminal;
use theme_choice::ThemeChoice;

/// All that the screen knows.
#[derive(Debug)]
pub struct State {
    /// The keymap in force.
    pub keys: Arc<Table>,
    /// Time.
    pub clock: Clock,
    /// Focus of the keys.
    pub focus: Focus,
    /// Size and panes.
    pub screen: ScreenLayout,
    /// Keys and the mouse on their way.
    pub input: KeyInput,
    /// The terminal.
    pub terminal: Terminal,
    /// The list of sessions.
    pub sessions: Sessions,
    /// The conversations that are loaded.
    pub conversations: Conversations,
    /// A new session that the engine has not made yet.
    pub lobby: Lobby,
    /// The way to a model.
    pub connecting: Connecting,
    /// Data that drafts of all sessions share.
    pub drafts: Drafts,
    /// Overlays, the topmost last.
    pub overlays: Vec<Overlay>,
    /// Searches.
    pub searches: Searches,
    /// Words to the user.
    pub notices: Notices,
    /// Facts from the engine.
    pub engine: EngineFacts,
    /// Themes.
    pub theme: ThemeChoice,
    /// The way to the end.
    pub ending: QuitState,
    /// Wishes of features for the router.
    pub(crate) intents: VecDeque<Intent>,
}

impl State {
    /// The state before the first message. `utc_offset` is local time minus UTC in seconds.
    #[must_use]
    pub fn new(keys: Arc<Table>, size: Size, now: At, utc_offset: i32) -> Self {
        Self {
            keys,
            clock: Clock::new(now, utc_offset),
            focus: Focus::Composer,
            screen: ScreenLayout::new(size),
            input: KeyInput::new(now),
            terminal: Terminal::default(),
            sessions: Sessions::default(),
            conversations: Conversations::default(),
            lobby: Lobby::default(),
            connecting: Connecting::default(),
            drafts: Drafts::default(),
            overlays: Vec::new(),
            searches: Searches::default(),
            notices: Notices::default(),
            engine: EngineFacts::default(),
            theme: ThemeChoice::default(),
            ending: QuitState::default(),
            intents: VecDeque::new(),
        }
    }

    /// Screen state for the next start.
    #[must_use]
    pub fn kept(&self) -> Kept {
        let commands = self.drafts.seen_commands.iter().cloned().collect();
        Kept { commands, panes: self.screen.panes, ..self.sessions.kept() }
    }

    /// Takes over what was kept, before there are sessions.
    pub fn recall(&mut self, kept: Kept) {
        self.screen.panes = kept.panes;
        self.drafts.seen_commands = kept.commands.iter().cloned().collect();
        self.sessions.recall(kept);
    }

    /// The id of the session that is shown.
    #[must_use]
    pub fn current_id(&self) -> Option<&SessionId> {
        self.conversations.current_id()
    }

    /// The session that is shown.
    #[must_use]
    pub fn current_open(&self) -> Option<&Open> {
        self.conversations.shown()
    }

    /// The session that is shown, to be changed.
    pub fn current_open_mut(&mut self) -> Option<&mut Open> {
        self.conversations.shown_mut()
    }

    /// Properties of the session that is shown.
    #[must_use]
    pub fn current_meta(&self) -> Option<&SessionMeta> {
        self.sessions.meta(self.current_id()?)
    }

    /// The composer that is shown.
    #[must_use]
    pub fn composer(&self) -> &Composer {
        self.current_open().map_or(&self.lobby.composer, |open| &open.composer)
    }

    /// The composer that is shown, to be changed.
    pub fn composer_mut(&mut self) -> &mut Composer {
        match &self.conversations.current {
            Current::Session(id) => {
                self.conversations.open.get_mut(id).map_or(&mut self.lobby.composer, |open| &mut open.composer)
            }
            Current::New => &mut self.lobby.composer,
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

    /// Leaves something to the router, which does it when the feature has returned.
    pub(crate) fn follow_up(&mut self, intent: Intent) {
        self.intents.push_back(intent);
    }

    /// Puts a word to the user on the screen.
    pub fn notify(&mut self, notice: Notice) {
        self.notices.push(self.clock.now, notice);
    }

    /// The same for as long as all of the conditions hold.
    pub(crate) fn notify_while(&mut self, notice: Notice, conditions: Vec<TrueWhile>) {
        self.notices.push_while(self.clock.now, notice, conditions);
    }

    /// The same for this many milliseconds at the most.
    pub(crate) fn notify_for(&mut self, ms: u64, notice: Notice, conditions: Vec<TrueWhile>) {
        self.notices.push_for(ms, self.clock.now, notice, conditions);
    }

    /// Takes away notices that are not true any more.
    pub(crate) fn drop_untrue_notices(&mut self) {
        let mut notices = std::mem::take(&mut self.notices);
        notices.keep_true(|condition| match condition {
            TrueWhile::Waits(id) => {
                self.current_open().is_some_and(|open| open.requests.iter().any(|request| request.id == *id))
            }
            TrueWhile::Draft(text) => self.composer().text() == *text,
            TrueWhile::ModeRests => self.input.resting_mode.is_some(),
            TrueWhile::TurnRuns => self.running(),
            TrueWhile::NobodyWaits => self.sessions.needing() == 0,
            TrueWhile::QueueWaits => self.current_open().is_some_and(|open| !open.queue.is_empty()),
            TrueWhile::Selecting => self.current_open().is_some_and(|open| open.chat.mark.is_some()),
            TrueWhile::NoAnswer => self.panel().is_some_and(|(panel, _)| panel.selected.is_none()),
            TrueWhile::Shows(id) => self.current_id() == Some(id),
            TrueWhile::Adds(address) => self.connecting.adds.as_ref().is_some_and(|(asked, _)| asked == address),
        });
        self.notices = notices;
    }

    /// Local time for the list.
    pub(crate) fn arrange(&mut self) {
        self.sessions.arrange(self.clock.now, self.clock.utc_offset);
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
        self.screen.list_height()
    }

    /// The request with this id, of whichever open session.
    #[must_use]
    pub fn request(&self, session: &SessionId, id: &RequestId) -> Option<&Request> {
        self.conversations.request(session, id)
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
                Focus::Chat if self.searches.conversation.as_ref().is_some_and(|s| s.typing) => {
                    contexts.push(Context::Search)
                }
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

    /// True if typed text goes into the topmost overlay or its filter.
    #[must_use]
    pub fn overlay_takes_text(&self) -> bool {
        self.contexts().first().is_some_and(|context| context.takes_text())
    }

    /// True if a key in the composer is typed: always, except in modes where keys are verbs.
    #[must_use]
    pub fn composer_takes_text(&self) -> bool {
        !self.keys.modal() || self.composer().vim().mode() == vim::Mode::Insert
    }

    fn overlay_context(&self, overlay: &Overlay) -> Context {
        match overlay {
            // What is typed filters the keys; a page is read.
            Overlay::Help(help) if matches!(help.page, overlay::HelpPage::Keys(_)) => Context::Picker,
            Overlay::Help(_) => Context::Help,
            Overlay::Picker(_) => Context::Picker,
            Overlay::Find => Context::Find,
            Overlay::Rename(_) | Overlay::Prompt(_) => Context::Search,
            Overlay::ConfirmQuit | Overlay::Confirm(_) => Context::Confirm,
            Overlay::Trash(_)
            | Overlay::Audit(_)
            | Overlay::Usage(_)
            | Overlay::Context(_)
            | Overlay::Sources(_)
            | Overlay::Extensions(_) => Context::Inbox,
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
