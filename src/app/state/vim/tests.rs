//! Tables: a text with the caret as `|`, keys of `keymaps/vim.toml`, and the text and caret that come of them.

use super::{Mode, Token};
use crate::app::state::composer::Composer;
use crate::keymap::action::{Action, ComposerAction, Context, VimAction};
use crate::keymap::key::{Code, Key};
use crate::keymap::{Fed, Table, load_style};
use proptest::prelude::*;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(|| load_style("vim").unwrap().table);

/// Presses keys as the program resolves them. `<x>` is a key by name.
fn press(composer: &mut Composer, keys: &str) {
    let mut rest = keys;
    let mut pending: Vec<Key> = Vec::new();
    while let Some(c) = rest.chars().next() {
        let key = match rest.strip_prefix('<').and_then(|named| named.split_once('>')) {
            Some((name, after)) => {
                rest = after;
                Key::parse(name).unwrap()
            }
            None => {
                rest = &rest[c.len_utf8()..];
                Key::char(c)
            }
        };
        let vim = composer.vim();
        if let (true, Some(c)) = (vim.awaits_char(), key.printable()) {
            composer.modal(Token::Char(c));
            continue;
        }
        let contexts: &[Context] = match vim.mode() {
            Mode::Insert => &[Context::Insert],
            Mode::Normal if vim.has_operator() => &[Context::Operator, Context::Normal],
            Mode::Normal => &[Context::Normal],
            Mode::Visual | Mode::VisualLine => &[Context::Visual, Context::Normal],
        };
        match TABLE.feed(contexts, &pending, key) {
            Fed::Action(Action::Vim(verb)) => {
                pending.clear();
                let token = match (verb, key.code) {
                    (VimAction::Digit, Code::Char(c)) => Token::Digit(c.to_digit(10).unwrap() as usize),
                    _ => Token::Verb(verb),
                };
                composer.modal(token);
            }
            Fed::Pending => pending.push(key),
            Fed::None if vim.mode() == Mode::Insert && pending.is_empty() => match key.code {
                Code::Backspace => drop(composer.edit(ComposerAction::Backspace)),
                Code::Left => drop(composer.edit(ComposerAction::Left)),
                Code::Enter => drop(composer.edit(ComposerAction::Newline)),
                _ => {
                    if let Some(c) = key.printable() {
                        composer.type_char(c);
                    }
                }
            },
            _ => pending.clear(),
        }
    }
}

/// The draft with the caret as `|`, in Normal.
fn begin(text: &str) -> Composer {
    let mut composer = Composer::default();
    let (before, after) = text.split_once('|').unwrap();
    composer.set(&format!("{before}{after}"));
    press(&mut composer, "<esc>gg0");
    let (rows, last) = (before.matches('\n').count(), before.rsplit('\n').next().unwrap());
    press(&mut composer, &format!("{}{}", "j".repeat(rows), "l".repeat(last.chars().count())));
    // What led here is no change and no count.
    composer
}

fn shown(composer: &Composer) -> String {
    let (row, col) = composer.editor().caret();
    let lines = composer.editor().lines().iter().enumerate().map(|(n, line)| {
        if n != row {
            return line.clone();
        }
        let at = line.char_indices().nth(col).map_or(line.len(), |(at, _)| at);
        format!("{}|{}", &line[..at], &line[at..])
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn table(rows: &[(&str, &str, &str)]) {
    for (text, keys, expected) in rows {
        let mut composer = begin(text);
        assert_eq!(shown(&composer), *text, "the caret can stand there");
        press(&mut composer, keys);
        assert_eq!(shown(&composer), *expected, "{text:?} {keys}");
    }
}

#[test]
fn motions() {
    table(&[
        ("|one two", "w", "one |two"),
        ("|one-two x", "w", "one|-two x"),
        ("|one-two x", "W", "one-two |x"),
        ("|a b c d", "3w", "a b c |d"),
        ("|one\n\ntwo", "w", "one\n|\ntwo"),
        ("|one\n\ntwo", "2w", "one\n\n|two"),
        ("one |two", "b", "|one two"),
        ("one tw|o", "b", "one |two"),
        ("a-b c|d", "2B", "|a-b cd"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "e", "one tw|o"),
        ("|a-b c", "E", "a-|b c"),
        ("  on|e", "0", "|  one"),
        ("  on|e", "^", "  |one"),
        ("o|ne", "$", "on|e"),
        ("|a,b,c", "f,", "a|,b,c"),
        ("|a,b,c", "2f,", "a,b|,c"),
        ("|a,b,c", "t,;", "a,|b,c"),
        ("a,b,|c", "F,", "a,b|,c"),
        ("a,b,|c", "T,", "a,b,|c"),
        ("|a,b,c", "f,;,", "a|,b,c"),
        ("|abc", "fz", "|abc"),
        ("|a\nb\n  c", "G", "a\nb\n  |c"),
        ("a\nb\n|c", "gg", "|a\nb\nc"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("ab|c\nd", "j", "abc\n|d"),
        ("|a\u{301}b", "l", "a\u{301}|b"),
        ("|👩‍👩‍👧‍👦b", "x", "|b"),
        ("|ab", "9l", "a|b"),
        ("a|b", "h", "|ab"),
    ]);
}

#[test]
fn operators_with_motions_and_counts() {
    table(&[
        ("|one two three", "dw", "|two three"),
        ("|one two three", "2dw", "|three"),
        ("|one two three", "d2w", "|three"),
        ("|a b c d e", "2d2w", "|e"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("one |two", "db", "|two"),
        ("|one two", "de", "| two"),
        ("o|ne two", "d$", "|o"),
        ("on|e two", "d0", "|e two"),
        ("  on|e", "d^", "  |e"),
        ("|a,b,c", "dt,", "|,b,c"),
        ("|a,b,c", "d2f,", "|c"),
        ("a,b,|c", "dF,", "a,b|c"),
        ("|one two", "cwx<esc>", "|x two"),
        ("|a two", "cwxy<esc>", "x|y two"),
        ("|one two three", "c2wx<esc>", "|x three"),
        ("one |two", "cbx<esc>", "|xtwo"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\n|b", "dd", "|a"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb\n|c", "dk", "|a"),
        ("a\n|b\nc", "dG", "|a"),
        ("a\n|b\nc", "dgg", "|c"),
        ("a\n|b\nc", "ccx<esc>", "a\n|x\nc"),
        ("a\n|b\nc", "yyp", "a\nb\n|b\nc"),
        ("a\n|b\nc", "yyP", "a\n|b\nb\nc"),
        ("|a\nb", "yy2p", "a\n|a\na\nb"),
        ("|one two", "yw$p", "one twoone| "),
        ("|ab", "xp", "b|a"),
        ("|one two", "d<esc>x", "|ne two"),
        ("|one two", "dx", "|one two"),
        ("|one two", "dfz", "|one two"),
        ("on|e two", "diw", "| two"),
        ("one |two three", "daw", "one |three"),
        ("one tw|o", "daw", "on|e"),
        ("on|e two", "ciwx<esc>", "|x two"),
    ]);
}

#[test]
fn verbs_without_a_motion() {
    table(&[
        ("|abc", "x", "|bc"),
        ("|abc", "2x", "|c"),
        ("ab|c", "x", "a|b"),
        ("ab|c", "2X", "|c"),
        ("a|bc", "D", "|a"),
        ("a|bc", "Cx<esc>", "a|x"),
        ("|abc", "sx<esc>", "|xbc"),
        ("  |abc", "Sx<esc>", "|x"),
        ("|abc", "rx", "|xbc"),
        ("|abc", "2rx", "x|xc"),
        ("|abc", "4rx", "|abc"),
        ("|aBc", "3~", "Ab|C"),
        ("|a\n  b", "J", "a| b"),
        ("|a\nb\nc", "3J", "a b| c"),
        ("a|b", "ix<esc>", "a|xb"),
        ("a|b", "ax<esc>", "ab|x"),
        ("  a|b", "Ix<esc>", "  |xab"),
        ("|ab", "Ax<esc>", "ab|x"),
        ("|a\nb", "ox<esc>", "a\n|x\nb"),
        ("a\n|b", "Ox<esc>", "a\n|x\nb"),
        ("|b", "3ia<esc>", "aa|ab"),
        ("|b", "iaz<backspace><esc>", "|ab"),
    ]);
}

#[test]
fn undo_redo_and_again() {
    table(&[
        ("|one two", "xu", "|one two"),
        ("|one two", "xxuu", "|one two"),
        ("|one two", "xxuu<ctrl+r>", "|ne two"),
        ("|one two", "xx2u2<ctrl+r>", "|e two"),
        ("|one two", "cwabc<esc>u", "|one two"),
        ("|one two", "cwabc<esc>u<ctrl+r>", "|abc two"),
        ("|one two", "xuxu", "|one two"),
        ("|ab", "xux<ctrl+r>", "|b"),
        ("|a b c d", "dw.", "|c d"),
        ("|a b c d", "dw2.", "|d"),
        ("|a b c", "cwx<esc>w.", "x |x c"),
        ("|abc", "x..", "|"),
        ("|b", "ia<esc>..", "|aaab"),
        ("|a\nb", "ddp.", "b\na\n|a"),
        ("|a,b,c", "dt,x.", "|,c"),
        ("|abc", "rxl.", "x|xc"),
        ("|a b c", "dw.u", "|b c"),
        ("|one\ntwo", "A;<esc>j.", "one;\ntwo|;"),
    ]);
}

#[test]
fn what_is_marked() {
    table(&[
        ("|one two", "vey", "|one two"),
        ("|one two", "veyP", "on|eone two"),
        ("|one two", "ved", "| two"),
        ("one |two", "vbd", "|wo"),
        ("|one two", "vecx<esc>", "|x two"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("a\n|b\nc", "Vyp", "a\nb\n|b\nc"),
        ("|one two", "viwd", "| two"),
        ("|aBc", "vl~", "|Abc"),
        ("|abc", "vlrx", "|xxc"),
        ("|a\nb\nc", "VGJ", "a b| c"),
        ("|one two", "ywwviwp", "one |one "),
        ("|abc", "vlo<esc>", "|abc"),
        ("|abc", "vv", "|abc"),
        ("|abc", "v<esc>x", "|bc"),
        ("|ab\ncd", "vjd", "|d"),
    ]);
}

#[test]
fn what_stands_between_quotes_and_brackets() {
    table(&[
        ("say \"o|ne\" x", "ci\"y<esc>", "say \"|y\" x"),
        ("|say \"one\" x", "ci\"y<esc>", "say \"|y\" x"),
        ("say \"o|ne\" x", "da\"", "say |x"),
        ("say \"\" |x", "di\"", "say \"\" |x"),
        ("f(|\"\", 1)", "ci\"y<esc>", "f(\"|y\", 1)"),
        ("f('a', '|b')", "di'", "f('a', '|')"),
        ("a `c|d` e", "yi`$p", "a `cd` ec|d"),
        ("f(a, g(|b))", "di(", "f(a, g(|))"),
        ("f(a,| g(b))", "di)", "f(|)"),
        ("f(a, g(|b))", "dab", "f(a, g|)"),
        ("x[|1] = {2}", "di]", "x[|] = {2}"),
        ("x[1] = {|2}", "ci{3<esc>", "x[1] = {|3}"),
        ("fn {\n  |a\n}", "ciBb<esc>", "fn {\n|b\n}"),
        ("<|a>", "di<", "<|>"),
        ("no br|ackets", "di(", "no br|ackets"),
        ("one a-|b x", "diW", "one | x"),
        ("one a-|b x", "daW", "one |x"),
        ("f(|ab)", "vi(d", "f(|)"),
        ("|f(a(b))", "%", "f(a(b)|)"),
        ("f(a(b)|)", "%", "f|(a(b))"),
        ("|f(a) b", "d%", "| b"),
        ("a |b", "%", "a |b"),
        ("{\n|[1]\n}", "k%", "{\n[1]\n|}"),
    ]);
}

#[test]
fn lines_are_moved_and_opened_by_counts() {
    table(&[
        ("a|b", ">>", "    |ab"),
        ("|a\n\nb", "3>>", "    |a\n\n    b"),
        ("|a\nb\nc", ">j", "    |a\n    b\nc"),
        ("      a|b", "<<", "  |ab"),
        ("\t|ab", "<<", "|ab"),
        ("|ab", "<<", "|ab"),
        ("|a\nb\nc", "Vj>", "    |a\n    b\nc"),
        ("|a\nb", ">>j.", "    a\n    |b"),
        ("|a", ">>u", "|a"),
        ("|a", "3ox<esc>", "a\nx\nx\n|x"),
        ("|a", "2Ox<esc>", "x\n|x\na"),
        ("|a", "2ox<esc>.", "a\nx\nx\nx\n|x"),
        ("|a", "ox<esc>2.", "a\nx\nx\n|x"),
        ("|a", "2ox<esc>u", "|a"),
        ("|a,b,c,d", "2t,;", "a,b,|c,d"),
        ("|a b\nc d", "2ccx<esc>", "|x"),
        ("|ab cd", "3~", "AB |cd"),
    ]);
}

#[test]
fn as_much_as_was_marked_is_changed_again() {
    table(&[
        ("|abcdef", "vld.", "|ef"),
        ("|abc abc", "vlcx<esc>w.", "xc |xc"),
        ("|a\nb\nc\nd", "Vjd.", "|"),
        ("|ab\ncd\nef\ngh", "vjd.", "|f\ngh"),
        ("|abcd", "vlrxll.", "xx|xx"),
        ("|abcd", "vl~ll.", "AB|CD"),
        ("|a\nb\nc", "V>j.", "    a\n    |b\nc"),
        ("|abcdef", "vld.u", "|cdef"),
        ("|one two", "viwdx.", "|wo"),
    ]);
}

#[test]
fn esc_leaves_every_mode_and_the_words_say_which_one_holds() {
    let mut composer = Composer::default();
    assert_eq!(composer.vim().mode().word(), "insert");
    press(&mut composer, "ab<esc>");
    assert_eq!((composer.vim().mode().word(), shown(&composer)), ("normal", "a|b".to_owned()));
    press(&mut composer, "2d");
    assert_eq!(composer.vim().begun(), "2d");
    press(&mut composer, "3f");
    assert_eq!(composer.vim().begun(), "2d3f");
    press(&mut composer, "<esc>");
    assert_eq!(composer.vim().begun(), "");
    press(&mut composer, "V");
    assert_eq!(composer.vim().mode().word(), "visual line");
    press(&mut composer, "v");
    assert_eq!(composer.marked(), Some(((0, 1), (0, 2))));
    press(&mut composer, "<esc>u");
    assert_eq!(composer.text(), "", "what was typed first is undone too");
}

#[test]
fn a_sent_draft_leaves_what_was_cut_and_types_again() {
    let mut composer = begin("|one two");
    press(&mut composer, "dw");
    composer.take();
    assert_eq!(composer.vim().mode(), Mode::Insert);
    press(&mut composer, "<esc>p");
    assert_eq!(composer.text(), "one ");
}

#[test]
fn every_verb_of_the_modes_has_a_key() {
    let unbound: Vec<&str> = Action::ALL
        .iter()
        .filter(|action| matches!(action, Action::Vim(_)) && TABLE.keys_of(**action).next().is_none())
        .map(|action| action.name())
        .collect();
    assert_eq!(unbound, ["vim.line_start"; 0]);
}

proptest! {
    /// No order of keys leaves the text or the caret broken, and Esc with enough undo leads back to the beginning.
    #[test]
    fn any_order_of_keys(text in "[ab ,\n\u{301}👩]{0,14}", keys in prop::collection::vec(0usize..66, 0..40)) {
        let all: Vec<&str> = vec![
            "h", "l", "j", "k", "w", "b", "e", "W", "B", "E", "0", "^", "$", "gg", "G", "%", ">>", "<j", "di(", "ca\"", "vi{", "fa", "t,", "Fb", "Ta", ";", ",",
            "d", "c", "y", "x", "X", "D", "C", "Y", "s", "S", "rz", "~", "J", "p", "P", "u", "<ctrl+r>", ".", "i", "I",
            "a", "A", "o", "O", "v", "V", "<esc>", "2", "3", "dd", "diw", "caw", "<esc>", "<esc>", "q", "ab", "g", "9", "1",
        ];
        let mut composer = Composer::default();
        composer.set(&text);
        press(&mut composer, "<esc>");
        for key in keys {
            press(&mut composer, all[key]);
            let (row, col) = composer.editor().caret();
            prop_assert!(col <= composer.editor().lines()[row].chars().count());
            let _ = composer.marked();
        }
        press(&mut composer, "<esc><esc>999u");
        prop_assert_eq!(composer.editor().text(), text);
    }
}
