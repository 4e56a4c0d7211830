//! The conditions of views: a small language, the part of Filtrex that Craft Agents' views use.
//!
//! ```text
//! hasUnread == true
//! daysSince(lastUsedAt) > 7 and not (sessionStatus in ("done", "cancelled"))
//! contains(labels, "bug") or tokenUsage.costUsd > 1
//! ```
//!
//! Weakest first: `or`, `and`, `not`, `in` and `not in`, `==` and `!=`, `<` `<=` `>` `>=`, `+` and `-`, `*` `/` `%`, `^`,
//! `-x`. Every field and function has one type, so what can never be true (a number compared with a text, a field that
//! does not exist) is found when the condition is read and not when it runs; in Craft Agents such a view is silent, or
//! matches every session. Which views there are is the workspace's business.

use super::ids::At;
use super::nearest::nearest;
use super::permission::Mode;
use super::property::split_label;
use super::session::{Activity, SessionMeta};
use std::borrow::Cow;
use std::fmt;

mod parse;

/// Error in a condition, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The byte of the text at which it goes wrong; its length where something is missing at the end.
    pub at: usize,
    /// The problem, as a sentence.
    pub text: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.text, self.at)
    }
}

impl std::error::Error for ExpressionError {}

/// A condition that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: ExpressionNode,
}

impl Expression {
    /// Reads a condition.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parse::parse(text).map(|root| Self { root })
    }

    /// True if it holds for a session. `now` is the end of ages.
    ///
    /// # Errors
    /// If it cannot be computed: a division by zero.
    pub fn matches(&self, session: &SessionMeta, now: At) -> Result<bool, String> {
        Ok(match (Subject { session, now }).value(&self.root)? {
            ExpressionValue::Bool(is) => is,
            // A number or a text as a condition means that there is any, as in Craft Agents.
            ExpressionValue::Number(number) => number != 0.0 && !number.is_nan(),
            ExpressionValue::Text(text) => !text.is_empty(),
            ExpressionValue::List(_) => true,
        })
    }
}

/// Field of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Preview,
    Status,
    Mode,
    Model,
    LastRole,
    LastMessage,
    Created,
    Messages,
    LabelCount,
    Flagged,
    Unread,
    Processing,
    PlanPending,
    InputTokens,
    OutputTokens,
    TotalTokens,
    ContextTokens,
    Cost,
    Labels,
}

/// The fields by their names in the files.
const FIELDS: [(&str, Field, ExpressionType); 21] = [
    ("name", Field::Name, ExpressionType::Text),
    ("preview", Field::Preview, ExpressionType::Text),
    ("sessionStatus", Field::Status, ExpressionType::Text),
    ("todoState", Field::Status, ExpressionType::Text),
    ("permissionMode", Field::Mode, ExpressionType::Text),
    ("model", Field::Model, ExpressionType::Text),
    ("lastMessageRole", Field::LastRole, ExpressionType::Text),
    ("lastUsedAt", Field::LastMessage, ExpressionType::Number),
    ("createdAt", Field::Created, ExpressionType::Number),
    ("messageCount", Field::Messages, ExpressionType::Number),
    ("labelCount", Field::LabelCount, ExpressionType::Number),
    ("isFlagged", Field::Flagged, ExpressionType::Bool),
    ("hasUnread", Field::Unread, ExpressionType::Bool),
    ("isProcessing", Field::Processing, ExpressionType::Bool),
    ("hasPendingPlan", Field::PlanPending, ExpressionType::Bool),
    ("tokenUsage.inputTokens", Field::InputTokens, ExpressionType::Number),
    ("tokenUsage.outputTokens", Field::OutputTokens, ExpressionType::Number),
    ("tokenUsage.totalTokens", Field::TotalTokens, ExpressionType::Number),
    ("tokenUsage.contextTokens", Field::ContextTokens, ExpressionType::Number),
    ("tokenUsage.costUsd", Field::Cost, ExpressionType::Number),
    ("labels", Field::Labels, ExpressionType::List),
];

/// The names that a condition can ask for, for help and completion.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, ..)| *name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    DaysSince,
    HoursSince,
    Contains,
    Length,
    StartsWith,
    Lower,
}

/// The functions by their names, with how they are written.
const FUNCTIONS: [(&str, Function, &str); 6] = [
    ("daysSince", Function::DaysSince, "daysSince(lastUsedAt)"),
    ("hoursSince", Function::HoursSince, "hoursSince(lastUsedAt)"),
    ("contains", Function::Contains, "contains(labels, \"bug\") or contains(name, \"fix\")"),
    ("length", Function::Length, "length(labels) or length(name)"),
    ("startsWith", Function::StartsWith, "startsWith(name, \"Fix\")"),
    ("lower", Function::Lower, "lower(name)"),
];

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpressionType {
    Bool,
    Number,
    Text,
    List,
}

impl ExpressionType {
    fn words(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Equality {
    Same,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Less,
    LessOrSame,
    More,
    MoreOrSame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Plus,
    Minus,
    Times,
    Over,
    Rest,
    Power,
}

/// Chains of one strength are lists, so that only parentheses make it deep.
#[derive(Clone, Debug, PartialEq)]
enum ExpressionNode {
    Bool(bool),
    Number(f64),
    Text(String),
    Field(Field),
    Or(Vec<ExpressionNode>),
    And(Vec<ExpressionNode>),
    Not(Box<ExpressionNode>),
    Minus(Box<ExpressionNode>),
    In(Box<ExpressionNode>, Vec<ExpressionNode>),
    Equal(Box<ExpressionNode>, Vec<(Equality, ExpressionNode)>),
    Ordered(Box<ExpressionNode>, Vec<(Order, ExpressionNode)>),
    Sum(Box<ExpressionNode>, Vec<(Sum, ExpressionNode)>),
    Call(Function, Vec<ExpressionNode>),
}

#[derive(Clone, Debug, PartialEq)]
enum ExpressionValue<'a> {
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    List(&'a [String]),
}

impl ExpressionValue<'_> {
    fn kind(&self) -> ExpressionType {
        match self {
            Self::Bool(_) => ExpressionType::Bool,
            Self::Number(_) => ExpressionType::Number,
            Self::Text(_) => ExpressionType::Text,
            Self::List(_) => ExpressionType::List,
        }
    }
}

const MS_PER_HOUR: f64 = 3_600_000.0;

/// Subject of a condition. The types were checked when it was read, so a type error here is a
/// mistake in the reader; it is still an error and never a match.
struct Subject<'a> {
    session: &'a SessionMeta,
    now: At,
}

impl<'a> Subject<'a> {
    fn value(&self, node: &'a ExpressionNode) -> Result<ExpressionValue<'a>, String> {
        Ok(match node {
            ExpressionNode::Bool(is) => ExpressionValue::Bool(*is),
            ExpressionNode::Number(number) => ExpressionValue::Number(*number),
            ExpressionNode::Text(text) => ExpressionValue::Text(text.as_str().into()),
            ExpressionNode::Field(field) => self.field(*field),
            ExpressionNode::Or(parts) => {
                for part in parts {
                    if self.truth(part)? {
                        return Ok(ExpressionValue::Bool(true));
                    }
                }
                ExpressionValue::Bool(false)
            }
            ExpressionNode::And(parts) => {
                for part in parts {
                    if !self.truth(part)? {
                        return Ok(ExpressionValue::Bool(false));
                    }
                }
                ExpressionValue::Bool(true)
            }
            ExpressionNode::Not(inner) => ExpressionValue::Bool(!self.truth(inner)?),
            ExpressionNode::Minus(inner) => ExpressionValue::Number(-self.number(inner)?),
            ExpressionNode::In(one, list) => ExpressionValue::Bool(self.is_in(one, list)?),
            ExpressionNode::Equal(first, rest) => {
                let modes = is_mode(first) || rest.iter().any(|(_, node)| is_mode(node));
                let mut value = self.operand(first, modes)?;
                for (equality, other) in rest {
                    let same = value == self.operand(other, modes)?;
                    value = ExpressionValue::Bool(same == (*equality == Equality::Same));
                }
                value
            }
            ExpressionNode::Ordered(first, rest) => {
                let mut left = self.number(first)?;
                for (order, other) in rest {
                    let right = self.number(other)?;
                    let holds = match order {
                        Order::Less => left < right,
                        Order::LessOrSame => left <= right,
                        Order::More => left > right,
                        Order::MoreOrSame => left >= right,
                    };
                    if !holds {
                        return Ok(ExpressionValue::Bool(false));
                    }
                    left = right;
                }
                ExpressionValue::Bool(true)
            }
            ExpressionNode::Sum(first, rest) => {
                let mut value = self.number(first)?;
                for (sum, other) in rest {
                    let other = self.number(other)?;
                    value = match sum {
                        Sum::Plus => value + other,
                        Sum::Minus => value - other,
                        Sum::Times => value * other,
                        Sum::Power => value.powf(other),
                        Sum::Over | Sum::Rest if other == 0.0 => return Err("a division by zero".to_owned()),
                        Sum::Over => value / other,
                        Sum::Rest => value.rem_euclid(other),
                    };
                }
                ExpressionValue::Number(value)
            }
            ExpressionNode::Call(function, inputs) => self.call(*function, inputs)?,
        })
    }

    fn field(&self, field: Field) -> ExpressionValue<'a> {
        let session = self.session;
        #[allow(clippy::cast_precision_loss, reason = "counts and times are far below 2^53")]
        let count = |number: u64| ExpressionValue::Number(number as f64);
        let text = |text: &'a str| ExpressionValue::Text(text.into());
        match field {
            Field::Name => text(&session.title),
            Field::Preview => text(&session.preview),
            Field::Status => text(&session.status),
            Field::Mode => text(Mode::stored(session.mode)),
            Field::Model => text(session.model.as_deref().unwrap_or_default()),
            Field::LastRole => text(session.last_role.as_deref().unwrap_or_default()),
            // Without a message there was no last one, whatever the list sorts by.
            Field::LastMessage if session.messages == 0 => ExpressionValue::Number(0.0),
            Field::LastMessage => time(session.last_message),
            Field::Created => time(session.created),
            Field::Messages => count(session.messages),
            Field::LabelCount => count(session.labels.len() as u64),
            Field::Flagged => ExpressionValue::Bool(session.flagged),
            Field::Unread => ExpressionValue::Bool(session.unread),
            Field::Processing => ExpressionValue::Bool(match session.activity {
                Activity::Idle => false,
                Activity::Running(_) | Activity::Stopping => true,
                // A turn ends with its plan; with an approval or a question it waits in the middle.
                Activity::NeedsYou(_) => !session.plan_pending,
            }),
            Field::PlanPending => ExpressionValue::Bool(session.plan_pending),
            Field::InputTokens => count(session.usage.input_tokens),
            Field::OutputTokens => count(session.usage.output_tokens),
            Field::TotalTokens => count(session.usage.total_tokens),
            Field::ContextTokens => count(session.usage.context_tokens),
            Field::Cost => ExpressionValue::Number(session.usage.cost_usd),
            Field::Labels => ExpressionValue::List(&session.labels),
        }
    }

    fn call(&self, function: Function, inputs: &'a [ExpressionNode]) -> Result<ExpressionValue<'a>, String> {
        let input = |n: usize| {
            let node = inputs.get(n).ok_or("a function without arguments")?;
            self.value(node)
        };
        let text = |n: usize| match input(n)? {
            ExpressionValue::Text(text) => Ok(text),
            other => Err(wrong(other.kind(), ExpressionType::Text)),
        };
        Ok(match function {
            Function::DaysSince => ExpressionValue::Number(self.hours(input(0)?)? / 24.0),
            Function::HoursSince => ExpressionValue::Number(self.hours(input(0)?)?),
            Function::Contains => ExpressionValue::Bool(match input(0)? {
                ExpressionValue::Text(whole) => whole.contains(&*text(1)?),
                ExpressionValue::List(labels) => has(labels, &text(1)?),
                other => return Err(wrong(other.kind(), ExpressionType::List)),
            }),
            #[allow(clippy::cast_precision_loss, reason = "no text is that long")]
            Function::Length => ExpressionValue::Number(match input(0)? {
                ExpressionValue::Text(text) => text.chars().count() as f64,
                ExpressionValue::List(labels) => labels.len() as f64,
                other => return Err(wrong(other.kind(), ExpressionType::List)),
            }),
            Function::StartsWith => ExpressionValue::Bool(text(0)?.starts_with(&*text(1)?)),
            Function::Lower => ExpressionValue::Text(text(0)?.to_lowercase().into()),
        })
    }

    /// Hours since a time; 0 when there was none.
    fn hours(&self, then: ExpressionValue<'_>) -> Result<f64, String> {
        let ExpressionValue::Number(then) = then else { return Err(wrong(then.kind(), ExpressionType::Number)) };
        let ExpressionValue::Number(now) = time(self.now) else { return Ok(0.0) };
        Ok(if then <= 0.0 { 0.0 } else { (now - then) / MS_PER_HOUR })
    }

    fn is_in(&self, one: &'a ExpressionNode, list: &'a [ExpressionNode]) -> Result<bool, String> {
        let modes = is_mode(one) || list.iter().any(is_mode);
        let one = self.operand(one, modes)?;
        let mut among = Vec::with_capacity(list.len());
        for node in list {
            among.push(self.operand(node, modes)?);
        }
        let any = |text: &str| {
            among.iter().any(|value| match value {
                ExpressionValue::List(labels) => has(labels, text),
                ExpressionValue::Text(other) => other == text,
                _ => false,
            })
        };
        Ok(match &one {
            ExpressionValue::List(labels) => labels.iter().all(|label| any(label) || any(split_label(label).0)),
            ExpressionValue::Text(text) => any(text),
            other => among.contains(other),
        })
    }

    /// Value beside others. Among `modes` each name of a permission mode counts as the stored one.
    fn operand(&self, node: &'a ExpressionNode, modes: bool) -> Result<ExpressionValue<'a>, String> {
        Ok(match self.value(node)? {
            ExpressionValue::Text(text) if modes => {
                ExpressionValue::Text(Mode::parse(&text).map_or(text, |mode| mode.stored().into()))
            }
            value => value,
        })
    }

    fn truth(&self, node: &'a ExpressionNode) -> Result<bool, String> {
        match self.value(node)? {
            ExpressionValue::Bool(is) => Ok(is),
            other => Err(wrong(other.kind(), ExpressionType::Bool)),
        }
    }

    fn number(&self, node: &'a ExpressionNode) -> Result<f64, String> {
        match self.value(node)? {
            ExpressionValue::Number(number) => Ok(number),
            other => Err(wrong(other.kind(), ExpressionType::Number)),
        }
    }
}

fn is_mode(node: &ExpressionNode) -> bool {
    matches!(node, ExpressionNode::Field(Field::Mode))
}

/// A label is meant by its whole entry, or by its id with any value.
fn has(labels: &[String], wanted: &str) -> bool {
    labels.iter().any(|label| label == wanted || split_label(label).0 == wanted)
}

#[allow(clippy::cast_precision_loss, reason = "times are far below 2^53 milliseconds")]
fn time(at: At) -> ExpressionValue<'static> {
    ExpressionValue::Number(at.0 as f64)
}

fn wrong(is: ExpressionType, wanted: ExpressionType) -> String {
    format!("{} where {} is expected", is.words(), wanted.words())
}

#[cfg(test)]
mod tests;
