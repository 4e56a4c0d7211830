//! Decides what a response of the rehearsal is: a pure function from the request to beats.
//!
//! Everything is derived from the request: which script the user gave, which of its calls have results, what is next.

mod steps;

use super::plan::{DraftPlan, WISH};
use super::script::{Script, ScriptStep, VERBS, parse};
use super::words::{count, shorten};
use crate::domain::ids::CallId;
use crate::provider::{
    CallResult, ConversationItem, ModelRequest, ProposedCall, ProviderError, Reply, Stop, UserContent,
};
use serde_json::{Value, json};

/// Start of the user item after a plan was approved.
pub(super) const APPROVED: &str = "plan approved";
/// Start of the user item that requests changes to the plan.
pub(super) const CHANGE: &str = "change the plan";

/// Start of the system prompt of a compaction.
const SUMMING: &str = "You sum up a conversation";

/// The summary of a conversation that is given as text: what was wished, how much was called, what was said last.
fn sum_up(items: &[ConversationItem]) -> String {
    let text = match items.last() {
        Some(ConversationItem::User(UserContent { text, .. })) => text.as_str(),
        _ => "",
    };
    let of = |sort: &'static str| text.lines().filter_map(move |line| line.strip_prefix(sort));
    let wished: Vec<String> = of("USER: ").map(|line| format!("\"{}\"", shorten(line, 60))).collect();
    let last = of("ASSISTANT: ").next_back().map_or_else(|| "nothing".to_owned(), |line| shorten(line, 80));
    let before =
        if text.contains("The summary of what was before") { "It goes on from an earlier summary. " } else { "" };
    format!(
        "{before}Demo summary. Goal: {}. State: {} tool calls. Said last: {last}",
        if wished.is_empty() { "none".to_owned() } else { wished.join(", then ") },
        of("CALL ").count()
    )
}

/// A piece of a response, still without a clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Beat {
    /// Text, written word by word.
    Text(String),
    /// One word at the quicker pace of `stream`.
    Quick(String),
    /// Thinking, word by word.
    Thinking(String),
    /// A whole call.
    Call(ProposedCall),
    /// The request fails here; `times` says how often before it goes on, `None` for always.
    Fail { error: ProviderError, times: Option<u32> },
    /// The end.
    Stop(Stop),
}

/// A call of this turn with its result.
struct RehearsedCall<'a> {
    call: &'a ProposedCall,
    result: Option<&'a CallResult>,
}

/// Goes on, or the response is complete.
enum Flow {
    On,
    End,
}

/// The response to a request.
pub(super) fn act(request: &ModelRequest, seed: u64) -> Vec<Beat> {
    if request.system.starts_with(SUMMING) {
        return vec![Beat::Text(sum_up(&request.items)), Beat::Stop(Stop::Done)];
    }
    if let Some(text) = super::apart::answer(request) {
        return vec![Beat::Text(text), Beat::Stop(Stop::Done)];
    }
    let Some(brief) = Brief::of(&request.items) else {
        return vec![Beat::Text(help("")), Beat::Stop(Stop::Done)];
    };
    let mut turn = RehearsedTurn::new(request, &brief, seed);
    for remark in &brief.remarks {
        turn.note(&format!("You said meanwhile: {}", shorten(remark, 80)));
    }
    match &brief.job {
        RehearsalJob::Steps(steps) => turn.script(steps),
        RehearsalJob::CarryOut => turn.carry_out(),
        RehearsalJob::Change(wish) => turn.change_plan(wish),
        RehearsalJob::Wrong(why) => turn.say(&help(why)),
        RehearsalJob::Unknown => turn.say(&help("")),
    }
    turn.finish()
}

/// Script, and its position in the conversation.
struct Brief {
    job: RehearsalJob,
    /// Index of the user item.
    at: usize,
    /// Messages of the user during the script that are no script of their own.
    remarks: Vec<String>,
}

enum RehearsalJob {
    Steps(Vec<ScriptStep>),
    CarryOut,
    Change(String),
    Wrong(String),
    Unknown,
}

impl Brief {
    /// The last user item counts. One that is no script and came with the results of calls is a remark on the script before it.
    fn of(items: &[ConversationItem]) -> Option<Brief> {
        let mut remarks = Vec::new();
        for (at, item) in items.iter().enumerate().rev() {
            let ConversationItem::User(UserContent { text, .. }) = item else { continue };
            let job = RehearsalJob::of(text);
            let steered = at
                .checked_sub(1)
                .and_then(|before| items.get(before))
                .is_some_and(|i| matches!(i, ConversationItem::Results(_)));
            if matches!(job, RehearsalJob::Unknown) && steered {
                remarks.insert(0, text.clone());
                continue;
            }
            return Some(Brief { job, at, remarks });
        }
        None
    }
}

impl RehearsalJob {
    fn of(text: &str) -> RehearsalJob {
        let start = text.trim_start();
        let lower = start.to_ascii_lowercase();
        if lower.starts_with(APPROVED) {
            return RehearsalJob::CarryOut;
        }
        if lower.starts_with(CHANGE) {
            let wish = start.get(CHANGE.len()..).unwrap_or("").trim_start_matches([':', '.', ',']).trim();
            return RehearsalJob::Change(wish.to_owned());
        }
        match parse(text) {
            Script::Steps(steps) => RehearsalJob::Steps(steps),
            Script::Wrong(why) => RehearsalJob::Wrong(why),
            Script::Unknown => RehearsalJob::Unknown,
        }
    }
}

struct RehearsedTurn<'a> {
    request: &'a ModelRequest,
    deeds: Vec<RehearsedCall<'a>>,
    /// Number of calls that the steps so far account for.
    used: usize,
    beats: Vec<Beat>,
    bullets: Vec<String>,
    failures: usize,
    seed: u64,
    /// Names of calls made in this response, for their ids.
    made: usize,
}

impl<'a> RehearsedTurn<'a> {
    fn new(request: &'a ModelRequest, brief: &Brief, seed: u64) -> Self {
        let later = request.items.get(brief.at + 1..).unwrap_or(&[]);
        let results: Vec<&CallResult> = later
            .iter()
            .filter_map(|item| match item {
                ConversationItem::Results(results) => Some(results),
                _ => None,
            })
            .flatten()
            .collect();
        let deeds = replies(later)
            .flat_map(|reply| &reply.calls)
            .map(|call| RehearsedCall { call, result: results.iter().find(|result| result.id == call.id).copied() })
            .collect();
        RehearsedTurn { request, deeds, used: 0, beats: Vec::new(), bullets: Vec::new(), failures: 0, seed, made: 0 }
    }

    fn finish(mut self) -> Vec<Beat> {
        if !matches!(self.beats.last(), Some(Beat::Stop(_) | Beat::Fail { times: None, .. })) {
            self.beats.push(Beat::Stop(if self.made > 0 { Stop::Calls } else { Stop::Done }));
        }
        self.beats
    }

    fn say(&mut self, text: &str) {
        self.beats.push(Beat::Text(text.to_owned()));
    }

    fn note(&mut self, text: &str) {
        self.bullets.push(format!("- {text}"));
    }

    fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|spec| spec.name == tool)
    }

    /// One of three ways to say the same, so that a long rehearsal does not read like a form.
    fn say_one_of(&mut self, ways: [String; 3]) {
        let choice = (self.seed as usize).wrapping_add(self.request.items.len()).wrapping_add(self.used) % ways.len();
        if let Some(way) = ways.into_iter().nth(choice).filter(|way| !way.is_empty()) {
            self.say(&format!("{way}\n"));
        }
    }

    fn call(&mut self, tool: &str, input: Value) {
        let id = CallId::new(format!("call_{:012x}_{}", fingerprint(self.request) & 0xffff_ffff_ffff, self.made));
        self.made += 1;
        self.beats.push(Beat::Call(ProposedCall { id, name: tool.to_owned(), input }));
    }

    /// The next deed that is no word on how far things are.
    fn take(&mut self) -> Option<(&'a ProposedCall, &'a CallResult)> {
        while let Some(deed) = self.deeds.get(self.used) {
            self.used += 1;
            if !matches!(deed.call.name.as_str(), "todo" | "step")
                && let Some(result) = deed.result
            {
                return Some((deed.call, result));
            }
        }
        None
    }

    fn all_used(&self) -> bool {
        self.used >= self.deeds.len()
    }

    // -- scripts ------------------------------------------------------------------------------------------------

    fn script(&mut self, steps: &[ScriptStep]) {
        for step in steps {
            if matches!(self.step(step), Flow::End) {
                return;
            }
        }
        self.close();
    }

    /// The answer after the last step.
    fn close(&mut self) {
        let head = match self.failures {
            0 => "Done.".to_owned(),
            n if n == self.bullets.len() => "That didn't work.".to_owned(),
            n => format!("Done, except for {} that failed.", count(n, "step")),
        };
        let bullets = self.bullets.join("\n");
        self.say(&format!("**{head}**\n\n{bullets}\n\n*Demo: rules, not a language model.*\n"));
    }

    // -- plans --------------------------------------------------------------------------------------------------

    fn plan(&mut self, text: &str) -> Flow {
        let plan = DraftPlan::about(text);
        self.submit(plan)
    }

    fn submit(&mut self, plan: DraftPlan) -> Flow {
        if !self.offers("submit_plan") {
            self.failures += 1;
            self.note("**No plan**: plans are made in Explore mode.");
            return Flow::On;
        }
        let ways = [
            format!("Here is a plan for {}.", plan.title),
            format!("Here is how I would approach {}.", plan.title),
            format!("A plan for {}:", plan.title),
        ];
        let title = plan.title.clone();
        self.tool("submit_plan", plan.input(), ways, |_| format!("Submitted the plan \"{title}\" for your approval."))
    }

    fn change_plan(&mut self, wish: &str) {
        let mut plan = self.last_plan().unwrap_or_else(|| DraftPlan::about("the work"));
        if !wish.is_empty() {
            let at = plan.steps.len().saturating_sub(1);
            plan.steps.insert(at, format!("{WISH}{wish}"));
        }
        plan.summary = format!("{} Changed as requested.", plan.summary);
        if matches!(self.submit(plan), Flow::On) {
            self.close();
        }
    }

    /// The last plan of the conversation, as it was submitted.
    fn last_plan(&self) -> Option<DraftPlan> {
        let call =
            replies(&self.request.items).flat_map(|reply| &reply.calls).filter(|c| c.name == "submit_plan").last()?;
        let text = |key: &str| call.input.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let steps = call.input.get("steps").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let steps = steps.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Some(DraftPlan { title: text("title"), summary: text("summary"), steps, struck: Vec::new() })
    }

    /// The plan as it was approved: what the message says counts, and what is struck out there is not done.
    fn approved_plan(&self) -> Option<DraftPlan> {
        let said = self.request.items.iter().rev().find_map(|item| match item {
            ConversationItem::User(UserContent { text, .. })
                if text.trim_start().to_ascii_lowercase().starts_with(APPROVED) =>
            {
                Some(text.as_str())
            }
            _ => None,
        });
        let told = said.and_then(DraftPlan::approved);
        match (self.last_plan(), told) {
            (Some(plan), Some(told)) => Some(DraftPlan { summary: plan.summary, ..told }),
            (plan, told) => plan.or(told),
        }
    }

    /// Carries out the approved plan: list, write what was found, read it back, with a word on each step.
    fn carry_out(&mut self) {
        let Some(plan) = self.approved_plan() else {
            self.say("There is no plan in this conversation yet. Ask for one: `plan a tidy-up`.\n");
            return;
        };
        let file = plan.file();
        let last = plan.steps.len().saturating_sub(1);
        self.tick(&plan, 0, 0);
        if plan.does(0) && matches!(self.step(&ScriptStep::List { path: ".".to_owned() }), Flow::End) {
            return;
        }
        let found = self.deeds.iter().find(|deed| deed.call.name == "list").and_then(|deed| deed.result);
        let content = plan.content(found);
        let failures = self.failures;
        self.drop_calls();
        self.tick(&plan, 0, 1);
        if plan.does(1) && matches!(self.write(&file, &content), Flow::End) {
            return;
        }
        self.drop_calls();
        if self.failures > failures {
            self.report(&plan, 1, "failed");
            return self.close_told();
        }
        if plan.does(1) {
            self.tick(&plan, 1, last);
            if plan.does(last) && matches!(self.read(&file), Flow::End) {
                return;
            }
            self.drop_calls();
        } else if plan.does(last) {
            // What was not written cannot be read back.
            self.report(&plan, last, "skipped");
            return self.close_told();
        }
        if self.offers("step") {
            self.tick(&plan, last, plan.steps.len());
            return self.close_told();
        }
        let ticked = self.deeds.last().is_some_and(|deed| deed.call.name == "todo");
        if !ticked && self.offers("todo") && self.failures == failures {
            self.tick(&plan, last, plan.steps.len());
            return;
        }
        self.close();
    }

    /// The last words, once all that was to be reported is.
    fn close_told(&mut self) {
        if !self.beats.iter().any(|beat| matches!(beat, Beat::Call(_))) {
            self.close();
        }
    }

    /// Calls of a step that turned out to have its result already are not made again.
    fn drop_calls(&mut self) {
        self.beats.retain(|beat| !matches!(beat, Beat::Call(call) if call.name != "step"));
        self.made = self.beats.iter().filter(|beat| matches!(beat, Beat::Call(_))).count();
    }

    /// Says how far a step is, once.
    fn report(&mut self, plan: &DraftPlan, step: usize, status: &str) {
        let input = json!({"number": step + 1, "status": status});
        let told = self.deeds.iter().any(|deed| deed.call.name == "step" && deed.call.input == input);
        if !told && plan.does(step) && self.offers("step") {
            self.call("step", input);
        }
    }

    /// The steps from `from` on are done, the one at `now` is being done. Without a tool for steps the todo list says so.
    fn tick(&mut self, plan: &DraftPlan, from: usize, now: usize) {
        if self.offers("step") {
            (from..now).for_each(|step| self.report(plan, step, "done"));
            if now < plan.steps.len() {
                self.report(plan, now, "running");
            }
            return;
        }
        if !self.offers("todo") {
            return;
        }
        let items: Vec<Value> = plan
            .steps
            .iter()
            .enumerate()
            .map(|(i, content)| {
                let status = match i.cmp(&now) {
                    std::cmp::Ordering::Less => "completed",
                    std::cmp::Ordering::Equal => "in_progress",
                    std::cmp::Ordering::Greater => "pending",
                };
                json!({"content": content, "status": status})
            })
            .collect();
        self.call("todo", json!({ "items": items }));
    }
}

fn replies(items: &[ConversationItem]) -> impl Iterator<Item = &Reply> {
    items.iter().filter_map(|item| match item {
        ConversationItem::Assistant(reply) => Some(reply),
        _ => None,
    })
}

fn help(why: &str) -> String {
    let mut out = String::new();
    if !why.is_empty() {
        out.push_str(why);
        out.push_str("\n\n");
    }
    out.push_str("This is the demo: a few rules, not a language model. It understands:\n\n");
    for (verb, what) in VERBS {
        out.push_str(&format!("- `{verb}`: {what}\n"));
    }
    out.push_str("\nJoin several with \"then\": `list src then read README.md`. To talk to a model, choose another connection.\n");
    out
}

/// A number for the conversation of a request (FNV-1a): the same for a retry, another one after each step.
pub(super) fn fingerprint(request: &ModelRequest) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut feed = |text: &str| {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for item in &request.items {
        match item {
            ConversationItem::User(UserContent { text, .. }) => feed(text),
            ConversationItem::Assistant(reply) => {
                feed(&reply.text);
                reply.calls.iter().for_each(|call| feed(call.id.as_str()));
            }
            ConversationItem::Results(results) => results.iter().for_each(|result| {
                feed(result.id.as_str());
                feed(&result.text);
            }),
        }
    }
    hash
}
