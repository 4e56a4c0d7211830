//! The second reading of a line: by the grammar of tree-sitter, which must see the same words in the same commands, and
//! nothing of a kind that is not on the list.
//!
//! It is lenient where `syntax` is strict, and knows constructs that `syntax` may have taken for words. What the two do
//! not agree on is not understood.

use super::syntax::{SimpleCommand, SyntaxNode};
use std::ops::Range;
use tree_sitter::{Node as Branch, Parser, TreeCursor};

/// Kinds of nodes that are understood.
const KINDS: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "string",
    "string_content",
    "raw_string",
    "ansi_c_string",
    "number",
    "concatenation",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "heredoc_redirect",
    "heredoc_body",
    "heredoc_start",
    "heredoc_content",
    "heredoc_end",
    "herestring_redirect",
    "subshell",
    "compound_statement",
    "if_statement",
    "elif_clause",
    "else_clause",
    "for_statement",
    "do_group",
    "while_statement",
    "case_statement",
    "case_item",
    "negated_command",
    "test_command",
    "unary_expression",
    "binary_expression",
    "test_operator",
    "extglob_pattern",
    "variable_assignment",
    "variable_name",
    "special_variable_name",
    "simple_expansion",
    "expansion",
    "comment",
];

/// Kinds of tokens that are understood.
const TOKENS: &[&str] = &[
    "&&", "||", "|", "|&", ";", ";;", "\n", "(", ")", "{", "}", "[", "]", "[[", "]]", "if", "then", "elif", "else",
    "fi", "for", "in", "do", "done", "while", "until", "case", "esac", "!", "<", ">", ">>", ">|", "&>", "&>>", "<&",
    ">&", "<&-", ">&-", "<<", "<<-", "<<<", "\"", "'", "$", "${", "=", "==", "!=", "-a", "-o", "*", "?", "~", "-", "+",
    "..",
];

/// Checks that the line is what `nodes` says.
///
/// # Errors
/// The point on which the two parses disagree.
pub(super) fn confirm(line: &str, nodes: &[SyntaxNode]) -> Result<(), String> {
    let differ = || "ambiguous: two parsers read the line differently".to_owned();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| differ())?;
    let tree = parser.parse(line, None).ok_or_else(differ)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(differ());
    }
    let mut commands = Vec::new();
    walk(&mut root.walk(), &mut commands)?;
    let mut known = Vec::new();
    ranges(nodes, &mut known);
    commands.sort_by_key(|words| words.first().map(|at| at.start));
    known.sort_by_key(|words| words.first().map(|at| at.start));
    if commands == known { Ok(()) } else { Err(differ()) }
}

fn walk(cursor: &mut TreeCursor<'_>, commands: &mut Vec<Vec<Range<usize>>>) -> Result<(), String> {
    loop {
        let node = cursor.node();
        let known = if node.is_named() { KINDS } else { TOKENS };
        if node.is_missing() || node.is_error() || !known.contains(&node.kind()) {
            return Err(format!("`{}` is not supported", node.kind().escape_debug()));
        }
        if node.kind() == "command" {
            commands.push(words(node));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
}

/// Byte ranges of a command's words.
fn words(command: Branch<'_>) -> Vec<Range<usize>> {
    let mut cursor = command.walk();
    let others = ["variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect"];
    command
        .named_children(&mut cursor)
        .filter(|child| !others.contains(&child.kind()))
        .map(|child| child.byte_range())
        .collect()
}

/// Byte ranges of the words in our own parse. `[` is no command to the other one.
fn ranges(nodes: &[SyntaxNode], out: &mut Vec<Vec<Range<usize>>>) {
    for node in nodes {
        match node {
            SyntaxNode::Simple(SimpleCommand { words, .. }) if words.first().is_some_and(|word| word.text != "[") => {
                out.push(words.iter().map(|word| word.at.clone()).collect());
            }
            SyntaxNode::For { body, .. } => ranges(body, out),
            _ => {}
        }
    }
}
