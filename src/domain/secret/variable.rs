//! Variables of an environment: which hold a credential, by name and by value.
//!
//! A false hit costs a command one variable, which a rule can give back; a miss gives a key away. So this is stricter than
//! the masking of texts: a value is judged alone, and the beginning of a key counts from a few characters on.

use super::shapes::{is_secret_of, names_a_key};

/// Words of a name that stand for a credential wherever they are in it.
const WORDS: &[&str] = &[
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PW",
    "PSW",
    "PAT",
    "CRED",
    "CREDS",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "COOKIES",
    "JWT",
    "DSN",
    "WEBHOOK",
    "HMAC",
    "MNEMONIC",
    "PASSCODE",
    "LICENSEKEY",
    "SAS",
    "SK",
    "PRIVKEY",
    "JWK",
];
/// The same at the end of a name: `NPM_CONFIG__AUTH`, but not `AUTH_URL`.
const LAST_WORDS: &[&str] = &[
    "AUTH",
    "OAUTH",
    "PIN",
    "SALT",
    "PEPPER",
    "SIGNATURE",
    "SIGNING",
    "CONNSTR",
    "OTP",
    "SEED",
    "CERT",
    "CERTIFICATE",
    "P12",
    "PFX",
    "PEM",
    "KEYSTORE",
    "PRIVATE",
    "AK",
];
/// Services whose sessions are credentials; those of desktops and terminals are not.
const CLOUDS: &[&str] = &[
    "AWS",
    "GCP",
    "GOOGLE",
    "AZURE",
    "ARM",
    "OCI",
    "ALIYUN",
    "ALICLOUD",
    "CLOUDFLARE",
    "CF",
    "DO",
    "HEROKU",
    "OP",
    "BW",
    "VAULT",
    "OKTA",
    "STRIPE",
    "TWILIO",
];
/// Ends of a word that runs several together: `GHTOKEN`, `DBPASS`, `ROOTPW`.
const ENDS: &[&str] = &["TOKEN", "PASS", "PW", "PWD", "SECRET", "PASSWD", "APIKEY"];
/// Words with such an end that are others.
const NO_ENDS: &[&str] = &["COMPASS", "BYPASS", "SURPASS", "TRESPASS", "ENCOMPASS"];
/// Parts that count wherever they stand, also within a word.
const PARTS: &[&str] = &[
    "PASSW",
    "PASSPHRASE",
    "SECRET",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "AUTHTOKEN",
    "PRIVATEKEY",
    "ACCESSKEY",
    "PRIVKEY",
    "ENCRYPTIONKEY",
    "SIGNINGKEY",
    "MASTERKEY",
    "CONNECTION_STRING",
    "CONNECTIONSTRING",
    "SEED_PHRASE",
    "SERVICE_ACCOUNT",
];
/// Words that begin like a password and are none.
const NO_PASSWORDS: &[&str] = &["PASSTHROUGH", "PASSTHRU", "PASSIVE", "PASSED", "PASSES", "PASSING", "PASSENGER"];
/// Words of names whose value is long and opaque, and no credential: revisions, digests, numbers of a build.
const OPAQUE_WORDS: &[&str] = &[
    "SHA", "SHA1", "SHA256", "SHA512", "COMMIT", "HASH", "REV", "REVISION", "DIGEST", "CHECKSUM", "ID", "UUID",
    "VERSION", "TAG", "REF", "BUILD", "IMAGE", "COLORS", "FLAGS", "OPTS", "OPTIONS", "PATH", "DIR", "HOME",
];
/// So many letters and digits in a row, mixed so often, are no word …
const OPAQUE: usize = 20;
const OPAQUE_CHANGES: usize = 6;
/// … and so many digits of a hexadecimal number no usual number.
const OPAQUE_HEX: usize = 32;

/// True if a variable holds a credential.
#[must_use]
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    is_secret_name(name) || is_secret_value(name, value)
}

/// By its name alone.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let split = words(name);
    let upper = split.join("_");
    // The working directory.
    if matches!(upper.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let passes = |word: &str| word.starts_with("PASS") && !NO_PASSWORDS.contains(&word);
    let ends = |word: &str| !NO_ENDS.contains(&word) && ENDS.iter().any(|end| word.ends_with(end));
    let word = |(at, word): (usize, &String)| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        WORDS.contains(&word) || at + 1 == split.len() && LAST_WORDS.contains(&word) || passes(word) || ends(word)
    };
    let session = split.first().is_some_and(|first| CLOUDS.contains(&first.as_str()))
        && split.iter().any(|word| word.starts_with("SESSION"));
    session || split.iter().enumerate().any(word) || PARTS.iter().any(|part| upper.contains(part))
}

/// By its value, whatever it is called: the shape of a key, or a text like one under a name that does not explain it.
fn is_secret_value(name: &str, value: &str) -> bool {
    if value.len() < 6 {
        return false;
    }
    let explained = words(name).iter().any(|word| OPAQUE_WORDS.contains(&word.as_str()));
    names_a_key(value) || is_secret_of(name, value) || !explained && is_opaque(value)
}

/// The words of a name in capitals: `npm_config__authToken` has `NPM`, `CONFIG`, `AUTH` and `TOKEN`.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut fresh, mut small) = (true, false);
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (small && c.is_ascii_uppercase()) {
            out.push(String::new());
        }
        (fresh, small) = (false, c.is_ascii_lowercase());
        if let Some(last) = out.last_mut() {
            last.push(c.to_ascii_uppercase());
        }
    }
    out
}

/// A run of letters and digits that no word, path or list has.
fn is_opaque(value: &str) -> bool {
    if value.starts_with(['/', '~', '.']) {
        return false;
    }
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let hex = run.len() >= OPAQUE_HEX && run.bytes().all(|b| b.is_ascii_hexdigit());
        let digits = run.bytes().all(|b| b.is_ascii_digit());
        hex && !digits || run.len() >= OPAQUE && super::shapes::changes(run.as_bytes()) >= OPAQUE_CHANGES
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_tell_credentials() {
        for name in [
            "ANTHROPIC_API_KEY",
            "my_api_key",
            "GITHUB_TOKEN",
            "GHTOKEN",
            "CI_JOB_TOKEN_2",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "CLIENT_SECRET",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DBPASS",
            "DB_PASS_2",
            "DBPASS2",
            "X_PW",
            "ROOTPW",
            "PW",
            "SSHPASS",
            "GITHUB_PAT",
            "npm_config__auth",
            "npm_config__authToken",
            "NPM_CONFIG_//registry.npmjs.org/:_authToken",
            "SIGNING_KEY",
            "SECRET_KEY_BASE",
            "PASSPHRASE",
            "GPG_PASSPHRASE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SENTRY_DSN",
            "DATABASE_DSN",
            "SLACK_WEBHOOK",
            "SLACK_WEBHOOK_URL",
            "AZURE_STORAGE_CONNECTION_STRING",
            "privateKeyPassword",
            "clientSecret",
            "HTTP_AUTHORIZATION",
            "SESSION_COOKIE",
            "WALLET_MNEMONIC",
            "TF_VAR_db_password",
            "JWT",
            "SAS_TOKEN",
            "PASSWORD_STORE_DIR",
            "AWS_SESSION_TOKEN",
            "KEY",
            "STRIPE_SK",
            "SK",
            "AWS_SESSION",
            "OP_SESSION_my",
            "CERT",
            "TLS_CERT",
            "CLIENT_CERTIFICATE",
            "SIGNING",
            "APPLE_SIGNING",
            "ANDROID_KEYSTORE",
            "SSH_PRIVATE",
            "ALIYUN_AK",
            "GCP_SERVICE_ACCOUNT_JSON",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "LANG",
            "LC_ALL",
            "TERM",
            "KEYBOARD",
            "MONKEY",
            "KEYMAP",
            "KEYTIMEOUT",
            "TOKENIZERS_PARALLELISM",
            "MAX_TOKENS",
            "FTP_PASSIVE",
            "COMPASS",
            "COMPASS_DIR",
            "PASSTHROUGH",
            "GPG_TTY",
            "RUSTFLAGS",
            "JAVA_HOME",
            "PYTHONPATH",
            "NODE_ENV",
            "CI",
            "npm_config_registry",
            "npm_config_cache",
            "AUTH_URL",
            "DATABASE_URL",
            "DB_HOST",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "PATTERN",
            "PATCH",
            "SEEDS",
            "SPIN",
            "INIT_CWD",
            "CARGO_HOME",
            "GOFLAGS",
            "CFLAGS",
            "DISPLAY",
            "AUTHENTICATION_URL",
            "DOCKER_BUILDKIT",
            "SALTED",
            "SESSION_MANAGER",
            "XDG_SESSION_ID",
            "XDG_SESSION_TYPE",
            "DESKTOP_SESSION",
            "SESSION_ID",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NODE_EXTRA_CA_CERTS",
            "CERTBOT_DOMAIN",
            "TASK",
            "DESK",
            "DISK",
            "SKIP",
            "MAKE",
            "SIGNING_REGION",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn values_tell_credentials_whatever_they_are_called() {
        for value in [
            "ghp_xxxxxxxxxxxxxxxx",
            "ghp_abc123",
            "sk_live_abcdef",
            "glpat-aaaaaaaaaaaaaaaaaaaa",
            "hf_abcdefghij",
            "https://hooks.slack.com/services/T00/B00/abcdef",
            "Bearer abcdefgh",
            "bearer abcdefgh",
            "Basic dXNlcjpwYXNz",
            "postgres://me:hunter2@db/x",
            "http://user:pw@proxy:3128",
            "user:hunter2@tcp(127.0.0.1:3306)/db",
            "Server=db;User Id=sa;Password=hunter22;",
            "host=db user=me password=hunter22",
            "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2",
            "https://a1B2c3D4e5F6g7H8i9J0k1@github.com/a/b",
            "https://discord.com/api/webhooks/123456789012345678/abcdefABCDEF0123",
            "a3B9xK2mQ7pL5vN8wR4t",
            "0123456789abcdef0123456789abcdef",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a1B2c3D4e5==",
            "AKIAIOSFODNN7EXAMPLE",
            "{\"auths\":{\"r.test\":{\"auth\":\"dXNlcjpwYXNzMQ==\"}}}",
        ] {
            assert!(is_secret_variable("ANYTHING", value), "{value}");
        }
        for (name, value) in [
            ("EMPTY", ""),
            ("N", "1"),
            ("SEARCH", "/usr/bin:/bin"),
            ("URL", "https://example.org/a?b=c"),
            ("DATABASE_URL", "postgres://me@db/x"),
            ("DATABASE_URL", "postgres://db.internal:5432/app"),
            ("LS_COLORS", "rs=0:di=01;34:ln=01;36:*.tar=01;31"),
            ("RUSTFLAGS", "-Ctarget-cpu=x86-64-v3 -Clink-arg=-fuse-ld=lld"),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
            ("SESSION_ID", "0123456789abcdef0123456789abcdef"),
            ("SSH_CONNECTION", "203.0.113.7 50022 198.51.100.1 22"),
            ("NIX_PATH", "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-a"),
            ("HOSTS", "a.test,b.test"),
            ("JAVA_HOME", "/usr/lib/jvm/java-21-openjdk-amd64"),
            ("MODE", "development"),
            ("npm_config_registry", "https://r.test/"),
            ("CFLAGS", "-O2 -march=native -fstack-protector-strong"),
            ("TODAY", "2026-11-23T10:00:00Z"),
            ("BIG", "123456789012345678901234567890123"),
            ("LANGUAGE", "en_US:en"),
            ("PRETTY", "Debian GNU/Linux 13 (trixie)"),
            ("EDITOR", "nvim"),
        ] {
            assert!(!is_secret_variable(name, value), "{name}={value}");
        }
    }

    proptest! {
        /// Every row of the table of shapes, under every name.
        #[test]
        fn every_shape_counts_under_every_name(at in 0..examples().len(), name in "[A-Z][A-Z0-9_]{0,12}") {
            let (text, _) = &examples()[at];
            prop_assert!(is_secret_variable(&name, text), "{}={}", name, text);
        }

        /// Every word of the table of names, in every place of a name and in every spelling.
        #[test]
        fn every_word_counts_in_every_name(at in 0..WORDS.len(), before in "[A-Z]{1,6}_", behind in "(_[A-Z]{1,6})?", lower: bool) {
            let name = format!("{before}{}{behind}", WORDS[at]);
            let name = if lower { name.to_lowercase() } else { name };
            prop_assert!(is_secret_name(&name), "{}", name);
        }
    }
}
