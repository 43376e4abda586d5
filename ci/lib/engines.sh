# Sourced: how each engine is built and where its build is. One directory per engine, because a changed pkg-config path
# or trait in a used one leaves stale modules behind.
# shellcheck shell=bash

all_engines=(sqlcipher sqlite sqlcipher-3 sqlcipher-4.19)

# engine_select NAME: sets swift_args (for swift build, test and run), engine_env (for env), engine_home (the directory
# that holds its build) and engine_scratch (the path under which it is built).
#
# Compiled files name the path they were built under. Where .build is a link, every engine is built through it, so that
# what does not depend on the engine (all dependencies) is compiled once and copied: see engine_seed. A developer's own
# .build is a directory: then each engine has a path of its own, and shares nothing.
engine_select() {
    swift_args=() engine_env=()
    engine_home=$root/.build-$1
    case $1 in
        sqlcipher) [ -L "$root/.build" ] || engine_home=$root/.build ;;
        sqlite) swift_args+=(--disable-default-traits) ;;
        sqlcipher-3)
            local home=$engines_home/sqlcipher-3.4.1
            engine_env+=("PKG_CONFIG_PATH=$home/pkgconfig")
            # The library's own directory is written into the programs: tests that start the tool with a bare environment
            # must not get another SQLCipher.
            swift_args+=(-Xlinker -rpath -Xlinker "$(dirname "$home"/usr/lib/*/libsqlcipher.so)")
            ;;
        sqlcipher-4.19)
            local home=$engines_home/sqlcipher-4.19.0
            engine_env+=("PKG_CONFIG_PATH=$home/lib/pkgconfig")
            swift_args+=(-Xlinker -rpath -Xlinker "$home/lib")
            ;;
        *) fail "unknown engine '$1'; known: ${all_engines[*]}" ;;
    esac
    engine_scratch=$engine_home
    [ ! -L "$root/.build" ] || engine_scratch=$root/.build
    swift_args=(--package-path "$root" "${swift_args[@]}")
}

# engine_missing NAME: true when ci/setup could not provide it on this distribution, or ci/engine-from-source did not run.
engine_missing() {
    case $1 in
        sqlcipher-3) [ ! -f "$engines_home/sqlcipher-3.4.1/pkgconfig/sqlcipher.pc" ] ;;
        sqlcipher-4.19) [ ! -f "$engines_home/sqlcipher-4.19.0/lib/pkgconfig/sqlcipher.pc" ] ;;
        *) false ;;
    esac
}

# engine_swift NAME SUBCOMMAND ARGUMENTS…: swift build, test or run on that engine.
engine_swift() {
    local subcommand=$2
    engine_select "$1"
    [ ! -L "$root/.build" ] || ln -sfn "${engine_home##*/}" "$root/.build"
    shift 2
    env "${engine_env[@]}" "$swift" "$subcommand" "${swift_args[@]}" --scratch-path "$engine_scratch" "$@"
}

# engine_seed NAME: gives an engine that was never built a copy of the default engine's build without this package's own
# modules. Their flags differ, and what would be left of the other engine's modules would be stale.
engine_seed() {
    engine_select "$1"
    [ -L "$root/.build" ] && [ ! -d "$engine_home" ] && [ -d "$root/.build-sqlcipher/checkouts" ] || return 0
    local seed=$engine_home.seed products target
    rm -rf "$seed"
    cp -a "$root/.build-sqlcipher" "$seed"
    for products in "$seed"/debug/ "$seed"/release/; do
        [ -d "$products" ] || continue
        for target in "$root"/Sources/* "$root"/Tests/*; do
            target=${target##*/}
            rm -rf "$products$target"{,-tool}.build "$products"Modules{,-tool}/"$target".*
        done
        rm -rf "$products"{litevault,MigrationWorker,LiteVaultSchemaGenerator}{,-tool}{,.product,.build} \
            "$products"Modules/MigrationWorker.* "$products"litevaultPackage* "$products"ModuleCache
    done
    mv "$seed" "$engine_home"
}
