//! `lisle man`: pages made of the arguments, and of the tables in [`super::reference`].

use super::args::{Args, Man};
use super::exit::Exit;
use super::output::{complain, hint, put};
use super::reference::{ENVIRONMENT, FILES, FOLDERS, statuses};
use crate::domain::nearest::nearest;
use clap::{Command, CommandFactory};
use clap_mangen::roff::{Inline, Roff, bold, roman};
use pulldown_cmark::{Event, Parser};
use std::io;
use std::path::Path;

/// Runs `lisle man`.
pub(super) fn run(args: &Man) -> Exit {
    let mut command = Args::command();
    command.build();
    if let Some(dir) = &args.dir {
        let made = std::fs::create_dir_all(dir).and_then(|()| write_all(&command, "", dir));
        if let Err(error) = &made {
            complain(&format!("lisle: can't write to {}: {error}", dir.display()));
        }
        return if made.is_ok() { Exit::Done } else { Exit::Failed };
    }
    let mut words = Vec::new();
    for word in args.command.iter().flat_map(|words| words.split_whitespace()) {
        let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
        command = match command.find_subcommand(word) {
            Some(found) => found.clone(),
            None if names.is_empty() => {
                complain(&format!("lisle: \"{}\" has no commands of its own", words.join(" ")));
                return Exit::Usage;
            }
            None => {
                let near = nearest(word, names.iter().map(String::as_str));
                complain(&format!("lisle: no command {word:?}{}", hint(near, &names)));
                return Exit::Usage;
            }
        };
        words.push(command.get_name().to_owned());
    }
    match page(command, &words.join(" ")) {
        Ok(page) => {
            put(&String::from_utf8_lossy(&page));
            Exit::Done
        }
        Err(error) => {
            complain(&format!("lisle: {error}"));
            Exit::Failed
        }
    }
}

/// Writes the pages of a command and of all below it.
fn write_all(command: &Command, words: &str, dir: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        write_all(below, format!("{words} {}", below.get_name()).trim_start(), dir)?;
    }
    let name = clap_mangen::Man::new(command.clone()).get_filename();
    std::fs::write(dir.join(name), page(command.clone(), words)?)
}

/// Page of a command, in roff.
fn page(command: Command, words: &str) -> io::Result<Vec<u8>> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().to_owned();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_commands = command.get_subcommands().any(|one| !one.is_hide_set());
    let man = clap_mangen::Man::new(command.override_usage(usage))
        .source(concat!("lisle ", env!("CARGO_PKG_VERSION")))
        .manual("lisle manual");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if has_commands {
        man.render_subcommands_section(&mut out)?;
    }
    let mut rest = Roff::new();
    terms(&mut rest, "EXIT STATUS", None, statuses(words).0);
    terms(&mut rest, "ENVIRONMENT", None, ENVIRONMENT);
    terms(&mut rest, "FILES", Some(FOLDERS), FILES);
    if !examples.is_empty() {
        show_examples(&mut rest, &examples);
    }
    see_also(&mut rest, words);
    rest.to_writer(&mut out)?;
    Ok(out)
}

/// Section of words with what they mean.
fn terms(page: &mut Roff, heading: &str, lead: Option<&str>, all: &[(&str, &str)]) {
    page.control("SH", [heading]);
    if let Some(lead) = lead {
        page.text([roman(plain(lead))]);
    }
    for (word, meaning) in all {
        page.control("TP", []);
        page.text([bold(*word)]);
        page.text([roman(plain(meaning))]);
    }
}

fn show_examples(page: &mut Roff, examples: &str) {
    page.control("SH", ["EXAMPLES"]);
    page.control("nf", []);
    for line in examples.lines().filter(|line| *line != "Examples:") {
        page.text([roman(line.trim_start_matches("Example:").trim())]);
    }
    page.control("fi", []);
}

fn see_also(page: &mut Roff, words: &str) {
    page.control("SH", ["SEE ALSO"]);
    let mut pages: Vec<Inline> = Vec::new();
    if !words.is_empty() {
        let above = words.rsplit_once(' ').map(|(above, _)| format!("lisle-{}", above.replace(' ', "-")));
        for name in std::iter::once("lisle".to_owned()).chain(above) {
            pages.extend([bold(name), roman("(1), ")]);
        }
    }
    pages.extend([bold("lisle help"), roman(" for the manual by topics")]);
    page.text(pages);
}

/// A cell of a table without its Markdown.
fn plain(markdown: &str) -> String {
    let mut out = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_lose_their_markdown() {
        assert_eq!(plain("see `a.toml`, [models](models.md) and *b* …"), "see a.toml, models and b …");
    }
}
