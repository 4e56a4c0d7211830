//! Arguments of the commands around the program itself: completions, man pages, schemas, configuration, themes and keys.

use super::complete;
use super::json::Json;
use clap::{Args as ClapArgs, Subcommand, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCandidates;
use std::path::PathBuf;

/// `lisle completions`.
#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// Shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Shell with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash: source <(lisle completions bash)
    Bash,
    /// Zsh: source <(lisle completions zsh)
    Zsh,
    /// Fish: lisle completions fish | source
    Fish,
    /// Nushell: lisle completions nushell | save -f lisle.nu
    Nushell,
    /// Elvish: eval (lisle completions elvish | slurp)
    Elvish,
    /// PowerShell: lisle completions powershell | Out-String | Invoke-Expression
    Powershell,
}

/// `lisle man`.
#[derive(Debug, ClapArgs)]
pub struct Man {
    /// Command, such as "sessions list" [default: lisle itself].
    #[arg(value_name = "COMMAND", add = ArgValueCandidates::new(complete::commands))]
    pub command: Vec<String>,
    /// Write the pages of all commands to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "command", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// `lisle schema`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum SchemaCommand {
    /// JSON Schema of the lines of "lisle run --format stream-json".
    #[command(after_help = "Example: lisle schema events > events.schema.json")]
    Events,
    /// JSON Schema of the line of "lisle run --format json".
    #[command(after_help = "Example: lisle schema result > result.schema.json")]
    Result,
    /// JSON Schema of the gateway: frames, methods, events, and bodies of its HTTP requests.
    #[command(after_help = "Example: lisle schema gateway > gateway.schema.json")]
    Gateway,
}

/// `lisle config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print settings with their values and where each comes from.
    #[command(after_help = "Example: lisle config show ui")]
    Show(ShowConfig),
    /// Print the path of config.toml.
    #[command(after_help = "Example: cat \"$(lisle config path)\"")]
    Path,
    /// Check config.toml, keymap and themes.
    #[command(after_help = "Example: lisle config check && echo fine")]
    Check,
    /// Edit config.toml in $VISUAL or $EDITOR, and check it.
    #[command(after_help = "Example: EDITOR=nano lisle config edit")]
    Edit,
}

/// `lisle config show`.
#[derive(Debug, ClapArgs)]
pub struct ShowConfig {
    /// Only settings whose key begins with this.
    #[arg(value_name = "KEY", add = ArgValueCandidates::new(complete::settings))]
    pub key: Option<String>,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `lisle themes`.
#[derive(Debug, Subcommand)]
pub enum ThemesCommand {
    /// List themes and where they come from.
    #[command(after_help = "Example: lisle themes list --json")]
    List(Json),
    /// Print the file of a theme, to begin one of your own.
    #[command(after_help = "Example: lisle themes show nord > ~/.config/lisle/themes/mine.toml")]
    Show(ThemeName),
    /// Check a theme, or all of your own.
    #[command(after_help = "Example: lisle themes check mine")]
    Check(ThemeNames),
}

/// One theme.
#[derive(Debug, ClapArgs)]
pub struct ThemeName {
    /// Name.
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::themes))]
    pub name: String,
}

/// Some themes.
#[derive(Debug, ClapArgs)]
pub struct ThemeNames {
    /// Names [default: your own].
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::themes))]
    pub names: Vec<String>,
}

/// `lisle keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List keys by place, with what they do.
    #[command(after_help = "Example: lisle keys list composer")]
    List(ListKeys),
    /// Print the file of a keymap.
    #[command(after_help = "Example: lisle keys show vim")]
    Show(KeymapName),
    /// Check the keymap in force.
    #[command(after_help = "Example: lisle keys check")]
    Check,
}

/// `lisle keys list`.
#[derive(Debug, ClapArgs)]
pub struct ListKeys {
    /// Only this place, such as composer or chat.
    #[arg(value_name = "PLACE", add = ArgValueCandidates::new(complete::key_places))]
    pub place: Option<String>,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// One keymap.
#[derive(Debug, ClapArgs)]
pub struct KeymapName {
    /// Name [default: the one in force].
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::keymaps))]
    pub name: Option<String>,
}
