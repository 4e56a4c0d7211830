//! Opening of the screen: the terminal is asked for what it can do, and taken.

use super::frame_schedule::FrameSchedule;
use super::{Answers, Hyperlinks, Pictures, Screen, ScreenTerminal, listen};
use crate::agent::Link;
use crate::app::state::Size;
use crate::runtime::client::event::{Events, RuntimeEvent};
use crate::runtime::client::exit::RunError;
use crate::runtime::client::options::{Options, ScreenOptions};
use crate::runtime::client::{Client, Surface};
use crate::runtime::encode::links;
use crate::runtime::environment::env;
use crate::runtime::frames::Writer;
use crate::runtime::graphics::Graphics;
use crate::runtime::graphics::way::{self, Able};
use crate::runtime::renderer::{self, Renderer, Shows};
use crate::runtime::terminal::{self, Guard, Queries, Wishes};
use crate::runtime::terminal_cache::{TerminalAnswers, TerminalCache};
use crate::runtime::tty::{Tty, TtyError};
use rustix::system::uname;
use std::sync::Arc;

/// Takes the terminal and begins with the session of the options.
///
/// # Errors
/// When the terminal cannot show a screen, or the system refuses what it needs.
pub(super) fn open(tty: Tty, link: Link, options: Options, events: Events) -> Result<Screen, RunError> {
    let term = env("TERM").unwrap_or_default();
    if term == "dumb" {
        return Err(TtyError::Dumb(term).into());
    }
    let cache = TerminalCache::of(&options.state_dir, &term, &env("TERM_PROGRAM").unwrap_or_default());
    let known = cache.recall();
    let (width, height) = tty.size();
    let (client, start, mut options) = Client::open(link, options, Size { width, height }, events);
    let answers = Answers { cache, known, dark: renderer::dark_by_colors(&env), heard: Able::default() };
    let (renderer, problems) = open_renderer(&mut options, &answers);
    let graphics = Graphics::new(options.pictures, &env, &known.pictures);
    let terminal = take_terminal(tty, &term, &options, &client.events, &known)?;
    let mut screen = Screen {
        terminal,
        client,
        renderer,
        frames: FrameSchedule::new(options.fps),
        answers,
        pictures: Pictures { graphics, studio: None },
        hyperlinks: Hyperlinks {
            known: links::known(&env),
            host: links::Host::new(&uname().nodename().to_string_lossy(), &env),
        },
        highlighter: None,
        finder: None,
        remember_theme: options.remember_theme,
        notify: options.notify,
        auto_glyphs: options.glyphs.is_none(),
        settled: false,
    };
    screen.background();
    screen.tell_pictures();
    screen.tell_themes(problems);
    screen.begin(start);
    Ok(screen)
}

/// The renderer, and what is wrong with its theme.
fn open_renderer(options: &mut ScreenOptions, answers: &Answers) -> (Renderer, Vec<String>) {
    let shows = Shows {
        colors: renderer::colors(&env),
        italics: renderer::italics(&env),
        glyphs: options.glyphs.unwrap_or_else(|| renderer::signs(answers.known.wide_signs, &env)),
        home: env("HOME").unwrap_or_default(),
    };
    Renderer::new(shows, std::mem::take(&mut options.themes), &options.theme, answers.dark())
}

/// Takes the terminal, and starts to write to it and to read it.
fn take_terminal(
    tty: Tty,
    term: &str,
    options: &ScreenOptions,
    events: &Events,
    known: &TerminalAnswers,
) -> Result<ScreenTerminal, RunError> {
    let gone = events.clone();
    let writer = Writer::start(Arc::clone(&tty.output), move || {
        let _ = gone.send(RuntimeEvent::Gone);
    })
    .map_err(RunError::System)?;
    writer.synchronize(known.synchronized);
    writer.join_signs(!known.split_signs);
    let queries = match Queries::for_term(term) {
        Queries::Ask if way::may_ask(options.pictures, &env) => Queries::AskPictures,
        Queries::Ask if way::may_ask_name(&env) => Queries::AskName,
        queries => queries,
    };
    let wishes = Wishes { mouse: options.mouse, queries, screen: terminal::Screen::Ours };
    let guard = Guard::take(tty.clone(), wishes)?;
    writer.forget();
    let listener = Some(listen(&tty, &writer, events.clone()).map_err(RunError::System)?);
    Ok(ScreenTerminal { guard, listener, writer, tty, suspended: false })
}
