//! Names of secrets: folders, files by their whole name, by their ending, and by the words of their name.
//!
//! The words count in names of data alone (`api_key.txt`, `db-secret.yaml`), never in those of source code (`token.rs`). A name
//! that is nothing but such a word, as `token` without an ending, is a secret only where it is known to be a file: as a word
//! of a command it means something else.

use super::{names, programs};
use std::path::Path;

/// Folders whose whole content is secret: keys, sign-ins and browser profiles.
const SECRET_FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".librewolf",
    ".waterfox",
    "org.mozilla.firefox",
    "bravesoftware",
    "google-chrome",
    "google-chrome-beta",
    "chromium",
    "keychains",
    "keyrings",
    "gcloud",
];

/// Secret places that only a folder and what stands in it tell together.
const SECRET_PAIRS: &[(&str, &str)] = &[
    (".config", "microsoft-edge"),
    (".config", "vivaldi"),
    (".config", "opera"),
    (".config", "gh"),
    (".config", "rclone"),
    ("gh", "hosts.yml"),
    (".docker", "config.json"),
    (".cargo", "credentials"),
    ("snap", "firefox"),
    ("application support", "google"),
    ("application support", "firefox"),
    ("application support", "microsoft edge"),
    ("etc", "shadow"),
    ("etc", "shadow-"),
    ("etc", "gshadow"),
    ("etc", "gshadow-"),
    ("etc", "sudoers"),
];

/// Files that are secret wherever they lie.
const SECRET_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".authinfo",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".htpasswd",
    ".vault-token",
    ".terraformrc",
    ".boto",
    ".s3cfg",
    "credentials",
    "credentials.toml",
    "credentials.json",
    "credentials.db",
    "credentials.enc",
    "secrets.json",
    "secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    "auth.json",
    "logins.json",
    "key4.db",
    "cookies.sqlite",
    "login data",
];

/// Endings of files that hold keys.
const SECRET_ENDINGS: &[&str] = &[
    "pem",
    "key",
    "p12",
    "pfx",
    "pkcs12",
    "jks",
    "bcfks",
    "keystore",
    "kdbx",
    "kdb",
    "ppk",
    "p8",
    "keytab",
    "tfstate",
    "ovpn",
    "agekey",
    "mobileprovision",
];
/// Stems of `prod.env`. Others are secret as files alone: `process.env` is a word of a program.
const ENV_STEMS: &[&str] = &[
    "docker", "compose", "api", "backend", "frontend", "web", "database", "postgres", "mysql", "redis", "worker",
    "service", "secret", "secrets",
];

/// Entries of `/proc/PID` that show a process's environment, memory or open files.
const SECRET_PROC: &[&str] = &["environ", "mem", "fd", "root", "cwd", "map_files", "task", "cmdline"];

/// Beginnings of the names that ssh gives to keys.
const KEY_NAMES: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"];

/// Files that are secret, but whose names are words as well: a command that holds the word need not mean the file.
const SECRET_WORDS: &[&str] = &["shadow", "shadow-", "gshadow", "gshadow-", "sudoers"];

/// Files that are secret wherever they lie, by their name without what a copy adds to it (`.bak`, `~`).
const MORE_FILES: &[&str] = &[
    "pgpass.conf",
    ".mylogin.cnf",
    ".esmtprc",
    ".vault-password",
    ".ansible_vault",
    ".prod.vars",
    "dev.vars",
    "smbpasswd",
    ".htdigest",
    "ipsec.secrets",
    "authinfo",
    "kube.config",
    "admin.conf",
    "rootkey.csv",
    "kaggle.json",
    "serviceaccountkey.json",
    "credentials.tfrc.json",
    "keystore.properties",
    "sftp-config.json",
    "sftp.json",
    "datasources.local.xml",
    "wallet.dat",
    "cookies.txt",
    ".dockercfg",
    ".dockerconfigjson",
    "kubeconfig",
    "rclone.conf",
    ".msmtprc",
    ".fetchmailrc",
    ".vault_pass",
    "vault_pass",
    "wp-config.php",
    "local.settings.json",
    "token.json",
    "token.txt",
    "key.txt",
    "env.txt",
    ".secrets",
    ".secret",
    ".credentials",
    ".creds",
    ".token",
    ".api_key",
    ".apikey",
    ".passwd",
    ".password",
    ".pass",
    "shadow.bak",
];

/// Endings that a copy or an encryption adds.
const COPIES: &[&str] = &[
    "bak", "old", "orig", "save", "saved", "backup", "swp", "swo", "tmp", "copy", "enc", "gpg", "asc", "age", "gz",
    "b64",
];

/// Endings of data, in whose names the words count. `env` stands for `prod.env`.
const DATA: &[&str] = &[
    "json",
    "json5",
    "jsonc",
    "yml",
    "yaml",
    "toml",
    "ini",
    "conf",
    "cfg",
    "cnf",
    "config",
    "properties",
    "xml",
    "plist",
    "txt",
    "csv",
    "tsv",
    "env",
    "db",
    "sqlite",
    "dat",
    "data",
    "creds",
    "list",
    "local",
    "prod",
    "production",
    "staging",
    "hcl",
];

/// Words of a name that say that a file of data holds secrets, as its last word or before [`KINDS`] alone.
const SECRET_NOUNS: &[&str] = &[
    "secret",
    "secrets",
    "credential",
    "credentials",
    "creds",
    "cred",
    "passwd",
    "password",
    "passwords",
    "passphrase",
    "passphrases",
    "apikey",
    "apikeys",
    "privatekey",
    "accesskey",
    "secretkey",
    "authtoken",
    "accesstoken",
    "clientsecret",
    "htpasswd",
    "serviceaccount",
    "adminsdk",
    "kubeconfig",
];
/// The same as the last word of a name alone: `gcp-key.json`, but not `keys.json`, which is as often about something else.
const LAST_NOUNS: &[&str] = &["key", "token", "pat"];
/// In a text or a list these are secrets in the plural as well.
const LAST_NOUNS_OF_TEXT: &[&str] = &["keys", "tokens", "pass", "auth"];
/// Pairs of words that say it wherever they are in a name.
const SECRET_NOUN_PAIRS: &[(&str, &str)] = &[
    ("service", "account"),
    ("client", "secret"),
    ("api", "key"),
    ("api", "keys"),
    ("api", "token"),
    ("private", "key"),
    ("access", "key"),
    ("access", "token"),
    ("auth", "token"),
    ("deploy", "key"),
    ("signing", "key"),
    ("master", "key"),
    ("recovery", "codes"),
    ("backup", "codes"),
    ("vault", "pass"),
    ("vault", "password"),
    ("ssh", "key"),
    ("secret", "key"),
];
/// Words that say which one it is, and nothing about it.
const KINDS: &[&str] = &[
    "prod",
    "production",
    "live",
    "staging",
    "stage",
    "dev",
    "development",
    "local",
    "private",
    "real",
    "backup",
    "old",
    "new",
    "main",
    "default",
    "admin",
    "root",
    "user",
    "key",
    "keys",
    "file",
    "data",
    "config",
    "store",
    "list",
    "auto",
    "db",
    "app",
    "server",
];
/// Settings that frameworks read for one environment …
const SETTINGS: &[&str] = &["application", "appsettings", "bootstrap"];
/// … and environments whose settings hold the real passwords.
const REAL: &[&str] = &["prod", "production", "live", "staging", "stage", "local", "secret", "secrets"];
/// Words that say that a file is made to be read: an example, a schema, a public key.
const OPEN: &[&str] = &[
    "example", "examples", "sample", "samples", "template", "tmpl", "tpl", "dist", "defaults", "schema", "fixture",
    "fixtures", "mock", "mocks", "dummy", "fake", "spec", "public", "pub", "policy", "rules", "reset", "strength",
    "test", "tests", "docs", "i18n", "lock",
];

/// True if a path, or a word that may be one, looks like keys or credentials: `.ssh`, `.gnupg`,
/// `.aws`, `.netrc`, `.env*`, key files, browser profiles, credential files.
#[must_use]
pub fn is_secret(path: &Path) -> bool {
    let names = names(path);
    let Some(last) = names.last().map(String::as_str) else { return false };
    names.iter().any(|name| SECRET_FOLDERS.contains(&name.as_str()) || is_env_file(name))
        || names.windows(2).any(|w| SECRET_PAIRS.iter().any(|(folder, name)| w[0] == *folder && w[1] == *name))
        || is_secret_name(last)
        || programs::is_one(&names)
        || (names.first().is_some_and(|name| name == "proc") && is_secret_of_proc(&names, last))
}

/// True if everything below a folder of this path is secret. A folder named like a secret file
/// (`credentials/`) is not.
#[must_use]
pub fn is_secret_folder(path: &Path) -> bool {
    let names = names(path);
    let Some(last) = names.last().map(String::as_str) else { return false };
    let pair = names.len().checked_sub(2).and_then(|at| names.get(at)).map(|above| (above.as_str(), last));
    SECRET_FOLDERS.contains(&last) || is_env_file(last) || pair.is_some_and(|pair| SECRET_PAIRS.contains(&pair))
}

/// [`is_secret`] for a path that is known to name a file: also names without an ending, as `deploy_key` and `token`.
#[must_use]
pub fn is_secret_entry(path: &Path) -> bool {
    is_secret(path)
        || names(path).last().is_some_and(|name| match name.rsplit_once('.') {
            None => tells(name, "txt"),
            Some((stem, "env")) => !words(stem).any(|word| OPEN.contains(&word)),
            Some(_) => false,
        })
}

/// [`is_secret_entry`] for what a tool was asked to read: also `shadow` anywhere, and keys with names of their owner's,
/// like `id_work` (but `id_map.rs` is none).
#[must_use]
pub fn is_secret_file(path: &Path) -> bool {
    let own_key = |name: &str| name.starts_with("id_") && !name.contains('.');
    let last = names(path).pop();
    is_secret_entry(path) || last.is_some_and(|name| SECRET_WORDS.contains(&name.as_str()) || own_key(&name))
}

/// The name of one file, as [`names`] has it.
fn is_secret_name(name: &str) -> bool {
    let key = |name: &str| KEY_NAMES.iter().any(|key| name.starts_with(key)) && !name.ends_with(".pub");
    let known = |name: &str| {
        let ending = ending(name);
        SECRET_FILES.contains(&name) || MORE_FILES.contains(&name) || SECRET_ENDINGS.contains(&ending) || key(name)
    };
    // What editors write beside a file: `#.env#`, `.#.env`, `..env.swp`.
    let locked = name.strip_prefix(".#").or_else(|| name.strip_prefix('#')?.strip_suffix('#'));
    let swapped = name.strip_prefix('.').and_then(|rest| Some(rest.rsplit_once('.')?).filter(|(_, end)| is_swap(end)));
    if let Some(of) = locked.or(swapped.map(|(of, _)| of)).filter(|of| !of.is_empty()) {
        return is_secret_name(of);
    }
    // `server.pem.bak`, `terraform.tfstate.backup`: what was copied tells.
    let mut bare = name.trim_end_matches('~');
    while let Some((start, _)) = bare.rsplit_once('.').filter(|(start, end)| !start.is_empty() && is_copy(end)) {
        if known(bare) {
            return true;
        }
        bare = start;
    }
    if known(bare) || is_env_file(bare) || is_env_copy(bare) {
        return true;
    }
    let is_open = words(bare).any(|word| OPEN.contains(&word));
    if is_open {
        return false;
    }
    let ending = ending(bare);
    // Of a name without an ending a copy tells: `token.gpg`.
    let tells = |ending: &str| tells(bare, ending);
    ending == "tfvars"
        || ending == "env" && words(bare).any(|word| ENV_STEMS.contains(&word) || KINDS.contains(&word))
        || DATA.contains(&ending) && tells(ending)
        || ending.is_empty() && bare != name && tells("txt")
}

/// Endings of the files in which vim keeps what is being changed.
fn is_swap(ending: &str) -> bool {
    ending.len() == 3 && ending.starts_with("sw") && ending.ends_with(|c: char| c.is_ascii_lowercase())
}

/// Meaning of an ending such as `bak` or `1`.
fn is_copy(ending: &str) -> bool {
    COPIES.contains(&ending)
        || !ending.is_empty() && ending.len() <= 2 && ending.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of the name of a file of data say that it holds secrets.
fn tells(name: &str, ending: &str) -> bool {
    let stem = name.strip_suffix(ending).and_then(|stem| stem.strip_suffix('.')).unwrap_or(name);
    let words: Vec<&str> = words(stem).collect();
    if words.iter().any(|word| OPEN.contains(word)) {
        return false;
    }
    let text = matches!(ending, "txt" | "csv" | "tsv" | "list" | "dat" | "data");
    let kind = |word: &&str| KINDS.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit());
    // What stands behind the word that tells says at most which one it is.
    let at = words.iter().rposition(|word| SECRET_NOUNS.contains(word));
    let noun = at.is_some_and(|at| words.iter().skip(at + 1).all(kind));
    let last = words.last().is_some_and(|last| {
        LAST_NOUNS.contains(last) && (words.len() > 1 || text) || text && LAST_NOUNS_OF_TEXT.contains(last)
    });
    let pair = words.windows(2).any(|two| SECRET_NOUN_PAIRS.contains(&(two[0], two[1])));
    let settings = words.first().is_some_and(|first| SETTINGS.contains(first))
        && words.iter().chain(std::iter::once(&ending)).any(|word| REAL.contains(word));
    noun || last || pair || settings || words.contains(&"adminsdk")
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// `env.production`, `env.local`: a copy of `.env` that was renamed so as to be seen.
fn is_env_copy(name: &str) -> bool {
    const ENVIRONMENTS: &[&str] = &["local", "prod", "production", "live", "staging", "dev", "development", "test"];
    name.strip_prefix("env.").is_some_and(|rest| ENVIRONMENTS.contains(&rest))
}

/// `.env` and its kin, without the examples that are made to be read.
fn is_env_file(name: &str) -> bool {
    let example = [".example", ".sample", ".template", ".dist", ".defaults"].iter().any(|end| name.ends_with(end));
    let known = [".env", ".dev.vars", ".flaskenv"].iter().any(|begin| name.starts_with(begin));
    known && !example
}

/// `/proc/PID/…` that shows what a process holds, and the kernel's memory.
fn is_secret_of_proc(names: &[String], last: &str) -> bool {
    names.get(2).is_some_and(|name| SECRET_PROC.contains(&name.as_str()))
        || ["environ", "mem", "kcore", "cmdline"].contains(&last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name() {
        for secret in [
            "/home/u/.ssh/id_rsa",
            "/home/u/.SSH/config",
            ".env",
            "app/.env.production",
            "worker/.dev.vars",
            "dev.vars",
            "ops/.vault-password",
            "firebase/serviceAccountKey.json",
            ".vscode/sftp.json",
            ".idea/dataSources.local.xml",
            "etc/ipsec.secrets",
            "worker/.dev.vars.staging",
            "app/.flaskenv",
            "/home/u/.esmtprc",
            ".envrc",
            "x/.env/y",
            "/root/.aws/credentials",
            "certs/server.key",
            "a.PEM",
            "deploy/id_ed25519",
            "/home/u/.netrc",
            "/home/u/.config/lisle/credentials",
            "/home/u/.cargo/credentials.toml",
            "/home/u/.config/gh/hosts.yml",
            "/etc/shadow",
            "/proc/self/environ",
            "/home/u/.mozilla/firefox/x/places.sqlite",
        ] {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for open in [
            "/home/u/src/main.rs",
            ".env.example",
            "worker/.dev.vars.example",
            "environment.rs",
            "src/env.rs",
            "id_rsa.pub",
            "keys.rs",
            "docs/ssh.md",
            "/etc/passwd",
            "keyboard.toml",
            "/",
            "",
        ] {
            assert!(!is_secret(Path::new(open)), "{open}");
        }
    }

    #[test]
    fn what_editors_write_beside_a_secret_is_one() {
        for secret in
            ["#.env#", ".#.env", "..env.swp", "..env.swo", ".env~", "#id_rsa#", ".id_rsa.swp", "a/.server.key.swx"]
        {
            assert!(is_secret(Path::new(secret)), "{secret}");
        }
        for open in ["#main.rs#", ".#main.rs", ".main.rs.swp", ".swp", "#", "##"] {
            assert!(!is_secret_file(Path::new(open)), "{open}");
        }
    }

    #[test]
    fn names_that_are_words_are_secret_as_files_alone() {
        for file in ["/w/id_work", "id_work", "/backup/shadow", "/w/.env"] {
            assert!(is_secret_file(Path::new(file)), "{file}");
        }
        for open in ["/w/id_rsa.pub", "/w/id_work.pub", "/w/src/id_map.rs", "/w/.env.example"] {
            assert!(!is_secret_file(Path::new(open)), "{open}");
        }
        for word in ["id_user", "shadow"] {
            assert!(!is_secret(Path::new(word)), "{word}");
        }
    }

    /// Names that are secret wherever they stand, and copies of them.
    const SECRETS: &[&str] = &[
        "service-account.json",
        "service_account_key.json",
        "my-service-account-prod.json",
        "serviceaccount.json",
        "gcp-key.json",
        "firebase-adminsdk-x1.json",
        "client_secret_123.apps.googleusercontent.com.json",
        "terraform.tfstate",
        "terraform.tfvars",
        "prod.auto.tfvars",
        "kubeconfig",
        "kubeconfig.yaml",
        "prod-kubeconfig.yml",
        "deploy_key.txt",
        ".dockercfg",
        "prod.env",
        "docker.env",
        "env.txt",
        "env.production",
        "token.txt",
        "token.json",
        "tokens.txt",
        "key.txt",
        "api_key.txt",
        "api-keys.txt",
        "server.pem",
        "wp-config.php",
        "local.settings.json",
        "application-prod.yml",
        "application-production.properties",
        "appsettings.Production.json",
        "appsettings.local.json",
        "credentials.xml",
        "credentials.csv",
        "credentials.ini",
        "aws-credentials.json",
        "db-credentials.yaml",
        "secrets.json",
        "secrets.prod.yaml",
        "my-secrets.toml",
        "db-secret.yaml",
        "passwords.txt",
        "passwords.csv",
        "password.txt",
        "db_password.txt",
        "github-pat.txt",
        ".pgpass",
        "pgpass.conf",
        ".my.cnf",
        ".netrc",
        ".git-credentials",
        ".htpasswd",
        ".vault_pass",
        "vault-password.txt",
        "ssh-key.txt",
        "recovery-codes.txt",
        "vpn.ovpn",
        "accessKey.txt",
        "private_key.json",
        "x.tfstate",
        "rclone.conf",
        "access-token.json",
        "auth_token.txt",
        "signing-key.json",
        "root-passwd.conf",
        "htpasswd.conf",
    ];

    /// Source code, texts and settings that only speak of them.
    const PLAIN: &[&str] = &[
        "token.rs",
        "tokens.rs",
        "key.ts",
        "keys.rs",
        "keyboard.json",
        "secrets.rs",
        "secret.py",
        "password_reset.html",
        "password.tsx",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "tokens.json",
        "design-tokens.json",
        "package-lock.json",
        "Cargo.lock",
        "keymap.toml",
        "hotkeys.json",
        "keys.json",
        "keywords.txt",
        "credentials.rs",
        "credentials.go",
        "CredentialStore.java",
        "env.ts",
        "env.d.ts",
        "environment.yml",
        "env.yml",
        "environment.ts",
        "config.json",
        "settings.json",
        "application.yml",
        "application-test.yml",
        "appsettings.json",
        "appsettings.Development.json",
        "application.rs",
        "README.md",
        "secrets.md",
        "password-policy.json",
        "secret-rules.yaml",
        "schema.json",
        "key.pub",
        "public_key.txt",
        "pub-key.txt",
        "credentials.example.json",
        "secrets.sample.yaml",
        "terraform.tfvars.example",
        "example.tfvars",
        ".env.example",
        "example.env",
        "test.env.example",
        "service-account.schema.json",
        "monkey.json",
        "turkey.txt",
        "author.txt",
        "authors.txt",
        "compass.json",
        "main.tf",
        "variables.tf",
        "deploy.yml",
        "docker-compose.yml",
        "k8s-service.yaml",
        "account.json",
        "services.json",
        "keynote.txt",
        "index.html",
        "data.csv",
        "notes.txt",
        "passage.txt",
        "passport.json",
        "oauth.ts",
        "auth.rs",
        "login.json",
        "package.json",
        "tsconfig.json",
        "foreign_keys.sql",
        "wp-config-sample.php",
        "tokenize.txt",
        "patch.txt",
        "pattern.json",
        "path.txt",
    ];

    #[test]
    fn secret_names_are_known_with_their_copies_and_source_code_is_not_among_them() {
        for name in SECRETS {
            assert!(is_secret(Path::new(name)), "{name}");
            assert!(is_secret(&Path::new("a/b").join(name)), "{name}");
            for copy in [".bak", ".old", ".orig", ".backup", "~", ".1", ".gpg", ".enc", ".bak.2"] {
                let copied = format!("{name}{copy}");
                assert!(is_secret(Path::new(&copied)), "{copied}");
            }
        }
        for name in PLAIN {
            assert!(!is_secret_file(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn names_without_an_ending_are_secret_as_files_alone() {
        for name in [
            "deploy_key",
            "deploy-key",
            "token",
            "key",
            "password",
            "secret",
            "api_key",
            "passwords",
            "github-token",
            "master_key",
        ] {
            assert!(is_secret_entry(Path::new(name)) && is_secret_file(Path::new(name)), "{name}");
            assert!(!is_secret(Path::new(name)), "as a word: {name}");
        }
        for name in [
            "Makefile",
            "LICENSE",
            "keyboard",
            "tokenizer",
            "secretary",
            "public_key",
            "AUTHORS",
            "Dockerfile",
            "test-token",
            "compass",
        ] {
            assert!(!is_secret_entry(Path::new(name)), "{name}");
        }
        assert!(is_secret(Path::new("secret.gpg")) && is_secret(Path::new("token.gpg")));
    }
}
