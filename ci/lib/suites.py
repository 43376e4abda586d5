"""What is known of a suite: Tests/NAME/suite.toml, which ci/test and ci/try read.

A suite is a directory of Tests with that file: a target of Swift tests, or a program Tests/NAME/run. The file says

    drives          the targets whose change concerns a program (those of Swift tests are their dependencies in Package.swift)
    engines         on which engines ci/test runs it; all of them if it is left out
    elsewhere       why it does not run on the others
    build           "debug" if it needs what the debug build leaves beside the tool: modules, objects, other programs
    seconds         about how long it takes, for the first run on a machine: ci/test remembers how long it took
    weight          how much of the machine it uses, of 2 for each core (default: 2 for Swift tests, 1 for a program)
    derived-keys    "shared" if ci/test may derive the key of a passphrase once for all its processes (ci/lib/keytable.c), where most of its
                    time would go. Not for suites that look for secrets in memory or in all files, or that start a Python with an engine and a libcrypto of its own
    [optimised]     for Swift tests: ci/test runs them with these variables, linked with the library as it is optimised in the tool. ci/try
                    runs the debug build, without them
    [default-engine]  suites of a target of Swift tests that run on the default engine alone, each with the reason
"""
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = ["sqlcipher", "sqlite", "sqlcipher-3", "sqlcipher-4.19"]
DEFAULT = ENGINES[0]
KNOWN = {"drives", "engines", "elsewhere", "build", "seconds", "weight", "derived-keys", "optimised", "default-engine"}


class Suite:
    def __init__(self, directory):
        self.name, self.directory = directory.name, directory
        self.is_program = (directory / "run").is_file()
        path = directory / "suite.toml"
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
        self.drives = declared.get("drives", [])
        self.engines = declared.get("engines", ENGINES)
        self.elsewhere = declared.get("elsewhere", "")
        self.needs_debug_build = declared.get("build") == "debug"
        self.seconds = declared.get("seconds", 10)
        self.weight = declared.get("weight", 1 if self.is_program else 2)
        self.shares_derived_keys = declared.get("derived-keys") == "shared"
        self.optimised = declared.get("optimised", {})
        self.once = declared.get("default-engine", {})
        faults = sorted(set(declared) - KNOWN) + sorted(set(self.engines) - set(ENGINES))
        if faults or bool(self.elsewhere) == (set(self.engines) == set(ENGINES)) or self.is_program != ("drives" in declared):
            sys.exit(f"{path.relative_to(ROOT)}: unknown or missing: {', '.join(faults) or 'elsewhere, or drives'}")

    def left_out(self, engine):
        """(name, reason) of what does not run on that engine: the whole suite, or suites of a target."""
        if engine not in self.engines:
            return [(self.name, self.elsewhere)]
        if engine == DEFAULT:
            return []
        return [(f"{self.name}.{name}", f"runs on {DEFAULT}: {reason}") for name, reason in self.once.items()]


def suites():
    """Every suite, by name."""
    found = sorted(path.parent for path in (ROOT / "Tests").glob("*/suite.toml"))
    return {directory.name: Suite(directory) for directory in found}
