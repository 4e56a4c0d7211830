//! Markdown to steps, tolerant to how models write them: `1.`, `1)`, `### Step 1`, all-ones, bullets that should have
//! been indented.

use super::{COMMENT, Outline, PlanForm, PlanStep, StepStatus};

/// A list or a row of step headings.
struct StepRun {
    start: usize,
    end: usize,
    items: Vec<Vec<String>>,
    form: PlanForm,
    /// The heading before it says that these are the steps.
    named: bool,
}

/// A line that begins an item of a numbered list.
struct ListItem<'l> {
    indent: usize,
    number: u64,
    /// Start of its text, in cells.
    offset: usize,
    text: &'l str,
}

/// An open code block: its sign, how often, and its indentation.
#[derive(Clone, Copy)]
struct OpenFence {
    sign: char,
    count: usize,
    indent: usize,
}

pub(super) fn outline(markdown: &str) -> Outline {
    let lines: Vec<&str> = markdown.lines().collect();
    let runs = runs(&lines);
    let chosen = runs
        .iter()
        .position(|run| run.form != PlanForm::List)
        .or_else(|| runs.iter().rposition(|run| run.named))
        .or_else(|| runs.len().checked_sub(1));
    let Some(run) = chosen.and_then(|at| runs.into_iter().nth(at)) else {
        return Outline { before: markdown.trim_end().to_owned(), ..Outline::default() };
    };
    let text = |lines: &[&str]| lines.join("\n");
    let items = run.items.into_iter().filter_map(step).enumerate();
    let steps = items.map(|(n, step)| PlanStep { number: u32::try_from(n + 1).unwrap_or(u32::MAX), ..step }).collect();
    Outline {
        before: text(&lines[..run.start]).trim_end().to_owned(),
        steps,
        after: text(&lines[run.end..]).trim().to_owned(),
        form: run.form,
    }
}

fn runs(lines: &[&str]) -> Vec<StepRun> {
    let mut found: Vec<StepRun> = Vec::new();
    let mut fence: Option<OpenFence> = None;
    let mut named = false;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if step_over(&mut fence, line) {
            at += 1;
            continue;
        }
        if let Some((depth, title)) = heading(line) {
            if step_title(title).is_some() {
                let run = headings(lines, at, depth);
                at = run.end;
                found.push(run);
                named = false;
                continue;
            }
            let title = title.to_lowercase();
            named = ["step", "plan", "task", "what will be done"].iter().any(|word| title.contains(word)) && depth > 1;
        } else if let Some(item) = item(line).filter(|item| item.indent <= 3) {
            let mut run = list(lines, at, &item);
            run.named = std::mem::take(&mut named);
            at = run.end;
            found.push(run);
            continue;
        }
        at += 1;
    }
    found
}

/// Keeps track of code blocks; whether the line belongs to one.
fn step_over(fence: &mut Option<OpenFence>, line: &str) -> bool {
    match *fence {
        Some(open) => {
            if closes(open, line) {
                *fence = None;
            }
            true
        }
        None => {
            *fence = opens(line);
            fence.is_some()
        }
    }
}

/// The list that begins with `first` on line `start`.
fn list(lines: &[&str], start: usize, first: &ListItem<'_>) -> StepRun {
    let mut items: Vec<Vec<String>> = Vec::new();
    let mut current = vec![first.text.trim_end().to_owned()];
    let (mut number, mut offset) = (first.number, first.offset);
    let mut fence: Option<OpenFence> = None;
    let mut after_blank = false;
    let mut at = start + 1;
    while let Some(line) = lines.get(at) {
        if line.trim().is_empty() {
            current.push(String::new());
            after_blank = true;
            at += 1;
            continue;
        }
        let indent = indentation(line);
        // A code block inside an item ends with the item.
        if fence.is_some_and(|open| open.indent >= offset && indent < offset) {
            fence = None;
        }
        let belongs = if let Some(open) = fence {
            if closes(open, line) {
                fence = None;
            }
            true
        } else if let Some(next) = item(line).filter(|item| item.indent < offset) {
            if next.number <= 1 && number > 1 {
                break;
            }
            items.push(std::mem::replace(&mut current, vec![next.text.trim_end().to_owned()]));
            (number, offset) = (next.number, next.offset);
            after_blank = false;
            at += 1;
            continue;
        } else if indent >= offset {
            fence = opens(line);
            true
        } else if heading(line).is_some() {
            break;
        } else {
            // Text that should have been indented belongs to the step if the list goes on behind it.
            let belongs = !after_blank || goes_on(&lines[at..], number + 1);
            if belongs {
                fence = opens(line);
            }
            belongs
        };
        if !belongs {
            break;
        }
        current.push(dedented(line, offset));
        after_blank = false;
        at += 1;
    }
    items.push(current);
    StepRun { start, end: at, items, form: PlanForm::List, named: false }
}

/// True if an item of this number comes before the next heading.
fn goes_on(lines: &[&str], number: u64) -> bool {
    let mut fence = None;
    for line in lines {
        if step_over(&mut fence, line) {
            continue;
        }
        if heading(line).is_some() {
            return false;
        }
        if item(line).is_some_and(|item| item.indent <= 3 && item.number == number) {
            return true;
        }
    }
    false
}

/// Steps that are headings, until a heading of the same depth or above that is none.
fn headings(lines: &[&str], start: usize, depth: usize) -> StepRun {
    let mut items: Vec<Vec<String>> = Vec::new();
    let mut fence = None;
    let mut at = start;
    while let Some(line) = lines.get(at) {
        let inside = step_over(&mut fence, line);
        match heading(line).filter(|_| !inside) {
            Some((other, title)) if other <= depth => match step_title(title).filter(|_| other == depth) {
                Some(text) => items.push(vec![text.to_owned()]),
                None => break,
            },
            _ => {
                if let Some(current) = items.last_mut() {
                    current.push(line.trim_end().to_owned());
                }
            }
        }
        at += 1;
    }
    StepRun { start, end: at, items, form: PlanForm::Headings(depth), named: true }
}

/// The step that these lines are; `None` where they are blank.
fn step(mut lines: Vec<String>) -> Option<PlanStep> {
    let blank = |line: &String| line.trim().is_empty();
    while lines.last().is_some_and(blank) {
        lines.pop();
    }
    let quoted = lines.iter().rev().take_while(|line| line.starts_with('>')).count();
    let lead = format!("> {COMMENT}");
    let from = lines.len() - quoted;
    let begins = lines.iter().enumerate().skip(from.max(1)).find(|(_, line)| line.starts_with(&lead)).map(|(n, _)| n);
    let comment = begins.map(|at| {
        let said = lines.split_off(at).into_iter().enumerate();
        let words = said.map(|(n, line)| {
            let line = line.strip_prefix(if n == 0 { lead.as_str() } else { "> " }).or_else(|| line.strip_prefix('>'));
            line.map(str::to_owned).unwrap_or_default()
        });
        words.collect::<Vec<_>>().join("\n").trim().to_owned()
    });
    while lines.last().is_some_and(blank) {
        lines.pop();
    }
    let leading = lines.iter().take_while(|line| blank(line)).count();
    lines.drain(..leading);
    let first = lines.first_mut()?;
    let trimmed = first.trim();
    let bare =
        trimmed.strip_prefix("~~").and_then(|rest| rest.strip_suffix("~~")).filter(|bare| !bare.trim().is_empty());
    let struck = bare.is_some();
    *first = bare.unwrap_or(trimmed).trim().to_owned();
    let text = lines.join("\n");
    let comment = comment.filter(|comment| !comment.is_empty());
    Some(PlanStep { number: 0, text, status: StepStatus::Open, struck, comment })
}

fn indentation(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Line without this many cells of its indentation, and without blanks at its end.
fn dedented(line: &str, cells: usize) -> String {
    let mut left = cells;
    let mut rest = line;
    while left > 0 {
        let (width, next) = match rest.chars().next() {
            Some(' ') => (1, &rest[1..]),
            Some('\t') => (4, &rest[1..]),
            _ => break,
        };
        left = left.saturating_sub(width);
        rest = next;
    }
    rest.trim_end().to_owned()
}

fn item(line: &str) -> Option<ListItem<'_>> {
    let indent = indentation(line);
    let body = line.trim_start();
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 9 {
        return None;
    }
    let rest = body[digits..].strip_prefix(['.', ')'])?;
    let text = rest.trim_start();
    // `1.5` and a bare number are no items, and neither is `1.` before nothing.
    if text.is_empty() || rest.len() == text.len() {
        return None;
    }
    let gap = indentation(rest).min(4);
    let number = body[..digits].parse().ok()?;
    Some(ListItem { indent, number, offset: indent + digits + 1 + gap, text })
}

/// A heading: its depth and its text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let body = line.trim();
    let depth = body.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &body[depth..];
    let is = (1..=6).contains(&depth) && indentation(line) <= 3 && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is.then(|| (depth, rest.trim()))
}

/// Title after `Step 1:` in a heading.
fn step_title(title: &str) -> Option<&str> {
    let bare = title.trim_start_matches("**");
    let rest = bare.get(..4).filter(|word| word.eq_ignore_ascii_case("step")).map(|_| bare[4..].trim_start())?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let text = rest[digits..].trim_start_matches([':', '.', ')', '-', '–', '—', ' ', '*']).trim();
    Some(if text.is_empty() { title } else { text })
}

fn opens(line: &str) -> Option<OpenFence> {
    let body = line.trim_start();
    let sign = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = body.chars().take_while(|c| *c == sign).count();
    let info = &body[count..];
    let is = count >= 3 && !(sign == '`' && info.contains('`'));
    is.then(|| OpenFence { sign, count, indent: indentation(line) })
}

fn closes(open: OpenFence, line: &str) -> bool {
    let body = line.trim();
    body.len() >= open.count && body.chars().all(|c| c == open.sign)
}
