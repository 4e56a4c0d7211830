//! Programs that ask a server, a cluster or a daemon: what of them only reads there. They need the network and a credential, so
//! none of them is proved to only read here; a rule of the user's can let them run as a kind.

use super::row::{Operands, ProgramCall, ProgramRow, Style, row};

const GH: &str = "-R: --repo: --json: -q: --jq: -t: --template: -L: --limit: --help";
const LISTS: &str = "-a: -A: -B: -H: -d -l: -s: -S: -m: --app: --assignee: --author: --base: --head: --draft --label: --search: --state: --milestone: \
    --mention: --order: --sort:";
const KUBE: &str =
    "-n: --namespace: -A --all-namespaces --context: --cluster: -l: --selector: --request-timeout: -h --help";
const DOCKER: &str = "-a --all -q --quiet --no-trunc -f: --filter: --format: --help";
const GLAB: &str = "-R: --repo: -F: --output: -p: --page: -P: --per-page: --help";
const AWS: &[&str] = &[
    "--region: --output: --query: --profile: --no-paginate --max-items: --page-size: --starting-token: --no-cli-pager --filters: --filter: \
     --names: --name: --instance-ids: --cluster: --clusters: --services: --tasks: --stack-name: --function-name: --db-instance-identifier: \
     --log-group-name: --log-group-name-prefix: --log-stream-name-prefix: --bucket: --prefix: --delimiter: --owners: --image-ids: --group-ids: \
     --group-names: --vpc-ids: --subnet-ids: --volume-ids: --user-name: --role-name: --repository-name: --table-name: --queue-name-prefix: \
     --recursive --human-readable --summarize --help",
];

pub(super) const ROWS: &[ProgramRow] = &[
    row("gh", &["--version --help"]).style(Style::Subcommands).operands(Operands::None),
    // `-w` opens a browser.
    row("gh pr list", &[GH, LISTS]).alone(),
    row("gh pr view", &[GH, "-c --comments"]).text("1"),
    row("gh pr status", &[GH, "-c --conflict-status"]).alone(),
    row("gh pr checks", &[GH, "--required --fail-fast"]).text("1"),
    row("gh pr diff", &[GH, "--patch --name-only --color:"]).text("1"),
    row("gh issue list", &[GH, LISTS]).alone(),
    row("gh issue view", &[GH, "-c --comments"]).text("1"),
    row("gh issue status", &[GH]).alone(),
    row("gh repo view", &[GH, "-b: --branch:"]).text("o/r"),
    row("gh repo list", &[GH, "-l: --language: --topic: --visibility: --archived --fork --source --no-archived"]).text("o"),
    row("gh release list", &[GH, "--exclude-drafts --exclude-pre-releases -O: --order:"]).alone(),
    row("gh release view", &[GH]).text("v1"),
    row("gh run list", &[GH, "-a --all -b: -c: -e: -s: -u: -w: --branch: --commit: --event: --status: --user: --workflow:"]).alone(),
    row("gh run view", &[GH, "-a: -j: -v --attempt: --exit-status --job: --log --log-failed --verbose"]).text("1"),
    row("gh workflow list", &[GH, "-a --all"]).alone(),
    row("gh workflow view", &[GH, "-r: -y --ref: --yaml"]).text("ci"),
    row("gh label list", &[GH, "-S: --search: --sort: --order:"]).alone(),
    row("gh search issues", &[GH, LISTS, "--owner: --language: --match: --created: --updated:"]).text("x"),
    row("gh search prs", &[GH, LISTS, "--owner: --language: --match: --created: --updated: --merged"]).text("x"),
    row("gh search repos", &[GH, "--owner: --language: --match: --stars: --topic: --sort: --order:"]).text("x"),
    row("gh search code", &[GH, "--owner: --language: --match: --extension: --filename: --size:"]).text("x"),
    row("gh auth status", &["-h: --hostname: -a --active --help"]).alone(),
    row("glab", &["--version --help"]).style(Style::Subcommands).operands(Operands::None),
    row("glab mr list", &[GLAB, "-a: --assignee: --author: -l: --label: -m: --milestone: -s: --source-branch: -t: --target-branch: -A --all -c --closed -M --merged -d --draft --search:"]).alone(),
    row("glab mr view", &[GLAB, "-c --comments -s --system-logs"]).text("1"),
    row("glab mr diff", &[GLAB, "--color: --raw"]).text("1"),
    row("glab issue list", &[GLAB, "-a: --assignee: --author: -l: --label: -m: --milestone: -A --all -c --closed --search:"]).alone(),
    row("glab issue view", &[GLAB, "-c --comments -s --system-logs"]).text("1"),
    row("glab ci list", &[GLAB, "-s: --status: -o: --orderBy: --sort:"]).alone(),
    row("glab ci status", &[GLAB, "-b: --branch: -c --compact"]).alone(),
    row("glab repo view", &[GLAB, "-b: --branch:"]).text("o/r"),
    row("glab release list", &[GLAB]).alone(),
    row("glab release view", &[GLAB]).text("v1"),
    // `--kubeconfig` names programs that are run for a credential; `-f`, `-k` and `--raw` read what they are given.
    row("kubectl", &[KUBE]).style(Style::Subcommands).operands(Operands::None),
    row("kubectl get", &[KUBE, "-o: --output: --field-selector: --sort-by: --show-labels --show-kind --no-headers --ignore-not-found --chunk-size: -L: --label-columns: --subresource:"])
        .check(no_secrets)
        .text("pods"),
    row("kubectl describe", &[KUBE, "--show-events --chunk-size:"]).check(no_secrets).text("pod x"),
    row("kubectl logs", &[KUBE, "-c: --container: --all-containers -p --previous --since: --since-time: --tail: --timestamps --prefix --limit-bytes: --max-log-requests:"]).text("x"),
    row("kubectl top", &[KUBE, "--containers --no-headers --sort-by: --sum"]).text("pods"),
    row("kubectl explain", &[KUBE, "--recursive --api-version:"]).text("pods"),
    row("kubectl version", &[KUBE, "--client -o: --output:"]).alone(),
    row("kubectl api-resources", &[KUBE, "--api-group: --namespaced --no-headers -o: --output: --sort-by: --verbs:"]).check(no_secrets).alone(),
    row("kubectl api-versions", &[KUBE]).alone(),
    row("kubectl config current-context", &["-h --help"]).alone(),
    row("kubectl config get-contexts", &["-o: --output: --no-headers -h --help"]).check(no_secrets).alone(),
    // `-H`, `--context` and `--config` lead to other daemons, some through a program; `-f` of logs follows.
    row("docker", &["-v --version --help"]).style(Style::Subcommands).operands(Operands::None),
    row("docker ps", &[DOCKER, "-n: --last: -l --latest -s --size"]).alone(),
    row("docker images", &[DOCKER, "--digests --tree"]).text("x"),
    row("docker logs", &["-n: -t --details --since: --tail: --timestamps --until: --help"]).text("x"),
    row("docker inspect", &["-f: -s --format: --size --type: --help"]).text("x"),
    row("docker version", &["-f: --format: --help"]).alone(),
    row("docker info", &["-f: --format: --help"]).alone(),
    row("docker top", &[]).text("x"),
    row("docker port", &["--help"]).text("x"),
    row("docker diff", &["--help"]).text("x"),
    row("docker history", &["-H -q --format: --human --no-trunc --quiet --help"]).text("x"),
    row("docker network ls", &[DOCKER]).alone(),
    row("docker network inspect", &["-f: -v --format: --verbose --help"]).text("x"),
    row("docker volume ls", &[DOCKER]).alone(),
    row("docker volume inspect", &["-f: --format: --help"]).text("x"),
    row("docker container ls", &[DOCKER, "-n: --last: -l --latest -s --size"]).alone(),
    row("docker container inspect", &["-f: -s --format: --size --help"]).text("x"),
    row("docker image ls", &[DOCKER, "--digests"]).text("x"),
    row("docker image inspect", &["-f: --format: --help"]).text("x"),
    row("docker system df", &["-v --format: --verbose --help"]).alone(),
    row("docker context ls", &["-q --format: --quiet --help"]).alone(),
    row("npm", &["-v --version"]).style(Style::Subcommands).operands(Operands::None),
    row("npm view", &["--json -h --help"]).check(no_place).text("x"),
    row("npm info", &["--json -h --help"]).check(no_place).text("x"),
    row("npm show", &["--json -h --help"]).check(no_place).text("x"),
    row("npm search", &["--json --long --parseable -h --help"]).text("x"),
    row("npm outdated", &["-a -g -l -p --all --json --long --parseable --global -h --help"]).text("x"),
    row("npm ping", &["-h --help"]).alone(),
    row("npm whoami", &["-h --help"]).alone(),
    row("aws", AWS).operands(Operands::Text).check(aws),
];

/// Refuses a cluster's secrets, which are not everyday reading, and outputs described by a file,
/// which read that file.
fn no_secrets(call: &ProgramCall) -> Result<(), String> {
    let secret = |text: &str| text.to_ascii_lowercase().split([',', '/', '.']).any(|part| part.starts_with("secret"));
    if call.operands.iter().any(|word| word.known().is_none_or(|text| secret(text) || text == "all")) {
        return call.refuse("may show cluster secrets");
    }
    let from_file = call.values(&["-o", "--output"]).any(|value| value.contains("file"));
    if from_file { call.refuse("reads a file that describes its output") } else { Ok(()) }
}

/// A package is asked for by its name, not by an address or a folder.
fn no_place(call: &ProgramCall) -> Result<(), String> {
    let place = |text: &str| text.starts_with(['.', '/', '~']) || text.contains(':');
    if call.operands.iter().any(|word| word.known().is_none_or(place)) {
        call.refuse("is given a place")
    } else {
        Ok(())
    }
}

fn aws(call: &ProgramCall) -> Result<(), String> {
    let words: Vec<&str> = call.operands.iter().filter_map(|word| word.known()).collect();
    let reads = match words.as_slice() {
        [service, action, ..] if !matches!(*service, "configure" | "secretsmanager" | "ssm") => {
            action.starts_with("describe-") || action.starts_with("list-")
        }
        _ => false,
    };
    let known = reads && words.len() == 2 || matches!(words.as_slice(), ["sts", "get-caller-identity"] | ["s3", "ls"]);
    let bucket = matches!(words.as_slice(), ["s3", "ls", place] if place.starts_with("s3://"));
    // A value may be the address of a file that is read.
    let plain = call.options.iter().filter_map(|(_, value)| value.as_deref()).all(|value| !value.contains("://"));
    if (known || bucket) && plain && words.len() == call.operands.len() {
        Ok(())
    } else {
        call.refuse("is only read-only with describe-, list-, `s3 ls` and `sts get-caller-identity`")
    }
}
