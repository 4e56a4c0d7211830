//! Percent signs of addresses.

/// `%20` and the like as what they stand for; what is no UTF-8 then stays as it was.
#[must_use]
pub fn percent_decoded(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        let value = pair.filter(|_| byte == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match value {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| path.to_owned())
}
