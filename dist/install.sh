#!/bin/sh
# Installs lisle from the archives of a release: checks the archive against SHA256SUMS before anything of it is unpacked.
#
#   sh install.sh [--from ADDRESS|FOLDER] [--version V] [--target T] [--prefix DIR]
#
# Default: the archives beside this script, the newest version there, this machine's target, ~/.local.
# The checksums find damage. Whoever can change the archive can change them: get both from a place that you trust.
set -eu

say() { printf '%s\n' "$*"; }
fail() { printf 'install: %s\n' "$*" >&2; exit 1; }

from=$(dirname "$0") version='' target='' prefix=${HOME:+$HOME/.local}
while [ $# -gt 0 ]; do
    case $1 in
    --from | --version | --target | --prefix)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
        --from) from=$2 ;; --version) version=$2 ;; --target) target=$2 ;; --prefix) prefix=$2 ;;
        esac
        shift 2
        ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $1; see --help" ;;
    esac
done

[ -n "$prefix" ] || fail "HOME is not set: --prefix DIR says where to install"
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

for tool in tar gzip sed mktemp; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is needed"
done
if command -v sha256sum >/dev/null 2>&1; then
    sum() { sha256sum "$1" | cut -d' ' -f1; }
elif command -v shasum >/dev/null 2>&1; then
    sum() { shasum -a 256 "$1" | cut -d' ' -f1; }
else
    fail "sha256sum or shasum is needed"
fi

if [ -z "$target" ]; then
    [ "$(uname -s)" = Linux ] || fail "there are archives for Linux alone; build from the sources: cargo install --path ."
    libc=gnu
    # Without glibc the static program is taken.
    if ! (ldd --version 2>&1 || true) | grep -qi 'glibc\|gnu libc'; then libc=musl; fi
    target=$(uname -m)-unknown-linux-$libc
fi

work=$(mktemp -d)
# A folder that this script made and that nothing was installed into goes again.
stage=''
trap 'rm -rf "$work"; [ -z "$stage" ] || { rm -rf "$stage"; rmdir "$prefix" 2>/dev/null || true; }' EXIT
trap 'exit 130' INT TERM HUP

fetch() { # fetch NAME: into the work folder
    case $from in
    http://*@*) fail "$from is not encrypted: use https" ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*)
        if command -v curl >/dev/null 2>&1; then
            curl -fsSL --proto-redir =https -o "$work/$1" "${from%/}/$1"
        elif command -v wget >/dev/null 2>&1; then
            wget -q -O "$work/$1" "${from%/}/$1"
        else
            fail "curl or wget is needed"
        fi || fail "can't fetch ${from%/}/$1"
        ;;
    http://*) fail "$from is not encrypted: use https" ;;
    *) cp -- "$from/$1" "$work/$1" 2>/dev/null || fail "no $1 in $from" ;;
    esac
}

fetch SHA256SUMS
if [ -z "$version" ]; then
    sed -n "s/^[0-9a-f]\{64\}  lisle-\([0-9][0-9A-Za-z.-]*\)-$target\.tar\.gz\$/\1/p" "$work/SHA256SUMS" |
        sort -t. -k1,1n -k2,2n -k3,3n >"$work/versions"
    # A version that is still tried out, such as 1.0.0-rc.1, only where there is no other.
    version=$(grep -v - "$work/versions" | tail -n 1)
    [ -n "$version" ] || version=$(tail -n 1 "$work/versions")
    [ -n "$version" ] || fail "no archive for $target in SHA256SUMS of $from"
fi
name=lisle-$version-$target
case $name in *[!0-9A-Za-z._-]*) fail "$name is no name of an archive" ;; esac
want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ "${#want}" -eq 64 ] || fail "SHA256SUMS has no single line for $name.tar.gz"

fetch "$name.tar.gz"
got=$(sum "$work/$name.tar.gz")
[ "$got" = "$want" ] || fail "$name.tar.gz is damaged or another file: checksum $got, expected $want. Nothing was installed"

# Unpacked where it is installed: there is room for all of it, and programs may run, before anything is in its place.
mkdir -p "$prefix"
stage=$prefix/.lisle-install.$$
mkdir "$stage"
tar -xzf "$work/$name.tar.gz" -C "$stage"
"$stage/$name/bin/lisle" --version >/dev/null 2>&1 ||
    fail "this build does not run here; try --target $(uname -m)-unknown-linux-musl. Nothing was installed"
(cd "$stage/$name/share" && find . -type f) >"$work/files"

# The program last, all by renames: a running one keeps its file.
while IFS= read -r file; do
    mkdir -p "$prefix/share/$(dirname "$file")"
    mv -f "$stage/$name/share/$file" "$prefix/share/$file"
done <"$work/files"
mkdir -p "$prefix/bin"
chmod 755 "$stage/$name/bin/lisle"
mv -f "$stage/$name/bin/lisle" "$prefix/bin/lisle"
say "lisle $version is in $prefix/bin/lisle"
case :${PATH:-}: in *":$prefix/bin:"*) ;; *) say "Add $prefix/bin to PATH to run it as \"lisle\"." ;; esac
say "To remove it (sessions and settings stay): cd '$prefix' && rm -rf bin/lisle share/doc/lisle share/man/man1/lisle.1 \\
  share/man/man1/lisle-*.1 share/bash-completion/completions/lisle share/zsh/site-functions/_lisle \\
  share/fish/vendor_completions.d/lisle.fish"
