//! Every shape is found wherever a word can begin, and what is none stays.

use super::*;

/// Texts with a secret, and the secret. Put together here, so that no key stands in this file.
pub(crate) fn examples() -> Vec<(String, String)> {
    let dense = "a1B2c3D4e5F6g7H8i9J0k1L2";
    let mut out: Vec<(String, String)> =
        BEGINNINGS.iter().map(|(start, _)| (format!("{start}{dense}"), dense.to_owned())).collect();
    let letters = "abcDEFghiJKLmnoPQRstuVWX";
    for start in ["hf_", "glpat-", "ghp_"] {
        out.push((format!("{start}{letters}"), letters.to_owned()));
    }
    let aws = ["wJalrXUtnFEMI", "K7MDENG", "bPxRfiCYzzzzzzzzzz"].join("/");
    let aws = &aws[..AWS];
    out.push((format!("AKIA{}\n{aws}", "IOSFODNN7ABCDEFG"), aws.to_owned()));
    out.push((format!("AKIA{},{aws}", "IOSFODNN7ABCDEFG"), aws.to_owned()));
    out.push((aws.to_owned(), aws.to_owned()));
    let sendgrid = format!("{dense}.{letters}{dense}");
    out.push((format!("SG.{sendgrid}"), sendgrid));
    for (before, secret, behind) in [
        ("AWS_SECRET_ACCESS_KEY=", aws, ""),
        ("aws_secret_access_key = ", aws, ""),
        ("postgres://ada:", "hunter2!x", "@db.test/app"),
        ("redis://:", "hunter2", "@cache:6379"),
        ("https://ada:", "p@ss-word", "@git.test/a.git"),
        ("password=", "hunter", ""),
        ("PASSWORD=", "cor_rect*horse", ""),
        ("password='", "correct horse", "'"),
        ("\"password\": \"", "hunter_2x", "\""),
        ("\\\"password\\\": \\\"", "hunter_2x", "\\\""),
        ("db_password: ", "hunter22", ""),
        ("--password ", "hunter22", ""),
        ("--db-password=", "hunter22", ""),
        ("Pwd=", "hunter22", ";Server=a"),
        ("?user=a&password=", "hunter22", "&x=y"),
        ("api_key=", "abcd1234", ""),
        ("\"apiKey\":\"", "abcd1234", "\""),
        ("token: ", "abcd1234efgh", ""),
        ("Authorization: Basic ", "dXNlcjpwYXNz", ""),
        ("curl -s -u ada:", "hunter2", " https://a.test"),
        ("https://hooks.slack.com/services/", "T0001/B0002/abcdefgh", ""),
        ("123456789:", "AAabcdefghijklmnopqrstuvwxyz0123456", ""),
        ("**password:** ", "hunter22", ""),
        ("**Password**: ", "hunter22", ""),
        ("pw=", "hunter22", ""),
        ("ada:", "hunter22", "@tcp(127.0.0.1:3306)/db"),
        ("https://discord.com/api/webhooks/123456789012345678/", "abcdefABCDEF0123", ""),
        ("https://a.webhook.office.com/", "webhookb2/0123456789abcdef", ""),
        ("redis-cli -h cache -a ", "hunter22", " ping"),
        ("https://a.test/f?X-Amz-Signature=", "0123456789abcdef0123", "&x=y"),
        ("db_pw=", "hunter22", ""),
        ("\"pw\": \"", "hunter22", "\""),
        ("mysql -u root -p", "hunter22", " db"),
        ("mysqldump --single-transaction -p'", "hunter22", "' db"),
        ("sshpass -p ", "hunter22", " ssh a"),
        ("https://a.blob.core.windows.net/c/f?sv=2022&sig=", "abcDEF123%2Bghi456jkl%3D", "&se=1"),
        ("machine a.test login ada password ", "hunter22", ""),
        ("machine a.test\n  login ada\n  password ", "hunter22", ""),
        ("<password>", "hunter22", "</password>"),
        ("<db:Password type=\"a\">", "correct horse", "</db:Password>"),
        ("<add key=\"DbPassword\" value=\"", "hunter22", "\"/>"),
        ("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc-_123", ""),
    ] {
        out.push((format!("{before}{secret}{behind}"), secret.to_owned()));
    }
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj";
    out.push((format!("-----BEGIN PRIVATE {}-----\n{body}\n-----END PRIVATE KEY-----", "KEY"), body.to_owned()));
    out.push((format!("-----BEGIN RSA PRIVATE {}-----\n{body}", "KEY"), body.to_owned()));
    let lines = |before: &str| format!("\n{before}{body}\n{before}{body}");
    for before in ["> ", "  2\t", " 12 | ", "+", "3: "] {
        out.push((format!("-----BEGIN PRIVATE {}-----{}", "KEY", lines(before)), body.to_owned()));
    }
    let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n";
    for text in [format!("{headers}\n{body}\n{body}"), format!("{headers}\n{body}\n{body}").replace('\n', "\\n")] {
        out.push((format!("-----BEGIN RSA PRIVATE {}-----\n{text}", "KEY"), body.to_owned()));
    }
    let numbered = headers.lines().chain(["", body, body]).enumerate();
    let numbered: String = numbered.map(|(n, line)| format!("{}: {line}\n", n + 2)).collect();
    out.push((format!("1: -----BEGIN RSA PRIVATE {}-----\n{numbered}", "KEY"), body.to_owned()));
    out.push((format!("-----BEGIN PRIVATE {}-----\\n\" +\n  \"{body}\\n\" +\n  \"{body}", "KEY"), body.to_owned()));
    out
}

#[test]
fn a_key_that_is_broken_over_two_lines_goes_whole() {
    let (one, two) = ("a1B2c3D4e5F6g7H8i9", "J0k1L2m3N4o5");
    for text in [
        format!("KEY=sk-{one}\n{two}\n"),
        format!("KEY=sk-{one}\r\n    {two}\""),
        format!("{}ghp_a1B2\n{two}m3N4 && run", "x".repeat(72) + " "),
    ] {
        let (safe, _) = masked(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(!safe.contains("J0k1") && !safe.contains("a1B2"), "{safe}");
    }
    for behind in ["Authentication works", "2026-11-23T10:00:00 started", "src/lib2/parts3.rs", "then run it"] {
        let (safe, count) = masked(&format!("KEY=sk-{one}\n{behind}\n")).unwrap();
        assert_eq!((safe, count), (format!("KEY=sk-***\n{behind}\n"), 1));
    }
}

#[test]
fn a_password_in_a_sentence_goes_where_it_looks_like_one() {
    for (text, shown) in [
        ("The password is hunter22.", "The password is ***."),
        ("password is: `correct`", "password is: `***`"),
        ("my passphrase is p@ssword!", "my passphrase is ***!"),
    ] {
        assert_eq!(masked(text).map(|(safe, _)| safe).as_deref(), Some(shown), "{text}");
    }
}

#[test]
fn every_shape_is_found_wherever_a_word_can_begin() {
    for (text, secret) in examples() {
        for (before, behind) in [
            ("", ""),
            ("KEY is ", " rest"),
            ("`", "`"),
            ("**", "**"),
            ("_", "_"),
            ("[", "](x)"),
            ("<b>", "</b>"),
            ("\"", "\""),
            ("a\\n", "\\n"),
            ("\\u0022", "\\u0022"),
            ("%20", "%20"),
            ("\u{1b}[31m", "\u{1b}[0m"),
            ("\n> ", "\n"),
            ("|", "|"),
        ] {
            let whole = format!("{before}{text}{behind}");
            let (safe, count) = masked(&whole).unwrap_or_default();
            assert!(count >= 1 && !safe.contains(&secret) && safe.contains(MASK), "{whole} → {safe}");
            assert_eq!(masked(&safe), None, "{safe}");
        }
    }
}

/// A way in which a text is escaped, with its name.
type Escaping = (&'static str, fn(&str) -> String);

/// Every [`Escaping`] that exports and servers use.
pub(crate) fn escapings() -> [Escaping; 7] {
    fn html(text: &str) -> String {
        let signs = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
        signs.iter().fold(text.to_owned(), |text, (sign, entity)| text.replace(*sign, entity))
    }
    fn json(text: &str) -> String {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    }
    fn url(text: &str) -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
    }
    fn markdown(text: &str) -> String {
        text.chars().flat_map(|c| matches!(c, '*' | '_' | '`').then_some('\\').into_iter().chain([c])).collect()
    }
    [
        ("html", html),
        ("html in html", |text| html(&html(text))),
        ("json", json),
        ("json in json", |text| json(&json(text))),
        ("url", url),
        ("json in a page", |text| html(&json(text))),
        ("markdown", markdown),
    ]
}

#[test]
fn every_shape_is_found_in_every_escaping() {
    for (text, secret) in examples() {
        for (name, escape) in escapings() {
            for whole in [escape(&text), format!("see {} there", escape(&text)), escape(&format!("<a x=\"{text}\">"))] {
                let (safe, count) = masked(&whole).unwrap_or_default();
                let shown = [escape(&secret), secret.clone()].into_iter().any(|secret| safe.contains(&secret));
                assert!(count >= 1 && !shown, "{name}: {whole} → {safe}");
            }
        }
    }
}

#[test]
fn keys_are_masked_where_they_stand() {
    let body = "a1b2c3d4e5f6a7b8";
    for (text, shown) in [
        (format!("KEY=sk-proj-{body} rest"), "KEY=sk-*** rest"),
        (format!("ghp_{body}0123."), "ghp_***."),
        (format!(r#"{{"a":"Bearer {body}"}}"#), r#"{"a":"Bearer ***"}"#),
        ("postgres://ada:hunter2@db/app?x=1".to_owned(), "postgres://ada:***@db/app?x=1"),
        ("PGPASSWORD=hunter2 psql -h db".to_owned(), "PGPASSWORD=*** psql -h db"),
        ("DATABASE_PASS=hunter2".to_owned(), "DATABASE_PASS=***"),
        ("id AKIAIOSFODNQWERTZUIO here".to_owned(), "id AKIA*** here"),
        (format!("\u{1b}[01;31m\u{1b}[Kghp_\u{1b}[m\u{1b}[K{body}0123"), "ghp_***"),
        (r#"{"password": "hunter2", "user": "ada"}"#.to_owned(), r#"{"password": "***", "user": "ada"}"#),
        (
            format!("-----BEGIN RSA PRIVATE {}-----\nMIIE\n-----END RSA PRIVATE KEY-----", "KEY"),
            "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
        ),
    ] {
        assert_eq!(masked(&text), Some((shown.to_owned(), 1)), "{text}");
    }
}

#[test]
fn what_is_no_key_stays() {
    for text in [
        "",
        "sk-learn is a library",
        "task-0123456789abcdefgh",
        "sk-short1",
        "the bearer of this letter came",
        "hf_hub_download_directory",
        "npm_config_registry_default",
        "the password is asked for once",
        "password: string",
        "password: Option<String>, token: &str",
        "let token = next(&mut tokens);",
        "if password == other.password {",
        "password = getpass(\"x\")",
        "password=os.environ[\"PASSWORD\"]",
        "PASSWORD=$SECRET PASSWORD=${SECRET}",
        "PWD=/home/ada/project1",
        "tokenUsage: 12, tokens: 4096",
        "https://a.test:8080/x@y",
        "ssh://git@host:22/x",
        "https://docs.test/pass:word",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "src/components/UserProfile/AvatarEditors",
        "looks for -----BEGIN PRIVATE KEY----- in files",
        "password=*** and \"password\": \"***\"",
        "if token == Token::Identifier1 { return }",
        "const apiKey = process.env.API_KEY;",
        "token: vscode.CancellationToken",
        "the password is required and the password is Optional",
        "The password is base64-encoded, then the password is sha256-hashed.",
        "bpw=1000 and mpw=4096",
        "mysql -u root -p mydb",
        "mysql -P3306 --protocol=tcp -h db",
        "mkdir -p some/folder && mysql --version",
        "a machine with its own login asks for a password every time",
        "<label for=\"password\">Password</label>",
        "<password>string</password> <password>${DB}</password> <token>next</token>",
        "<input name=\"password\" value=\"\" type=\"password\">",
        "**password:** string",
        "https://a.test/?sig=short&design=abcdefghijklmnopqrstu",
        "cp -p src/a1.rs dst && tar -pxf backup.tar",
    ] {
        assert_eq!(masked(text), None, "{text}");
    }
}

#[test]
fn fields_say_by_their_name_that_they_are_secret() {
    let mut value =
        serde_json::json!({"password": "open sesame", "list": [{"apiKey": "abc123def"}], "token": "next", "n": 1});
    assert_eq!(masked_value(&mut value), 2);
    assert_eq!(value, serde_json::json!({"password": "***", "list": [{"apiKey": "***"}], "token": "next", "n": 1}));
    let line = r#"{"a": "x\ny", "input":{"password":"open sesame","user":"ada"},"n":1.0}"#;
    let safe = r#"{"a": "x\ny", "input":{"password":"***","user":"ada"},"n":1.0}"#;
    assert_eq!(crate::domain::secret::masked_json(line), Some((safe.to_owned(), 1)));
    assert_eq!(crate::domain::secret::masked_json(safe), None);
}

#[test]
fn key_files_are_known_by_how_they_begin() {
    let begin = format!("-----BEGIN {} KEY-----\nabc\n", "PRIVATE");
    let service = format!("{{\"type\": \"service_account\", \"private_key\": \"{}\"}}", begin.replace('\n', "\\n"));
    for key in [
        begin.clone(),
        begin.replace("PRIVATE", "OPENSSH PRIVATE"),
        begin.replace("PRIVATE", "ENCRYPTED PRIVATE"),
        format!("\u{feff}\n{begin}"),
        format!("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n{begin}"),
        format!("Bag Attributes\n    friendlyName: x\n{begin}"),
        format!("# for the server\n{begin}"),
        "PuTTY-User-Key-File-3: ssh-ed25519\n".to_owned(),
        "AGE-SECRET-KEY-1QQ\n".to_owned(),
        "# created: 2026-01-01\n# public key: age1x\nAGE-SECRET-KEY-1QQ\n".to_owned(),
        service,
    ] {
        assert!(super::begins_with_key(key.as_bytes()), "{key}");
    }
    for open in [
        String::new(),
        "-----BEGIN CERTIFICATE-----\nabc\n".to_owned(),
        "-----BEGIN PUBLIC KEY-----\nabc\n".to_owned(),
        format!("#!/bin/sh\ncat <<END\n{begin}END\n"),
        format!("let key = \"{begin}\";\n"),
        "{\"private_key\": \"path/to/it\"}".to_owned(),
    ] {
        assert!(!super::begins_with_key(open.as_bytes()), "{open}");
    }
}

#[test]
fn keys_of_known_makers_are_found_in_a_file_of_data() {
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9");
    for text in [
        format!("token: {key}\n"),
        format!("{{\"a\": {{\"b\": \"{key}\"}}}}"),
        format!("x\n-----BEGIN {} KEY-----\n", "PRIVATE"),
    ] {
        assert!(crate::domain::secret::Content::Data.is_secret(text.as_bytes()), "{text}");
    }
    for text in ["", "name: app\nport: 80\n", "{\"token\": \"ghp_xxx\"}", "password: hunter22"] {
        assert!(!crate::domain::secret::Content::Data.is_secret(text.as_bytes()), "{text}");
    }
}
