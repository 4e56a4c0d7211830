//! Keys of a row: run state, counters, settings, links.

use crate::domain::ids::At;
use crate::routes::config::{QueueCap, QueueDrop, QueueMode, SendAction};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Source of a model override.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverrideSource {
    /// A fallback chose it.
    Auto,
    /// A person chose it.
    User,
}

/// Usage line below replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResponseUsage {
    /// Shown.
    On,
    /// Hidden.
    Off,
    /// Tokens only.
    Tokens,
    /// With cost.
    Full,
}

/// Triggers that wake the agent in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupActivation {
    /// A mention.
    Mention,
    /// Every message.
    Always,
}

macro_rules! optional_fields {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $($(#[$field_doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }
    };
}

optional_fields! {
    /// State of a conversation's runs.
    RunState {
        /// The system prompt was sent.
        system_sent: bool,
        /// The last run was aborted.
        aborted_last_run: bool,
        /// Queued messages up to this one are dropped.
        abort_cutoff_message_sid: String,
        /// Queued messages up to this time are dropped.
        abort_cutoff_timestamp: At,
        /// Status of the last run.
        status: Value,
        /// Start of the last run.
        started_at: At,
        /// End of the last run.
        ended_at: At,
        /// Duration of the last run.
        runtime_ms: u64,
        /// A change of model waits for the run's end.
        live_model_switch_pending: bool,
        /// Text of the last heartbeat.
        last_heartbeat_text: String,
        /// Time of the last heartbeat.
        last_heartbeat_sent_at: At,
        /// Ids of the conversation at command-line agents. Kept, they would bring the old conversation back.
        cli_session_ids: Value,
        /// The same at Claude Code.
        claude_cli_session_id: String,
        /// State of the ACP agent.
        acp: Value,
        /// Cached skills.
        skills_snapshot: Value,
        /// Cached report about the system prompt.
        system_prompt_report: Value,
    }
}

optional_fields! {
    /// Counters of a conversation; `None`: unknown.
    Counters {
        /// Input tokens of the last run.
        input_tokens: u64,
        /// Output tokens of the last run.
        output_tokens: u64,
        /// Tokens in the context.
        total_tokens: u64,
        /// `totalTokens` belongs to the last run.
        total_tokens_fresh: bool,
        /// Tokens read from the cache.
        cache_read: u64,
        /// Tokens written to the cache.
        cache_write: u64,
        /// Size of the context window.
        context_tokens: u64,
        /// Provider of the model that ran last.
        model_provider: String,
        /// Model that ran last.
        model: String,
        /// Model that a fallback replaced.
        fallback_notice_selected_model: String,
        /// Model that replaced it.
        fallback_notice_active_model: String,
        /// Reason.
        fallback_notice_reason: String,
        /// Number of compactions.
        compaction_count: u64,
        /// Compactions when the profile override was set.
        auth_profile_override_compaction_count: u64,
        /// Time of the last memory flush.
        memory_flush_at: At,
        /// Compactions at the last memory flush.
        memory_flush_compaction_count: u64,
        /// Checkpoints of compactions.
        compaction_checkpoints: Value,
    }
}

optional_fields! {
    /// Settings that people made, with the policies. A reset keeps them.
    RowSettings {
        /// Thinking level.
        thinking_level: String,
        /// Verbosity.
        verbose_level: String,
        /// Reasoning level.
        reasoning_level: String,
        /// Elevated level.
        elevated_level: String,
        /// Usage line.
        response_usage: ResponseUsage,
        /// Speech.
        tts_auto: String,
        /// Host of commands.
        exec_host: String,
        /// Security of commands.
        exec_security: String,
        /// Approval of commands.
        exec_ask: String,
        /// Node of commands.
        exec_node: String,
        /// Provider of the model override.
        provider_override: String,
        /// Model override.
        model_override: String,
        /// Source of the model override.
        model_override_source: OverrideSource,
        /// Profile override.
        auth_profile_override: String,
        /// Source of the profile override.
        auth_profile_override_source: OverrideSource,
        /// Triggers that wake the agent in a group.
        group_activation: GroupActivation,
        /// The next turn explains the activation.
        group_activation_needs_system_intro: bool,
        /// System prompt.
        system_prompt_override: String,
        /// Send policy; decides over all rules.
        send_policy: SendAction,
        /// Queue mode.
        queue_mode: QueueMode,
        /// Queue debounce.
        queue_debounce_ms: u64,
        /// Queue cap.
        queue_cap: QueueCap,
        /// Queue drop policy.
        queue_drop: QueueDrop,
    }
}

optional_fields! {
    /// Names of a session and pointers to others. A reset keeps them.
    RowLinks {
        /// Label, unique in the store.
        label: String,
        /// Name on screens.
        display_name: String,
        /// Key of the parent of a sub-agent.
        spawned_by: String,
        /// Depth of a sub-agent.
        spawn_depth: u64,
        /// Older form of `spawnedBy`.
        parent_session_key: String,
        /// The parent's conversation was forked; stops a second fork.
        forked_from_parent: bool,
        /// Key of the active named child.
        active_session_key: String,
        /// Key of the route that a named child belongs to.
        base_session_key: String,
        /// Slug of a named child.
        session_slug: String,
    }
}

pub(super) use optional_fields;
