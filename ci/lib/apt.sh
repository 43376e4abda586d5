# Sourced by ci/setup: packages of Debian and its relatives, asked for only when they are missing.
# shellcheck shell=bash

apt_refreshed=no

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "must install packages: run it as root, or install sudo ($*)"
    fi
}

apt_run() { quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q "$@"; }

# A fresh machine has no package lists, and old ones name files that are gone: once per run, before the first install.
apt_refresh() {
    [ "$apt_refreshed" = no ] || return 0
    apt_run update
    apt_refreshed=yes
}

apt_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# apt_need PACKAGE…: installs those that are missing, says which, and is silent when none is.
apt_need() {
    local package missing=()
    for package; do apt_installed "$package" || missing+=("$package"); done
    [ "${#missing[@]}" -gt 0 ] || return 0
    say "installing ${missing[*]}"
    apt_refresh
    apt_run install --no-install-recommends "${missing[@]}"
}

apt_codename() { (. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}"); }

# apt_entry CODENAME: the sources entry of the distribution's main archive for that suite, as "FILE:NUMBER", where the
# number counts lines of a one-line file and paragraphs of a deb822 file. apt itself knows which entry that is.
apt_entry() {
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(ORIGIN)/$(LABEL) $(SOURCESENTRY)' 'Created-By: Packages' |
        awk -v codename="$1" -v origin="$(. /etc/os-release && printf '%s' "${ID:-debian}")" '
            $1 == codename && $2 == "main" {
                split($3, name, "/")
                if (tolower(name[1]) == origin && name[1] == name[2] && !found++) print $NF
            }'
}

# apt_backports_entry CODENAME: that entry again, for the backports suite: same archive, same signing key, same options.
apt_backports_entry() {
    local entry file number
    entry=$(apt_entry "$1")
    file=${entry%:*} number=${entry##*:}
    case $file in
        *.sources)
            sed '/^#/d' "$file" | awk -v RS= -v n="$number" 'NR == n' |
                sed -E "s/^Suites:.*/Suites: $1-backports/; s/^Types:.*/Types: deb/"
            ;;
        *) awk -v n="$number" 'NR == n' "$file" | sed -E "s/[[:space:]]$1[[:space:]]/ $1-backports /" ;;
    esac
}

apt_add_backports() {
    local codename file text
    codename=$(apt_codename)
    [ -n "$codename" ] || fail "/etc/os-release names no VERSION_CODENAME: cannot tell which backports suite to use"
    text=$(apt_backports_entry "$codename")
    case $text in
        Types:* | *$'\n'Types:*) file=/etc/apt/sources.list.d/litevault-backports.sources ;;
        deb\ *) file=/etc/apt/sources.list.d/litevault-backports.list ;;
        *) fail "found no sources entry of the main archive for $codename to derive $codename-backports from" ;;
    esac
    say "adding the suite $codename-backports in $file"
    printf '%s\n' "$text" | as_root tee "$file" >/dev/null
    apt_refreshed=no
    apt_refresh
}
