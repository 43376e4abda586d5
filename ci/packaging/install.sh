#!/bin/sh
# Installs a released litevault on Linux: downloads the tarball, compares its SHA-256, runs the tool once, and puts it in place.
#
#   install.sh --from URL --version VERSION [--prefix DIRECTORY] [--sha256 SUM]
#
# --from URL       the directory of that release, with litevault-VERSION-linux-ARCH.tar.gz and SHA256SUMS: https:// or file://
#                  (or LITEVAULT_RELEASE in the environment)
# --prefix         where bin and share are (default: /usr/local as root, otherwise ~/.local)
# --sha256 SUM     what the tarball must have, from a place that you trust more than URL. With it http:// is allowed as well.
#
# Without --sha256 the sum is that of SHA256SUMS beside the tarball: that finds a damaged download, and nobody who can change
# both files. An installed version stays as it is until the new one ran; files of the user are not touched.
set -eu

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

# Everything is in a function that is called by the last line, so that a script of which a part is missing does nothing.
main() {
    from=${LITEVAULT_RELEASE:-} version='' prefix='' sum=''
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || fail "usage: install.sh --from URL --version VERSION [--prefix DIRECTORY] [--sha256 SUM]"
        case $1 in
            --from) from=$2 ;;
            --version) version=$2 ;;
            --prefix) prefix=$2 ;;
            --sha256) sum=$2 ;;
            *) fail "unknown option '$1'" ;;
        esac
        shift 2
    done
    [ -n "$from" ] || fail "say where the release is: --from URL"
    [ -n "$version" ] || fail "say which version: --version VERSION"
    case $version in *[!0-9A-Za-z.+-]* | .* | -*) fail "not a version: '$version'" ;; esac
    case $sum in *[!0-9a-f]*) fail "not a SHA-256 in hexadecimal: '$sum'" ;; esac
    [ -z "$sum" ] || [ ${#sum} = 64 ] || fail "not a SHA-256 in hexadecimal: '$sum'"
    [ "$(uname -s)" = Linux ] || fail "the release is for Linux; build from source elsewhere"
    if [ -z "$prefix" ]; then
        if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
    fi
    case $prefix in /*) ;; *) fail "not an absolute path: --prefix $prefix" ;; esac
    case $from in
        https://* | file:///*) ;;
        http://*) [ -n "$sum" ] || fail "http:// can be changed on its way: give --sha256, or use https://" ;;
        *) fail "neither https:// nor file://: --from $from" ;;
    esac
    for command in sha256sum tar gzip; do
        command -v "$command" >/dev/null || fail "this needs $command"
    done

    # In the prefix, so that the last step is a rename.
    mkdir -p "$prefix/bin" "$prefix/share"
    place=$(mktemp -d "$prefix/.litevault-install.XXXXXX")
    trap 'rm -rf "$place"' EXIT
    trap 'exit 1' HUP INT TERM

    name=litevault-$version-linux-$(uname -m)
    fetch "$from/$name.tar.gz" "$place/$name.tar.gz"
    if [ -z "$sum" ]; then
        fetch "$from/SHA256SUMS" "$place/SHA256SUMS"
        sum=$(awk -v name="$name.tar.gz" '$2 == name || $2 == "*" name { print $1 }' "$place/SHA256SUMS")
        case $sum in
            '') fail "SHA256SUMS does not list $name.tar.gz" ;;
            *[!0-9a-f]*) fail "SHA256SUMS lists $name.tar.gz more than once, or without a sum" ;;
        esac
    fi
    is=$(sha256sum <"$place/$name.tar.gz" | cut -d ' ' -f 1)
    [ "$is" = "$sum" ] || fail "the tarball has SHA-256 $is, not $sum: nothing was installed"

    # What a tarball may bring: directories and plain files below its own directory.
    tar -tzf "$place/$name.tar.gz" >"$place/names"
    if grep -qvE "^litevault-$(printf '%s' "$version" | sed 's/[.+]/[&]/g')/" "$place/names" || grep -qE '(^|/)\.\.(/|$)' "$place/names"; then
        fail "the tarball has files outside of litevault-$version: nothing was installed"
    fi
    tar -xzf "$place/$name.tar.gz" -C "$place" --no-same-owner --no-same-permissions
    new=$place/litevault-$version
    [ -z "$(find "$new" ! -type f ! -type d)" ] || fail "the tarball has more than files and directories: nothing was installed"
    [ -f "$new/bin/litevault" ] || fail "the tarball has no tool: nothing was installed"
    chmod -R u=rwX,go=rX "$new"
    "$new/bin/litevault" --version >"$place/said" 2>&1 || fail "the tool does not run here: $(head -n 1 "$place/said")"
    case $(head -n 1 "$place/said") in
        "litevault $version" | "litevault $version "*) ;;
        *) fail "the tarball has another tool: $(head -n 1 "$place/said")" ;;
    esac

    # The pages first and the tool last, by a rename: a tool that is in use keeps running, and one that is found is complete.
    [ ! -d "$new/share" ] || cp -R "$new/share/." "$prefix/share/"
    mv -f "$new/bin/litevault" "$prefix/bin/litevault"
    say "installed: $prefix/bin/litevault ($(head -n 1 "$place/said"))"
    case :$PATH: in
        *:"$prefix/bin":*) ;;
        *) say "$prefix/bin is not in PATH" ;;
    esac
}

# fetch URL FILE
fetch() {
    case $1 in
        file://*)
            cp "${1#file://}" "$2" || fail "cannot read ${1#file://}: nothing was installed"
            return
            ;;
    esac
    command -v curl >/dev/null || fail "this needs curl for $1"
    allowed='=https'
    case $1 in http://*) allowed='=https,http' ;; esac
    curl --fail --silent --show-error --location --proto "$allowed" --proto-redir "$allowed" --retry 3 \
        --output "$2" "$1" || fail "cannot download $1: nothing was installed"
}

main "$@"
