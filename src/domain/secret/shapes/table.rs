//! Table of what keys and passwords look like.

/// Beginnings of keys, with the least number of characters behind them.
pub(super) const BEGINNINGS: &[(&str, usize)] = &[
    // Models.
    ("sk-", 16),
    ("gsk_", 16),
    ("AIza", 16),
    ("xai-", 16),
    ("hf_", 16),
    ("nvapi-", 16),
    ("pplx-", 16),
    ("r8_", 16),
    // Code and packages.
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glptt-", 16),
    ("glrt-", 16),
    ("npm_", 16),
    ("pypi-", 16),
    ("dckr_pat_", 16),
    ("dckr_oat_", 16),
    // Services.
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("whsec_", 16),
    ("SG.", 16),
    ("shpat_", 16),
    ("lin_api_", 16),
    ("dop_v1_", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("ya29.", 16),
    ("GOCSPX-", 16),
    ("AGE-SECRET-KEY-1", 16),
    ("Bearer ", 16),
    ("bearer ", 16),
    ("BEARER ", 16),
];

/// Patterns, each with what stands in all that it finds: one of these texts, in small letters. What the group `s` finds is
/// the secret.
pub(super) const PATTERNS: &[(&[&str], &str)] = &[
    // The password in an address.
    (&["://"], r#"(?i)[a-z][a-z0-9+.-]*://[^/\s:@"'<>`]*:(?<s>[^/\s"'<>`]+)@"#),
    // An access key of AWS with its secret behind it, as consoles and tables have them.
    (
        &["akia", "asia"],
        r"(?:AKIA|ASIA)[A-Z0-9*]{3,}[^A-Za-z0-9/+=*]{1,24}(?<s>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
    ),
    (&["akia", "asia"], r"\b(?:AKIA|ASIA)(?<s>[A-Z0-9]{16})\b"),
    (&["aws"], r#"(?i)aws_?secret_?access_?key\\*["']?\s*[:=]\s*\\*["']?(?<s>[a-z0-9/+]{30,}=*)"#),
    (
        &["authorization"],
        r#"(?i)authorization\\*["']?\s*[:=]\s*\\*["']?(?:basic|bearer|token|digest|bot)\s+(?<s>[a-z0-9+/=._~-]{6,})"#,
    ),
    (&["curl"], r#"curl\b[^\n]*?\s(?:-u|--user)[ =]+\\*["']?[^\s:"']+:(?<s>[^\s"'`]+)"#),
    (&["eyj"], r"eyJ[A-Za-z0-9_-]{8,}\.(?<s>eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)"),
    // … where the user is the key, as in an address of Sentry or of git.
    (&["://"], r#"(?i)[a-z][a-z0-9+.-]*://(?<s>[0-9a-f]{32}|(?:[a-z]+[0-9]|[0-9]+[a-z])[a-z0-9_-]{18,})@"#),
    // … and without a scheme, as MySQL's driver for Go has it.
    (&["@tcp(", "@unix("], r"\b[\w.-]+:(?<s>[^\s:@/()]+)@(?:tcp|unix)\("),
    // Hooks: whoever has the address may post.
    (&["hooks.slack.com"], r"hooks\.slack\.com/(?:services|workflows|triggers)/(?<s>[A-Za-z0-9/_-]{8,})"),
    (&["discord"], r"discord(?:app)?\.com/api/webhooks/[0-9]+/(?<s>[A-Za-z0-9_-]{8,})"),
    (&["webhook.office.com"], r"webhook\.office\.com/(?<s>[A-Za-z0-9@/_-]{16,})"),
    (&[":aa"], r"[0-9]{8,10}:(?<s>AA[A-Za-z0-9_-]{30,})"),
    (&["private key"], r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?<s>.*?)-----END"),
    // One whose end was cut off.
    (
        &["private key"],
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?<s>(?:\s|\\+[nr])*[A-Za-z0-9+/=]{32,}[A-Za-z0-9+/=\s\\]*)",
    ),
    // … and one whose lines are quoted or numbered.
    (
        &["private key"],
        r#"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?<s>(?:(?:\\+[nrt]|[\s"'+,\\])*(?:(?:[0-9]{1,6}(?:[:|\t \x{2192}-]|\\+t)+|[>|+#*]+)[ \t]*)*\\*["']?[A-Za-z0-9+/=]{24,})+)"#,
    ),
    // … and one with headers before its lines.
    (
        &["private key"],
        r#"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?<s>(?:(?:\\+[nrt]|[\s"'+,\\>|#*]|[0-9]{1,6}(?:[:|\t \x{2192}-]|\\+t)+)*[A-Za-z][A-Za-z-]*: [^\n\\"']{0,200})+(?:(?:\\+[nrt]|[\s"'+,\\>|#*]|[0-9]{1,6}(?:[:|\t \x{2192}-]|\\+t)+)*\\*["']?[A-Za-z0-9+/=]{24,})+)"#,
    ),
    // Options of commands that take the password without a word about it.
    (
        &["mysql", "mariadb"],
        r#"(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mariadb-admin)\b(?:[^\n|;&]*?\s)-p\\*["']?(?<s>[^\s"'`=\\-][^\s"'`\\]{2,})"#,
    ),
    (&["sshpass"], r#"sshpass\s+-p[ \t]*\\*["']?(?<s>[^\s"'`\\$]{3,})"#),
    (&["redis-cli"], r#"redis-cli\b(?:[^\n|;&]*?\s)-a[ \t]+\\*["']?(?<s>[^\s"'`\\$]{3,})"#),
    // Addresses that are signed: whoever has them may use them.
    (&["sig="], r"(?:[?&;]|\\u0026)sig=(?<s>[A-Za-z0-9%/+_-]{16,}={0,2})"),
    (&["x-amz-", "x-goog-"], r"(?i)x-(?:amz|goog)-(?:signature|security-token)=(?<s>[a-z0-9%/+_-]{16,})"),
    // `.netrc`.
    (
        &["password"],
        r#"(?:machine(?:\s|\\[nrt])+[^\s\\]+|default)(?:\s|\\[nrt])+(?:(?:login|account)(?:\s|\\[nrt])+[^\s\\]+(?:\s|\\[nrt])+)+password(?:\s|\\[nrt])+(?<s>[^\s"'`\\]{3,})"#,
    ),
];

/// Names of elements, and of what stands beside a value, that say that it is secret. What the group `s` finds is one if it
/// looks like a value.
pub(super) const MARKED: &[&str] = &[
    r"(?i)<(?:[\w.-]+:)?[\w.-]*?(?<sure>pass(?:word|wd|phrase)|pwd|secret)(?:\s[^<>]*)?>\s*(?<s>[^<>\s][^<>]{2,})</",
    r"(?i)<(?:[\w.-]+:)?[\w.-]*?(?:api[_-]?key|access[_-]?key|private[_-]?key|token)(?:\s[^<>]*)?>\s*(?<s>[^<>\s][^<>]{2,})</",
    r#"(?i)(?:key|name|id)=\\*["'][\w.:-]*?(?<sure>pass(?:word|wd|phrase)|pwd|secret)\\*["']\s+value=\\*["'](?<s>[^"'<>\\]{3,})"#,
];

/// A password in a sentence.
pub(super) const SPOKEN: &str =
    r#"(?i)\bpass(?:word|phrase|code)\s+is:?\s+(?:[*_]{2})?(?<quote>["'`])?(?<s>[^\s"'`<>]{4,})"#;
/// Words with a digit in them that are said of passwords.
pub(super) const SPOKEN_OF: [&str; 14] = [
    "base64", "base32", "sha1", "sha2", "sha5", "md5", "utf", "argon2", "pbkdf2", "rot13", "oauth2", "aes", "ascii",
    "x509",
];

/// Names whose value is a secret, whatever it looks like …
pub(super) const SURE: &str =
    r"pass(?:word|wd|phrase)|[_-]pass|pwd|pw|secret(?:s|[_-]?key[_-]?base|[_-]?key|[_-]?access[_-]?key)?";
/// … and those whose value is one where it looks like a key: these words stand in code as well.
pub(super) const LIKELY: &str = "api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|auth|token|credentials?";

/// Words in the place of a value that are none.
pub(super) const NO_VALUES: [&str; 30] = [
    "string",
    "str",
    "bytes",
    "bool",
    "boolean",
    "int",
    "number",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "password",
    "passwd",
    "secret",
    "token",
    "key",
    "value",
    "text",
    "required",
    "optional",
    "missing",
    "input",
    "any",
    "option",
    "getpass",
    "redacted",
    "hidden",
    "env",
];
