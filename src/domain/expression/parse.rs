//! From the text of a condition to what can be asked: words, then the tree, with the types of all its parts.

use super::{
    Equality, ExpressionError, ExpressionNode, ExpressionType, FIELDS, FUNCTIONS, Function, Order, Sum, nearest,
};

/// Nesting limit of parentheses, `not` and `-`.
const NESTED: usize = 40;

#[derive(Clone, Debug, PartialEq)]
enum ExpressionToken {
    Number(f64),
    Text(String),
    /// A name, its dots included.
    Name(String),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
}

/// Longest first, so that `<=` is not read as `<`.
const SIGNS: [&str; 16] = ["==", "!=", "<=", ">=", "<", ">", "(", ")", ",", "+", "-", "*", "/", "%", "^", "="];
const KEYWORDS: [&str; 5] = ["and", "or", "not", "in", "mod"];

fn error<T>(at: usize, text: impl Into<String>) -> Result<T, ExpressionError> {
    Err(ExpressionError { at, text: text.into() })
}

fn words(text: &str) -> Result<Vec<(usize, ExpressionToken)>, ExpressionError> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &text[at..];
        let run = |fits: &dyn Fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let (len, word) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            let len = run(&|c| c.is_ascii_digit() || c == '.');
            match rest[..len].parse() {
                Ok(number) if !rest[..len].ends_with('.') => (len, ExpressionToken::Number(number)),
                _ => return error(at, format!("Not a number: {:?}.", &rest[..len])),
            }
        } else if first.is_ascii_alphabetic() || first == '_' || first == '$' {
            let len = run(&|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'));
            (len, ExpressionToken::Name(rest[..len].to_owned()))
        } else if first == '"' {
            let (len, content) = quoted(rest, at)?;
            (len, ExpressionToken::Text(content))
        } else if first == '\'' {
            return error(at, "Use double quotes for strings: \"done\".");
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            if sign == "=" {
                return error(at, "Use == to compare.");
            }
            (sign.len(), ExpressionToken::Sign(sign))
        } else {
            return error(at, format!("Unexpected {first:?}."));
        };
        out.push((at, word));
        at += len;
    }
    Ok(out)
}

/// A text in double quotes; inside, `\"` and `\\` stand for themselves.
fn quoted(rest: &str, at: usize) -> Result<(usize, String), ExpressionError> {
    let mut content = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Ok((i + 1, content)),
            '\\' => match chars.next() {
                Some((_, c @ ('"' | '\\'))) => content.push(c),
                Some((_, c)) => {
                    return error(at + i, format!("Unknown escape \\{c}: use \\\" or \\\\."));
                }
                None => break,
            },
            c => content.push(c),
        }
    }
    error(at, "Missing closing quote.")
}

/// Reads a whole condition.
pub(super) fn parse(text: &str) -> Result<ExpressionNode, ExpressionError> {
    let words = words(text)?;
    let mut reader = ExpressionParser { words: &words, next: 0, end: text.len(), nested: 0 };
    if words.is_empty() {
        return error(0, "Empty condition. Example: hasUnread == true");
    }
    let part = reader.or()?;
    if let Some((at, word)) = reader.words.get(reader.next) {
        return error(*at, format!("Unexpected {}: missing an operator, `and` or `or` before it.", shown(word)));
    }
    if part.kind == ExpressionType::List {
        return error(part.at, "A list is not a condition: use contains(labels, \"bug\").");
    }
    Ok(part.node)
}

fn shown(word: &ExpressionToken) -> String {
    match word {
        ExpressionToken::Number(number) => number.to_string(),
        ExpressionToken::Text(text) => format!("{text:?}"),
        ExpressionToken::Name(name) => name.clone(),
        ExpressionToken::Sign(sign) => (*sign).to_owned(),
    }
}

/// A part of the tree, its type, and where it begins.
struct ExpressionPart {
    node: ExpressionNode,
    kind: ExpressionType,
    at: usize,
}

impl ExpressionPart {
    fn needs(&self, kind: ExpressionType, by: &str) -> Result<(), ExpressionError> {
        if self.kind == kind {
            return Ok(());
        }
        error(self.at, format!("{by} expects {}, found {}.", kind.words(), self.kind.words()))
    }
}

struct ExpressionParser<'a> {
    words: &'a [(usize, ExpressionToken)],
    next: usize,
    end: usize,
    nested: usize,
}

type Read = Result<ExpressionPart, ExpressionError>;

impl ExpressionParser<'_> {
    fn at(&self) -> usize {
        self.words.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn peek(&self, ahead: usize) -> &str {
        match self.words.get(self.next + ahead) {
            Some((_, ExpressionToken::Sign(sign))) => sign,
            Some((_, ExpressionToken::Name(name))) => name,
            _ => "",
        }
    }

    /// Goes on when the next word is this one.
    fn take(&mut self, word: &str) -> bool {
        let is = self.peek(0) == word;
        self.next += usize::from(is);
        is
    }

    fn close(&mut self, opened: usize) -> Result<(), ExpressionError> {
        if self.take(")") {
            return Ok(());
        }
        error(self.at(), format!("Missing `)` for the `(` at byte {opened}."))
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.nested >= NESTED {
            return error(self.at(), "Nested too deep.");
        }
        self.nested += 1;
        let part = read(self);
        self.nested -= 1;
        part
    }

    /// Parts of true or false with one word between them.
    fn chain(
        &mut self,
        word: &str,
        inner: fn(&mut Self) -> Read,
        make: fn(Vec<ExpressionNode>) -> ExpressionNode,
    ) -> Read {
        let first = inner(self)?;
        if self.peek(0) != word {
            return Ok(first);
        }
        first.needs(ExpressionType::Bool, word)?;
        let at = first.at;
        let mut nodes = vec![first.node];
        while self.take(word) {
            let part = inner(self)?;
            part.needs(ExpressionType::Bool, word)?;
            nodes.push(part.node);
        }
        Ok(ExpressionPart { node: make(nodes), kind: ExpressionType::Bool, at })
    }

    fn or(&mut self) -> Read {
        self.chain("or", Self::and, ExpressionNode::Or)
    }

    fn and(&mut self) -> Read {
        self.chain("and", Self::not, ExpressionNode::And)
    }

    /// `not` holds weaker than in Filtrex, where `not a == b` asks whether "not a" is b: the same for what is true or
    /// false, and nothing at all for everything else.
    fn not(&mut self) -> Read {
        let at = self.at();
        if !self.take("not") {
            return self.within();
        }
        let part = self.deeper(Self::not)?;
        part.needs(ExpressionType::Bool, "not")?;
        Ok(ExpressionPart { node: ExpressionNode::Not(Box::new(part.node)), kind: ExpressionType::Bool, at })
    }

    fn within(&mut self) -> Read {
        let mut one = self.equality()?;
        loop {
            let negated = self.peek(0) == "not" && self.peek(1) == "in";
            self.next += usize::from(negated);
            if !self.take("in") {
                return Ok(one);
            }
            let list = self.list(&one)?;
            let node = ExpressionNode::In(Box::new(one.node), list);
            let node = if negated { ExpressionNode::Not(Box::new(node)) } else { node };
            one = ExpressionPart { node, kind: ExpressionType::Bool, at: one.at };
        }
    }

    /// List after `in`: values in parentheses, or `labels`.
    fn list(&mut self, one: &ExpressionPart) -> Result<Vec<ExpressionNode>, ExpressionError> {
        let opened = self.at();
        if !self.take("(") {
            let part = self.equality()?;
            part.needs(ExpressionType::List, "in")?;
            if !matches!(one.kind, ExpressionType::Text | ExpressionType::List) {
                return error(one.at, format!("Lists contain strings, found {}.", one.kind.words()));
            }
            return Ok(vec![part.node]);
        }
        let mut nodes = Vec::new();
        loop {
            let part = self.deeper(Self::or)?;
            let fits = part.kind == one.kind || (one.kind == ExpressionType::List && part.kind == ExpressionType::Text);
            if !fits && part.kind != ExpressionType::List {
                let text = format!("Can't search {} for {}.", part.kind.words(), one.kind.words());
                return error(part.at, text);
            }
            nodes.push(part.node);
            if !self.take(",") {
                break;
            }
        }
        self.close(opened)?;
        Ok(nodes)
    }

    fn equality(&mut self) -> Read {
        let first = self.order()?;
        let at = first.at;
        let mut kind = first.kind;
        let mut rest = Vec::new();
        loop {
            let here = self.at();
            let equality = match self.peek(0) {
                "==" => Equality::Same,
                "!=" => Equality::Other,
                _ => break,
            };
            self.next += 1;
            let part = self.order()?;
            if kind == ExpressionType::List || part.kind == ExpressionType::List {
                return error(here, "Lists can't be compared: use contains(labels, \"bug\").");
            }
            if kind != part.kind {
                let text = format!("Comparing {} with {} is always false.", kind.words(), part.kind.words());
                return error(here, text);
            }
            rest.push((equality, part.node));
            kind = ExpressionType::Bool;
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(ExpressionPart { node: ExpressionNode::Equal(Box::new(first.node), rest), kind, at })
    }

    fn order(&mut self) -> Read {
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let word = self.peek(0).to_owned();
            let order = match word.as_str() {
                "<" => Order::Less,
                "<=" => Order::LessOrSame,
                ">" => Order::More,
                ">=" => Order::MoreOrSame,
                _ => break,
            };
            first.needs(ExpressionType::Number, &word)?;
            self.next += 1;
            let part = self.sum()?;
            part.needs(ExpressionType::Number, &word)?;
            rest.push((order, part.node));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(ExpressionPart {
            node: ExpressionNode::Ordered(Box::new(first.node), rest),
            kind: ExpressionType::Bool,
            at: first.at,
        })
    }

    fn sum(&mut self) -> Read {
        self.figures(&[("+", Sum::Plus), ("-", Sum::Minus)], Self::product)
    }

    fn product(&mut self) -> Read {
        let signs = [("*", Sum::Times), ("/", Sum::Over), ("%", Sum::Rest), ("mod", Sum::Rest)];
        self.figures(&signs, Self::power)
    }

    fn power(&mut self) -> Read {
        self.figures(&[("^", Sum::Power)], Self::minus)
    }

    fn figures(&mut self, signs: &[(&'static str, Sum)], inner: fn(&mut Self) -> Read) -> Read {
        let first = inner(self)?;
        let mut rest = Vec::new();
        while let Some((sign, sum)) = signs.iter().find(|(sign, _)| *sign == self.peek(0)) {
            first.needs(ExpressionType::Number, sign)?;
            self.next += 1;
            let part = inner(self)?;
            part.needs(ExpressionType::Number, sign)?;
            rest.push((*sum, part.node));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(ExpressionPart {
            node: ExpressionNode::Sum(Box::new(first.node), rest),
            kind: ExpressionType::Number,
            at: first.at,
        })
    }

    fn minus(&mut self) -> Read {
        let at = self.at();
        if !self.take("-") {
            return self.single();
        }
        let part = self.deeper(Self::minus)?;
        part.needs(ExpressionType::Number, "-")?;
        Ok(ExpressionPart { node: ExpressionNode::Minus(Box::new(part.node)), kind: ExpressionType::Number, at })
    }

    fn single(&mut self) -> Read {
        let at = self.at();
        let Some((_, word)) = self.words.get(self.next) else {
            return error(at, "Unexpected end.");
        };
        self.next += 1;
        let part = |node, kind| Ok(ExpressionPart { node, kind, at });
        match word {
            ExpressionToken::Number(number) => part(ExpressionNode::Number(*number), ExpressionType::Number),
            ExpressionToken::Text(text) => part(ExpressionNode::Text(text.clone()), ExpressionType::Text),
            ExpressionToken::Sign("(") => {
                let inner = self.deeper(Self::or)?;
                self.close(at)?;
                Ok(inner)
            }
            ExpressionToken::Sign(sign) => error(at, format!("Expected a value, found {sign}.")),
            ExpressionToken::Name(name) if KEYWORDS.contains(&name.as_str()) => {
                error(at, format!("Expected a value, found {name}."))
            }
            ExpressionToken::Name(name) if self.peek(0) == "(" => self.call(name, at),
            ExpressionToken::Name(name) if name == "true" || name == "false" => {
                part(ExpressionNode::Bool(name == "true"), ExpressionType::Bool)
            }
            ExpressionToken::Name(name) => match FIELDS.iter().find(|(known, ..)| known == name) {
                Some((_, field, kind)) => part(ExpressionNode::Field(*field), *kind),
                None => error(at, unknown("field", name, &super::field_names().collect::<Vec<_>>())),
            },
        }
    }

    fn call(&mut self, name: &str, at: usize) -> Read {
        let Some((_, function, usage)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            return error(at, unknown("function", name, &FUNCTIONS.map(|(known, ..)| known)));
        };
        let opened = self.at();
        self.take("(");
        let mut inputs: Vec<ExpressionPart> = Vec::new();
        if self.peek(0) != ")" {
            loop {
                inputs.push(self.deeper(Self::or)?);
                if !self.take(",") {
                    break;
                }
            }
        }
        self.close(opened)?;
        let kinds: Vec<ExpressionType> = inputs.iter().map(|input| input.kind).collect();
        let kind = match (function, kinds.as_slice()) {
            (Function::DaysSince | Function::HoursSince, [ExpressionType::Number]) => ExpressionType::Number,
            (Function::Length, [ExpressionType::Text | ExpressionType::List]) => ExpressionType::Number,
            (Function::Contains, [ExpressionType::Text | ExpressionType::List, ExpressionType::Text]) => {
                ExpressionType::Bool
            }
            (Function::StartsWith, [ExpressionType::Text, ExpressionType::Text]) => ExpressionType::Bool,
            (Function::Lower, [ExpressionType::Text]) => ExpressionType::Text,
            _ => return error(at, format!("Wrong use of {name}: write {usage}.")),
        };
        let nodes = inputs.into_iter().map(|input| input.node).collect();
        Ok(ExpressionPart { node: ExpressionNode::Call(*function, nodes), kind, at })
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("No {what} {name}. Did you mean {near}?"),
        None => {
            let some: Vec<&str> = known.iter().copied().filter(|known| !known.contains('.')).collect();
            format!("No {what} {name}. Available: {}.", some.join(", "))
        }
    }
}
