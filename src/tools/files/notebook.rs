//! Jupyter notebooks as text: cells in order, with their kinds, sources and what they printed.

use serde_json::Value;

/// Characters of the output of a cell that are shown.
const MOST_OUTPUT: usize = 4_000;

/// The cells of a notebook as text; `None` where it is none.
#[must_use]
pub fn told(content: &str) -> Option<String> {
    let book: Value = serde_json::from_str(content).ok()?;
    let cells = book.get("cells")?.as_array()?;
    let mut out = String::new();
    for (at, cell) in cells.iter().enumerate() {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("raw");
        let count = cell.get("execution_count").and_then(Value::as_u64);
        let count = count.map_or_else(String::new, |count| format!(" [{count}]"));
        out.push_str(&format!("--- cell {} {kind}{count} ---\n{}\n", at + 1, lines(cell.get("source")).trim_end()));
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            out.push_str(&printed(output));
        }
    }
    if cells.is_empty() {
        out.push_str("(the notebook has no cells)\n");
    }
    Some(out)
}

fn printed(output: &Value) -> String {
    let data = output.get("data");
    let plain = || lines(data.and_then(|data| data.get("text/plain")));
    let (what, text) = match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => ("output", lines(output.get("text"))),
        Some("error") => {
            let part = |key| output.get(key).and_then(Value::as_str).unwrap_or_default();
            ("error", format!("{}: {}", part("ename"), part("evalue")))
        }
        _ => ("result", plain()),
    };
    let pictures = data.and_then(Value::as_object).into_iter().flat_map(|data| data.keys());
    let pictures = pictures.filter(|mime| mime.starts_with("image/")).map(|mime| format!("({mime}, not shown)\n"));
    let pictures: String = pictures.collect();
    let shown: String = text.trim_end().chars().take(MOST_OUTPUT).collect();
    let cut = if text.trim_end().chars().count() > MOST_OUTPUT { "\n… (cut)" } else { "" };
    format!("--- {what} ---\n{shown}{cut}{}{pictures}", if shown.is_empty() { "" } else { "\n" })
}

/// A text that may be written as a list of lines.
fn lines(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_with_what_they_printed() {
        let book = r##"{"nbformat":4,"cells":[
            {"cell_type":"markdown","source":["# Title\n","words"]},
            {"cell_type":"code","execution_count":3,"source":"print(1)","outputs":[
                {"output_type":"stream","text":["1\n"]},
                {"output_type":"display_data","data":{"image/png":"AAAA","text/plain":"<Figure>"}},
                {"output_type":"error","ename":"ValueError","evalue":"no","traceback":["x"]}]}]}"##;
        assert_eq!(
            told(book).unwrap(),
            "--- cell 1 markdown ---\n# Title\nwords\n--- cell 2 code [3] ---\nprint(1)\n--- output ---\n1\n\
             --- result ---\n<Figure>\n(image/png, not shown)\n--- error ---\nValueError: no\n"
        );
    }

    #[test]
    fn what_is_no_notebook_is_left_alone() {
        for text in ["", "[]", "{}", r#"{"cells":3}"#, "not json"] {
            assert_eq!(told(text), None, "{text:?}");
        }
        let long =
            format!(r#"{{"cells":[{{"outputs":[{{"output_type":"stream","text":"{}"}}]}}]}}"#, "x".repeat(9_000));
        assert!(told(&long).unwrap().len() < 5_000);
    }
}
