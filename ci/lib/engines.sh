# Sourced: how each engine is built. One scratch path per engine, because a changed pkg-config path or trait in a used
# one leaves stale modules behind.
# shellcheck shell=bash

all_engines=(sqlcipher sqlite sqlcipher-3)

# engine_select NAME: sets swift_args (for swift build, test and run), engine_env (for env) and engine_scratch.
engine_select() {
    swift_args=() engine_env=()
    case $1 in
        sqlcipher) engine_scratch=$root/.build ;;
        sqlite)
            engine_scratch=$root/.build-sqlite
            swift_args+=(--disable-default-traits)
            ;;
        sqlcipher-3)
            local home=$engines_home/sqlcipher-3.4.1
            engine_scratch=$root/.build-sqlcipher-3
            engine_env+=("PKG_CONFIG_PATH=$home/pkgconfig")
            # The library's own folder is written into the programs: tests that start the tool with a bare environment
            # must not get another SQLCipher.
            swift_args+=(-Xlinker -rpath -Xlinker "$(dirname "$home"/usr/lib/*/libsqlcipher.so)")
            ;;
        *) fail "unknown engine '$1'; known: ${all_engines[*]}" ;;
    esac
    swift_args=(--package-path "$root" --scratch-path "$engine_scratch" "${swift_args[@]}")
}

# engine_missing NAME: true when ci/setup could not provide it on this distribution.
engine_missing() { [ "$1" = sqlcipher-3 ] && [ ! -f "$engines_home/sqlcipher-3.4.1/pkgconfig/sqlcipher.pc" ]; }

# engine_swift NAME SUBCOMMAND ARGUMENTS…: swift build, test or run on that engine.
engine_swift() {
    local subcommand=$2
    engine_select "$1"
    shift 2
    env "${engine_env[@]}" "$swift" "$subcommand" "${swift_args[@]}" "$@"
}
