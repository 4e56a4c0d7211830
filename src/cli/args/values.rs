//! Values of arguments: read from their text, with a few words where they are wrong.

use crate::domain::export::Format;
use crate::domain::nearest::nearest;
use crate::domain::prompt_text::{is_variable, name_fault};
use crate::domain::property::ValueType;
use crate::domain::spending::UsageBy;
use crate::domain::trash::TrashId;
use crate::domain::{At, ConnectionName, MessageId, Mode, SessionId};
use crate::protocol::Scope;
use crate::store::HistoryKind;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Parser of a value that is one of some words, which help and man pages then list. Other spellings may be taken as well.
#[derive(Clone)]
pub(super) struct OneOf<T: Clone> {
    parse: fn(&str) -> Result<T, String>,
    words: Vec<&'static str>,
}

impl<T: Clone> OneOf<T> {
    pub(super) fn new(parse: fn(&str) -> Result<T, String>, words: impl IntoIterator<Item = &'static str>) -> Self {
        Self { parse, words: words.into_iter().collect() }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(|word| PossibleValue::new(*word))))
    }
}

/// Permission mode.
pub(super) fn modes() -> OneOf<Mode> {
    OneOf::new(mode, [Mode::Explore, Mode::Ask, Mode::Execute].map(Mode::word))
}

/// Format of an export.
pub(super) fn formats() -> OneOf<Format> {
    OneOf::new(format, Format::ALL.map(Format::word))
}

/// Program whose sessions are imported.
pub(super) fn history_kinds() -> OneOf<HistoryKind> {
    OneOf::new(history_kind, HistoryKind::ALL.map(HistoryKind::word))
}

/// Group of `lisle usage`.
pub(super) fn groups() -> OneOf<UsageBy> {
    OneOf::new(by, ["day", "model", "session"])
}

/// Scope of a token.
pub(super) fn scopes() -> OneOf<Scope> {
    OneOf::new(scope, Scope::ALL.map(Scope::name))
}

/// Type of the value of a label.
pub(super) fn value_types() -> OneOf<ValueType> {
    OneOf::new(value_type, ["string", "number", "date"])
}

fn format(text: &str) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| "expected md, html, json, text or openclaw".to_owned())
}

fn history_kind(text: &str) -> Result<HistoryKind, String> {
    let words = HistoryKind::ALL.map(HistoryKind::word).join(", ");
    let near = nearest(text, HistoryKind::ALL.map(HistoryKind::word)).map(|near| format!(". Did you mean {near}?"));
    HistoryKind::parse(text).ok_or_else(|| format!("expected one of {words}{}", near.unwrap_or_default()))
}

fn by(text: &str) -> Result<UsageBy, String> {
    match text {
        "day" => Ok(UsageBy::Day),
        "model" => Ok(UsageBy::Model),
        "session" => Ok(UsageBy::Session),
        _ => Err("expected day, model or session".to_owned()),
    }
}

pub(super) fn since(text: &str) -> Result<At, String> {
    let wrong = || "expected a date like 2026-11-01, or days like 7d".to_owned();
    let zone = jiff::tz::TimeZone::system();
    let date = match text.strip_suffix('d').map(str::parse::<u16>) {
        Some(days) => {
            let today = jiff::Zoned::now().date();
            today.checked_sub(jiff::Span::new().days(days.map_err(|_| wrong())?)).map_err(|_| wrong())?
        }
        None => text.parse::<jiff::civil::Date>().map_err(|_| wrong())?,
    };
    date.to_zoned(zone).map(|start| At(start.timestamp().as_millisecond())).map_err(|_| wrong())
}

/// Address and port to listen on.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let port = text.trim_start_matches(':');
        match port.parse::<u16>() {
            Ok(port) => format!("it is an address and a port: 127.0.0.1:{port}"),
            Err(_) => "it is an address and a port, such as 127.0.0.1:7788 or [::1]:7788".to_owned(),
        }
    })
}

/// A time such as `30m`: seconds, minutes, hours or days.
pub(super) fn span(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || "it is a time like 90s, 30m, 2h or 1d".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let seconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)?;
    if (1..=31_536_000).contains(&seconds) { Ok(std::time::Duration::from_secs(seconds)) } else { Err(wrong()) }
}

/// A scope of a token.
fn scope(text: &str) -> Result<Scope, String> {
    let found = Scope::ALL.into_iter().find(|scope| scope.name() == text);
    found.ok_or_else(|| "it is read, write, approve or admin".to_owned())
}

pub(super) fn token_name(text: &str) -> Result<String, String> {
    let fits = crate::gateway::tokens::is_token_name(text);
    if fits { Ok(text.to_owned()) } else { Err("a name has 1 to 40 letters, digits, dots, - and _".to_owned()) }
}

pub(super) fn message_id(text: &str) -> Result<MessageId, String> {
    if text.trim().is_empty() { Err("empty message id".to_owned()) } else { Ok(MessageId::new(text)) }
}

pub(super) fn trash_id(text: &str) -> Result<TrashId, String> {
    // The characters of a session's id: it is a directory's name, too.
    SessionId::parse(text).map(|_| TrashId(text.to_owned())).map_err(|_| format!("not a name in the trash: {text:?}"))
}

fn value_type(text: &str) -> Result<ValueType, String> {
    ValueType::parse(text).ok_or_else(|| "expected string, number or date".to_owned())
}

pub(super) fn session_id(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).map_err(|error| error.to_string())
}

/// Name or id of a session.
pub(super) fn session_name(text: &str) -> Result<String, String> {
    if SessionId::parse(text).is_ok() { Ok(text.to_owned()) } else { prompt_name(text) }
}

/// Name of a context, a pattern or a strategy.
pub(super) fn prompt_name(text: &str) -> Result<String, String> {
    name_fault(text).map_or_else(|| Ok(text.to_owned()), Err)
}

/// Variable of a pattern: `NAME=VALUE`, or Fabric's `NAME:VALUE` and `#NAME:VALUE`.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let pair = text.strip_prefix('#').unwrap_or(text);
    let (name, value) = pair.split_once(['=', ':']).ok_or("expected NAME=VALUE")?;
    if is_variable(name) {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err(format!("not a variable name: {name:?}"))
    }
}

/// Path of a file to attach, which has to be there.
pub(super) fn attachment(text: &str) -> Result<PathBuf, String> {
    let path = std::path::absolute(text).map_err(|error| error.to_string())?;
    match std::fs::metadata(&path) {
        Ok(data) if data.is_file() => Ok(path),
        Ok(_) => Err("it is not a file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A time limit: a span, or seconds alone.
pub(super) fn limit(text: &str) -> Result<Duration, String> {
    let seconds = if text.bytes().all(|b| b.is_ascii_digit()) { format!("{text}s") } else { text.to_owned() };
    span(&seconds)
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "expected explore, ask or execute".to_owned())
}

pub(super) fn connection(text: &str) -> Result<ConnectionName, String> {
    if text.trim().is_empty() { Err("empty connection name".to_owned()) } else { Ok(ConnectionName::new(text)) }
}
