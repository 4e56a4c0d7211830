//! Programs that read from a server, a cluster or a daemon: what they need beside the sandbox, for the rule that lets their
//! reading commands run. Which of their commands only read is in the table.

use super::table;

/// A program and what its reading commands need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The program.
    pub program: &'static str,
    /// Variables that hold its credential.
    pub env: &'static [&'static str],
    /// Files and folders of its settings and credentials, from the home folder on.
    pub readable: &'static [&'static str],
    /// Sockets that it talks to.
    pub sockets: &'static [&'static str],
}

const REMOTES: &[Remote] = &[
    Remote { program: "gh", env: &["GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"], readable: &["~/.config/gh"], sockets: &[] },
    Remote { program: "glab", env: &["GITLAB_TOKEN", "GITLAB_HOST"], readable: &["~/.config/glab-cli"], sockets: &[] },
    Remote { program: "kubectl", env: &["KUBECONFIG"], readable: &["~/.kube"], sockets: &[] },
    Remote {
        program: "docker",
        env: &[],
        readable: &["~/.docker"],
        sockets: &["/var/run/docker.sock", "/run/docker.sock"],
    },
    Remote { program: "npm", env: &[], readable: &["~/.npmrc"], sockets: &[] },
    Remote {
        program: "aws",
        env: &[
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
        ],
        readable: &["~/.aws"],
        sockets: &[],
    },
];

/// Sockets that let whoever has them do anything on the machine: a rule about them holds for a session alone.
const ROOT_SOCKETS: &[&str] = &["docker.sock", "containerd.sock", "podman.sock", "crio.sock"];

/// The program that this simple command reads with; `None` where it is not known to only read.
#[must_use]
pub fn remote(argv: &[String]) -> Option<&'static Remote> {
    let program = argv.first()?;
    let found = REMOTES.iter().find(|one| one.program == program)?;
    table::reads_remotely(argv).is_ok().then_some(found)
}

/// True if a socket gives full control of the machine.
#[must_use]
pub fn is_root_socket(path: &str) -> bool {
    ROOT_SOCKETS.iter().any(|name| path.ends_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(line: &str) -> bool {
        remote(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).is_some()
    }

    #[test]
    fn reading_commands_are_known_by_their_words() {
        for line in [
            "gh pr list",
            "gh pr view 12 --comments",
            "gh pr view 12 --json title,body -q .title",
            "gh pr checks",
            "gh pr diff 3 --name-only",
            "gh issue list --label bug --limit 5",
            "gh run view 1 --log-failed",
            "gh repo view o/r",
            "gh search code x --owner o",
            "gh release view v1",
            "glab mr list --all",
            "glab mr view 3 --comments",
            "kubectl get pods -n kube-system -o wide",
            "kubectl -n x get deploy,svc",
            "kubectl describe pod/x",
            "kubectl logs x --tail 50 -c y",
            "kubectl top pods",
            "kubectl config current-context",
            "docker ps -a",
            "docker images",
            "docker logs --tail 5 x",
            "docker inspect x",
            "docker network ls",
            "npm view react version",
            "npm outdated",
            "aws ec2 describe-instances --region x",
            "aws s3 ls s3://bucket/prefix",
            "aws sts get-caller-identity",
        ] {
            assert!(reads(line), "{line}");
        }
    }

    #[test]
    fn whatever_changes_shows_secrets_or_leads_elsewhere_is_not() {
        for line in [
            "gh",
            "gh pr create",
            "gh pr merge 1",
            "gh pr checkout 1",
            "gh pr view 1 --web",
            "gh pr view -w",
            "gh pr checks --watch",
            "gh api repos/o/r",
            "gh api -X DELETE x",
            "gh auth token",
            "gh auth status --show-token",
            "gh auth status -t",
            "gh secret list",
            "gh alias list",
            "gh extension install x",
            "gh repo delete x",
            "gh run download",
            "gh release download",
            "gh gist view x",
            "gh pr @file",
            "gh x",
            "kubectl get secrets",
            "kubectl get secret/x -o yaml",
            "kubectl get pods,secrets",
            "kubectl get all",
            "kubectl get Secrets.v1",
            "kubectl describe secret x",
            "kubectl get -f x.yaml",
            "kubectl get -k .",
            "kubectl get --raw /api",
            "kubectl get pods -w",
            "kubectl get pods -o jsonpath-file=x",
            "kubectl --kubeconfig=./x get pods",
            "kubectl --kubeconfig ./x get pods",
            "kubectl --server x get pods",
            "kubectl --token x get pods",
            "kubectl logs -f x",
            "kubectl exec x ls",
            "kubectl apply -f x",
            "kubectl delete pod x",
            "kubectl cp a b",
            "kubectl proxy",
            "kubectl config view --raw",
            "kubectl plugin list",
            "kubectl x",
            "docker run x",
            "docker exec x ls",
            "docker -H ssh://h ps",
            "docker --host=x ps",
            "docker --config . ps",
            "docker --context x ps",
            "docker logs -f x",
            "docker cp x:y z",
            "docker compose ps",
            "docker rm x",
            "docker ps --x",
            "npm view ./x",
            "npm view git+ssh://x",
            "npm view x --registry=http://evil",
            "npm view x --userconfig=x",
            "npm install",
            "npm token list",
            "aws s3 cp a b",
            "aws s3api get-object x",
            "aws secretsmanager list-secrets",
            "aws ssm describe-parameters",
            "aws ec2 describe-instances --endpoint-url http://evil",
            "aws ec2 describe-instances --cli-input-json file://x",
            "aws ec2 describe-instances --filters file:///etc/passwd",
            "aws ec2 run-instances",
            "aws configure list",
            "./gh pr list",
        ] {
            assert!(!reads(line), "{line}");
        }
    }
}
