//! Input of the machine before a request: the models' windows and project memory, read off the
//! async threads; the requests of a compaction; and the content of the context, for `/context`.

use super::super::blocking::blocking;
use super::super::clock::now;
use super::super::machine::Models;
use super::super::mailbox::Report;
use super::SessionActor;
use super::input_needs::may_ask;
use super::no_connection::no_connection;
use super::view::Show;
use crate::agent::machine_io::{Input, RunNo, SummaryRequest};
use crate::domain::notice::{Level, Notice};
use crate::domain::prompt_text::PromptKind;
use crate::domain::session::ThinkingLevel;
use crate::domain::usage::RequestUsage;
use crate::protocol::{ConnectionInfo, SessionEvent};
use crate::provider::{ConversationItem, ModelRequest, Provider};
use crate::tools::files::{self, FileError};
use std::path::PathBuf;
use std::sync::Arc;

impl SessionActor {
    /// Brings what the machine goes by up to date, where it may need it.
    pub(super) async fn refresh_context(&mut self, input: &Input) {
        if !may_ask(input) || !self.machine.may_begin() {
            return;
        }
        self.refresh_models();
        self.refresh_memory().await;
        self.refresh_sources().await;
        self.refresh_extensions().await;
        self.start_sources();
    }

    /// Refreshes the facts about models, also after a choice of one.
    pub(super) fn refresh_models(&mut self) {
        let Some((info, provider)) = self.connection() else { return self.machine.set_models(Models::default()) };
        let window = |model: &str| provider.figures(model, RequestUsage::default()).0;
        let own = self.own_model(&info);
        let has_small = !info.small_model.is_empty() && info.small_model != own;
        let summing = if has_small { window(&info.small_model) } else { window(&own) };
        let models = Models { window: window(&own), output: provider.most_output(&own), has_small, summing };
        self.machine.set_models(models);
    }

    /// The same, and what is shown of it.
    pub(super) async fn show_models(&mut self) {
        let before = self.machine.meta().usage.context_window;
        self.refresh_models();
        if self.machine.meta().usage.context_window != before {
            self.out.send(SessionEvent::Changed(Box::new(self.machine.meta().clone())));
        }
    }

    async fn refresh_memory(&mut self) {
        let (memories, config) = (self.sources.memories(), self.shared.setup.settings.config.clone());
        let cwd = self.machine.meta().cwd.clone();
        let folder = self.calls.folder().at(&cwd);
        // Of another folder that took its place nothing is told to a model.
        let read = move || folder.is_at(&cwd).then(|| memories.read(config.as_deref(), &cwd));
        let Some(Some(memory)) = blocking(read).await else { return };
        for problem in self.sources.new_memory_problems(&memory.problems) {
            self.out.send(SessionEvent::Notice(problem.notice()));
        }
        self.machine.set_memory(memory);
    }

    /// Puts a context or a strategy into the system prompt, with its text as it is now.
    pub(super) async fn use_prompt(&mut self, kind: PromptKind, name: Option<String>) {
        let text = match name {
            None => None,
            Some(name) => {
                let folders = self.shared.setup.settings.prompts.clone();
                match blocking(move || folders.read(kind, &name)).await {
                    Some(Ok(text)) => Some(text),
                    Some(Err(error)) => {
                        let text = capital(&error.to_string());
                        return self.out.send(SessionEvent::Notice(Notice::new(Level::Warning, text)));
                    }
                    None => return,
                }
            }
        };
        let news = match &text {
            Some(text) => format!("{} {} from the next message on", capital(kind.word()), text.name),
            None => format!("No {} from the next message on", kind.word()),
        };
        self.input(Input::Preamble(kind, text)).await;
        self.out.send(SessionEvent::Notice(Notice::new(Level::Info, news)));
    }

    /// The session's connection, where it can be asked.
    pub(super) fn connection(&self) -> Option<(ConnectionInfo, Arc<dyn Provider>)> {
        let connections = &self.shared.setup.connections;
        let name = self.machine.meta().asked()?;
        let info = connections.info(name).filter(|info| info.missing.is_none())?;
        Some((info.clone(), connections.provider(name)?))
    }

    pub(super) fn own_model(&self, info: &ConnectionInfo) -> String {
        let own = self.machine.meta().model.clone().filter(|model| !model.is_empty());
        own.unwrap_or_else(|| info.default_model.clone())
    }

    /// Asks a model about a part of the conversation.
    pub(super) fn sum(&mut self, run: RunNo, asked: SummaryRequest) {
        self.calls.tasks().forget_before(run);
        let Some((info, provider)) = self.connection() else {
            let error = no_connection("No connection available to summarize the conversation.");
            let mailbox = self.mailbox.clone();
            tokio::spawn(async move {
                // An actor that ended wants no summary.
                let _ = mailbox.report(Report::Input(Input::Summarised(run, Err(error)))).await;
            });
            return;
        };
        let model = if asked.small { info.small_model.clone() } else { self.own_model(&info) };
        let request = ModelRequest {
            model,
            system: asked.system,
            items: vec![ConversationItem::User(asked.text.into())],
            tools: Vec::new(),
            thinking: ThinkingLevel::Off,
        };
        let recorder = self.shared.recorder(self.machine.meta(), None);
        self.calls.tasks().sum(run, provider, request, (self.mailbox.clone(), recorder));
    }

    /// Keeps a message whole of which the model gets a part from now on.
    pub(super) async fn keep_whole(&mut self, path: PathBuf, text: String) {
        let kept = blocking(move || match files::create_private(&path, text.as_bytes()) {
            // It is there from an earlier compaction.
            Err(FileError::Changed(_)) => Ok(()),
            kept => kept,
        });
        if let Some(Err(error)) = kept.await {
            let notice = Notice::new(Level::Warning, format!("Can't save a long message with the summary: {error}"));
            self.out.send(SessionEvent::Notice(notice.hint("the model sees its beginning and end only")));
        }
    }

    /// Shows the content of the next request.
    pub(super) async fn show_context(&mut self) {
        if !self.load(Show::Nothing).await || !self.load_context().await {
            return;
        }
        self.refresh_models();
        if !self.machine.is_running() {
            self.refresh_memory().await;
            self.refresh_sources().await;
            self.refresh_extensions().await;
        }
        let report = self.machine.context_report(now());
        self.out.send(SessionEvent::Context(Box::new(report)));
    }
}

/// A word at the beginning of a sentence.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}
