//! Arguments of `lisle context`, `lisle pattern` and `lisle strategy`.

use super::complete;
use super::json::Json;
use super::run::RunArgs;
use super::values::prompt_name;

use clap::{Args as ClapArgs, Subcommand};
use clap_complete::engine::ArgValueCandidates;

/// `lisle context`.
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List contexts and the folders they come from.
    #[command(alias = "ls", after_help = "Example: lisle context list --json")]
    List(Json),
    /// Print a context.
    #[command(after_help = "Example: lisle context show writer")]
    Show(ContextName),
    /// Edit a context in $VISUAL or $EDITOR; a new name makes a new one.
    #[command(after_help = "Example: lisle context edit writer")]
    Edit(EditContext),
    /// Set the text of a context from the arguments, or from stdin.
    #[command(
        alias = "add",
        after_help = "Examples:\n  lisle context set writer \"Short sentences. No jargon.\"\n  lisle context set style < STYLE.md"
    )]
    Set(SetContext),
    /// Rename a context.
    #[command(alias = "mv", after_help = "Example: lisle context rename writer author")]
    Rename(RenameContext),
    /// Delete contexts. Sessions that use one keep its text.
    #[command(alias = "rm", after_help = "Example: lisle context delete writer")]
    Delete(ContextNames),
}

/// `lisle pattern`.
#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// List patterns and the folders they come from.
    #[command(alias = "ls", after_help = "Example: lisle pattern list --json")]
    List(Json),
    /// Print a pattern.
    #[command(after_help = "Example: lisle pattern show summarize")]
    Show(PatternName),
    /// Send a message through a pattern, as "lisle run --pattern NAME" does.
    #[command(after_help = "Example: lisle pattern run summarize < notes.txt")]
    Run(Box<PatternRun>),
}

/// `lisle strategy`.
#[derive(Debug, Subcommand)]
pub enum StrategyCommand {
    /// List strategies with their descriptions and the folders they come from.
    #[command(alias = "ls", after_help = "Example: lisle strategy list --json")]
    List(Json),
    /// Print the prompt of a strategy.
    #[command(after_help = "Example: lisle strategy show cot")]
    Show(StrategyName),
}

/// One context.
#[derive(Debug, ClapArgs)]
pub struct ContextName {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::contexts))]
    pub name: String,
}

/// One pattern.
#[derive(Debug, ClapArgs)]
pub struct PatternName {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::patterns))]
    pub name: String,
}

/// One strategy.
#[derive(Debug, ClapArgs)]
pub struct StrategyName {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::strategies))]
    pub name: String,
}

/// Several contexts.
#[derive(Debug, ClapArgs)]
pub struct ContextNames {
    /// Names.
    #[arg(value_name = "NAME", required = true, add = ArgValueCandidates::new(complete::contexts))]
    pub names: Vec<String>,
}

/// `lisle context edit`.
#[derive(Debug, ClapArgs)]
pub struct EditContext {
    /// Name.
    #[arg(value_name = "NAME", value_parser = prompt_name, add = ArgValueCandidates::new(complete::contexts))]
    pub name: String,
    /// Make a new one in the workspace's folder, not in the config folder.
    #[arg(long)]
    pub local: bool,
}

/// `lisle context set`.
#[derive(Debug, ClapArgs)]
pub struct SetContext {
    /// Name.
    #[arg(value_name = "NAME", value_parser = prompt_name, add = ArgValueCandidates::new(complete::contexts))]
    pub name: String,
    /// Text; without it stdin is read.
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// Keep it in the workspace's folder, not in the config folder.
    #[arg(long)]
    pub local: bool,
}

/// `lisle context rename`.
#[derive(Debug, ClapArgs)]
pub struct RenameContext {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::contexts))]
    pub name: String,
    /// New name.
    #[arg(value_name = "NEW", value_parser = prompt_name)]
    pub to: String,
}

/// `lisle pattern run`.
#[derive(Debug, ClapArgs)]
pub struct PatternRun {
    /// Pattern.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::patterns))]
    pub name: String,
    /// The rest is as for `lisle run`.
    #[command(flatten)]
    pub run: RunArgs,
}
