//! lisle: a full-screen terminal home for agent conversations. This page is the map; `docs/architecture.md` is the longer
//! one, with the walks of a key press, a tool call and a row.
//!
//! # Modules, in reading order
//!
//! | Module | Content |
//! | --- | --- |
//! | [`domain`] | the vocabulary |
//! | [`protocol`] | what crosses between the engine and its clients: [`protocol::Command`] to the engine, [`protocol::Event`] back |
//! | [`http`] | start of every HTTP client |
//! | [`json_log`] | logs of JSON lines that are begun again when they are long |
//! | [`local_time`] | instants as people of this machine read them |
//! | [`syntax`] | code in, shades out |
//! | [`local_export`] | what exports take from this machine: times, colours of code |
//! | [`plain_file`] | regular files, opened so that nothing is waited for |
//! | [`config`] | what the user wrote, and what the program needs of it |
//! | [`store`] | sessions as files: one writer a session, nothing lost at any death; lists, searches, branches, the trash, checkpoints for undo |
//! | [`routes`] | routes of messages: session keys and their rows in `sessions.json`, routing, resets, maintenance |
//! | [`provider`] | models: a request goes in, a stream of chunks comes out |
//! | [`permit`] | decides if a call may run: a pure function of mode, rules and facts; the judge of command lines |
//! | [`sandbox`] | commands: started through lisle itself, confined by a profile, ended with all they started |
//! | [`tools`] | tools that a model can call, one file each |
//! | [`sources`] | servers of others whose tools models call |
//! | [`extensions`] | skills, agents and commands: texts of the user and of others |
//! | [`agent`] | the engine: a pure machine for each session, and the task that does its steps |
//! | [`channels`] | messages of other people: the way in, their turns, replies |
//! | [`gateway`] | the engine without a screen: a process with many clients, and their lines |
//! | [`sharing`] | uploads of conversations to a server for shares |
//! | [`keymap`] | keys, actions, and the bindings between them |
//! | [`app`] | the screen's state, and how messages change it |
//! | [`theme`] | roles and their styles |
//! | [`ui`] | draws the state, or words it in lines ([`ui::linear`]) |
//! | [`runtime`] | the only roof: terminal, clock, channels and tasks meet here, and nothing else is decided here |
//! | [`cli`] | the command line: the app, one prompt without a screen, named prompts, sessions, the audit log, permission checks, the doctor |
//!
//! `store`, `routes`, `provider`, `permit`, `sandbox`, `tools`, `sources`, `extensions`, `agent` and `channels` are the engine; `keymap`, `app`, `theme` and `ui` are the
//! screen. Engine and screen never see each other: both see `domain` and `protocol`.
//!
//! # From a key press to a frame
//!
//! ```text
//! key ── runtime::input ── app::resolve (keymap: key → Action) ── Msg
//!   └─ app::update(&mut State, Msg) → Vec<Effect> ── runtime::client ── Command
//!        └─ agent::supervisor ── the session's actor ── machine: event in, steps out ── requests, tools, rows on disk
//!             └─ Event ── Msg::Engine ── app::update ── ui::render(&State) ── runtime::frames ── the terminal
//! ```
//!
//! The loop (`runtime::client`) waits for one message, takes what else is there, updates, does the effects, and draws once
//! if something changed. A frame that is owed to a key is drawn at once; one that is owed to the engine keeps its distance from the
//! last. While the terminal takes nothing, a newer frame replaces the one that waits.
//!
//! Linear mode (`runtime::linear`) has the same loop as the screen (`runtime::screen`): a line that was written is a Msg
//! ([`app::line::Line`]), and after each round what is new is printed in lines.
//!
//! # What always holds
//!
//! `tests/layering/` reads the imports and holds the first four.
//!
//! 1. `domain` and `protocol` are values: no I/O, no async, no clock, nothing of ours above them.
//! 2. The engine never imports the screen, ratatui or crossterm.
//! 3. The screen never imports the engine, tokio, files, the environment or a clock, so it cannot tell a local engine from
//!    a remote one. `theme` and `keymap` parse text that they are given.
//! 4. `app::update` and `agent::machine` are pure; so is `permit::decide`. `ui` draws `&State`, and only its cache of
//!    lines changes during a frame.
//! 5. One task writes a session's files. Endings, results, questions and errors are never dropped; pieces of text may be
//!    merged.
//! 6. Cancelling is an input of the machine. Every call has one result, also the one that was stopped.
//! 7. Text from outside is made harmless in one place, [`domain::sanitise`], before it becomes a cell of the screen.
//! 8. Defaults are data in the user's own format: `keymaps/` and `themes/` are embedded, and help, palette and manual
//!    come from the same tables.

pub mod agent;
pub mod app;
pub mod channels;
pub mod cli;
pub mod config;
pub mod domain;
pub mod extensions;
pub mod gateway;
pub mod http;
pub mod json_log;
pub mod keymap;
pub mod local_export;
pub mod local_time;
pub mod permit;
pub mod plain_file;
pub mod protocol;
pub mod provider;
pub mod routes;
pub mod runtime;
pub mod sandbox;
pub mod sharing;
pub mod sources;
pub mod store;
pub mod syntax;
pub mod theme;
pub mod tools;
pub mod ui;
