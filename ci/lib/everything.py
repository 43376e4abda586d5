"""The parts of ci/test: what each runs, and what it needs. See ci/test."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report  # noqa: E402
from lanes import Lanes, Outcome, Part, busy, tail  # noqa: E402
from suites import DEFAULT, ENGINES, ROOT, suites  # noqa: E402

WORK = ROOT / ".build-ci"
SUBSTITUTED = ["sqlcipher-3", "sqlcipher-4.19"]  # by their libraries beside the default engine's programs
GROUPS = {"docs": "documentation and the shape of the sources", "packages": "packages that depend on this one, examples and installers"}
SKIPS = ROOT / "ci/expected-skips.txt"
KEY_TABLE, KEY_TABLE_FILE = WORK / "keytable.so", WORK / "keytable"
SHELL = '. "$0/ci/lib/common.sh"; . "$0/ci/lib/engines.sh"; '


def home(engine):
    """The directory of an engine's build: see ci/lib/engines.sh."""
    own = engine == DEFAULT and not (ROOT / ".build").is_symlink()
    return ROOT / ".build" if own else ROOT / f".build-{engine}"


def shell(text, *words):
    return ["bash", "-c", SHELL + text, ROOT, *words]


def lean_swift():
    """Without debug information in a checkout whose .build ci/test made; other flags would compile a developer's build again."""
    return {"SWIFT": str(ROOT / "ci/lib/lean-swift")} if (ROOT / ".build").is_symlink() else {}


def select_build(which):
    """Engines, and packages that depend on this one, are built under one path where `.build` is a link."""
    link = ROOT / ".build"
    if link.is_symlink() and os.readlink(link) != f".build-{which}":
        link.unlink()
        link.symlink_to(f".build-{which}")


class Plan:
    def __init__(self, chosen, temporary, relinked=True):
        self.relinked = relinked  # whether tests of plain SQLite, and optimised ones, are made of objects of other builds: see ci/lib/relink
        self.engines = [engine for engine in ENGINES if engine in chosen]
        self.groups = [group for group in GROUPS if group in chosen]
        self.suites, self.temporary = suites(), temporary
        self.expected = {engine: report.Expected(SKIPS, engine) for engine in self.engines}
        self.passed = {engine: [] for engine in self.engines}  # names, for ci/hazards
        self.notes = []  # what was skipped as expected, and what was left out
        if "sqlcipher-3" in self.engines and not (ROOT / ".engines/sqlcipher-3.4.1/pkgconfig/sqlcipher.pc").exists():
            self.engines.remove("sqlcipher-3")
            self.notes.append("sqlcipher-3: not run: this distribution has no such package (ci/setup says more)")
        self.parts = []

    def add(self, name, command, **how):
        self.parts.append(Part(name, command, **how))

    # What is built

    def builds(self):
        lean = lean_swift()
        # Beside the build of the tool: each is a chain of modules, which does not always use two cores.
        self.add("build sqlcipher", ["ci/engine", DEFAULT, "build", "--build-tests"], weight=2, seconds=420, environment=lean,
                 build=(DEFAULT, True), judge=self.compiled, timeout=3000)
        # Without test targets: SwiftPM compiles the tools of their plugins, whatever product is asked for.
        self.add("build tool", shell('exec "$swift" build --package-path "$root" --scratch-path "$root/.build-tool" -c release --product litevault "$@"', *self.static()),
                 weight=2, seconds=400, environment={"LITEVAULT_TESTS": "none", **lean}, judge=self.compiled, timeout=3000)
        if "sqlite" in self.engines:
            self.add("build sqlite", shell('engine_seed sqlite; engine_swift sqlite build'),
                     needs=["build sqlcipher"], weight=3, seconds=240, build=("sqlite", True),
                     environment={"LITEVAULT_TESTS": "none", **lean}, judge=self.compiled, timeout=3000)
            self.add("tests sqlite", ["ci/lib/relink", "sqlite", home(DEFAULT), home("sqlite"), WORK / "sqlite"], needs=["build sqlite"], seconds=5)
        for suite in self.suites.values():
            if suite.optimised and DEFAULT in self.engines:
                self.add(f"optimised {suite.name}", ["ci/lib/relink", "optimised", home(DEFAULT), ROOT / ".build-tool", WORK / "optimised" / suite.name, suite.name],
                         needs=["build sqlcipher", "build tool"], seconds=5)
        for engine in SUBSTITUTED:
            if engine in self.engines:
                needs = ["build sqlcipher"]
                if engine == "sqlcipher-4.19":  # it comes from another source than the other engines, and may be out of reach
                    self.add("engine 4.19", ["ci/setup", engine], seconds=60)
                    needs.append("engine 4.19")
                self.add(f"tests {engine}", ["ci/lib/substitute", engine, "tests"], needs=needs, seconds=2)
                self.add(f"tool {engine}", ["ci/lib/substitute", engine, "tool"], needs=[f"tests {engine}", "build tool"], seconds=2)

    @staticmethod
    def static():
        """Links Swift's libraries into the tool, as into the released one, where the toolchain has them: suites start it all the
        time, and the loader takes a quarter of a start for these libraries."""
        compiler = pathlib.Path(shutil.which("swiftc") or "/nowhere").resolve()
        found = (compiler.parents[1] / "lib/swift_static").is_dir()
        return ["--static-swift-stdlib", "-Xlinker", "-rpath=$ORIGIN"] if found else []  # the engine beside a copy: ci/lib/substitute

    @staticmethod
    def compiled(log, status):
        text = log.read_text(encoding="utf-8", errors="replace").splitlines()
        # Names of our own files only: a dependency's warnings are not ours to mend.
        warnings = sorted({line for line in text if re.match(rf"{re.escape(str(ROOT))}/(Sources|Tests|Plugins)/[^:]+:\d+:\d+: warning:", line)})
        if status != 0:
            return Outcome(failures=tail(log))
        return Outcome(passed=1, failures=warnings)

    # The tests of an engine

    def built(self, engine):
        """The part after which an engine's test programs are there."""
        return f"build {engine}" if engine == DEFAULT else f"tests {engine}"

    def program(self, engine):
        """The program that has all Swift tests."""
        place = home(engine) / "debug" if engine == DEFAULT or engine == "sqlite" and not self.relinked else WORK / engine
        return place / "litevaultPackageTests.xctest"

    def tool(self, engine, debug=False):
        """(the tool that suites drive, the part that makes it). On all but plain SQLite it is the optimised one, which is what people install:
        compilers err in it alone, and a debug build of the argument parser checks every option again at each start."""
        if engine == "sqlite" or debug and engine == DEFAULT:
            return home(engine) / "debug/litevault", f"build {engine}"
        if engine in SUBSTITUTED:
            return WORK / engine / "litevault", f"tool {engine}"
        return ROOT / ".build-tool/release/litevault", "build tool"

    def is_optimised(self, engine, suite):
        return self.relinked and engine == DEFAULT and bool(suite.optimised)

    def tests(self, engine):
        for suite in self.suites.values():
            for name, reason in suite.left_out(engine):
                self.notes.append(f"{engine}: not run: {name}: {reason}")
            if engine in suite.engines:
                tool, made = self.tool(engine, suite.needs_debug_build)
                made = [made] if suite.is_program or suite.name == "LiteVaultToolTests" else []
                built = [self.built(engine)] if suite.needs_debug_build or not suite.is_program else []
                if self.is_optimised(engine, suite):
                    built = [f"optimised {suite.name}"]
                self.suite(engine, suite, tool, [*made, *built])

    def suite(self, engine, suite, tool, needs, words=()):
        """The part that runs a suite with that tool. `words` are added to its arguments."""
        name = f"{engine}: {suite.name}"
        how = {"needs": list(dict.fromkeys(needs)), "seconds": suite.seconds, "weight": suite.weight}
        how["again"] = f"ci/try {'' if engine == DEFAULT else f'--engine {engine} '}--suite {suite.name}"
        how["environment"] = {
            "TMPDIR": self.temporary, "LITEVAULT_ENGINE": engine, "LITEVAULT_TOOL": str(tool),
            "LITEVAULT_JUDGES": str(ROOT / ".engines/judges/bin/python"),
        }
        if engine == "sqlite" and self.relinked:
            how["environment"]["LITEVAULT_RELINKED"] = "1"
        if suite.shares_derived_keys and KEY_TABLE.exists():
            how["environment"] |= {"KEYTABLE": str(KEY_TABLE_FILE), "KEYTABLE_LIBRARY": str(KEY_TABLE)}
            if not suite.is_program:
                how["environment"]["LD_PRELOAD"] = str(KEY_TABLE)
        if suite.is_program:
            if suite.needs_debug_build:  # it reads how the build called the compiler and the linker
                how["build"] = (engine if engine == "sqlite" else DEFAULT, False)
            self.add(name, [suite.directory / "run", *words], **how,
                     judge=lambda log, status: self.judged(engine, report.ProgramRun(suite.name, log, status)))
            return
        program = self.program(engine)
        if self.is_optimised(engine, suite):
            program = WORK / "optimised" / suite.name / "litevaultPackageTests.xctest"
            how["environment"] |= suite.optimised
        events = WORK / f"{engine}.{suite.name}.events"
        events.unlink(missing_ok=True)  # those of an earlier run would be judged if the program did not start
        chosen = list(words) or ["--filter", f"^{suite.name}[./]"]
        for once, _ in suite.left_out(engine):
            chosen += ["--skip", f"^{once.replace('.', '[.]')}[./]"]
        command = [program, "--testing-library", "swift-testing", "--event-stream-output-path", events, *chosen]
        self.add(name, command, **how, judge=lambda _, status: self.judged(engine, report.SwiftRun(events, status)))

    def judged(self, engine, run):
        passed, failures, allowed = self.expected[engine].judge(run)
        self.passed[engine] += passed
        self.notes += allowed
        return Outcome(len(passed), failures, len(allowed))

    # The checks that no engine owns

    def checks(self):
        sqlcipher = (DEFAULT, False)
        built, tool = ["build sqlcipher"], {"LITEVAULT_TOOL": str(ROOT / ".build-tool/release/litevault")}
        if "docs" in self.groups:
            self.add("house", ["ci/house"], needs=built, build=sqlcipher, seconds=30)
            self.add("arities", ["ci/arities", "--check"], seconds=2)
            self.add("documentation", ["ci/docs"], needs=built, build=sqlcipher, seconds=50)
            self.add("website", ["ci/site", "--from", ".build-ci/docs"], needs=["documentation"], seconds=25)
            self.add("format", ["swift", "format", "lint", "--strict", "--recursive", "--parallel", "Sources", "Package.swift"], seconds=40, weight=2)
            self.add("scripts and packaging files", ["ci/lint"], seconds=10)
            self.add("snippets of the seeds", ["ci/seeds"], seconds=2)
            self.add("coordination protocol", ["Tests/Protocol/check"], seconds=120)
            self.add("version", ["ci/version"], needs=built, build=sqlcipher, seconds=2)
        if "packages" in self.groups:
            consumers = {}
            if (ROOT / ".build").is_symlink():
                # What packages that depend on this one would compile again is in a copy of the default engine's build.
                self.add("copy of the build", ["bash", "-c", 'rm -rf "$0" && cp -a .build-sqlcipher "$0"', ROOT / ".build-consumers-shared"], needs=built, build=sqlcipher, seconds=15)
                consumers = {"LITEVAULT_CONSUMERS": str(ROOT / ".build"), **lean_swift()}
                built = ["copy of the build"]
            how = {"needs": built, "build": ("consumers-shared", True), "environment": consumers, "weight": 2}
            # In this order: what has the traits of the build that was copied, then the default ones, then others. SwiftPM compiles the
            # library again for other traits.
            self.add("plugins", ["ci/plugins"], seconds=150, **how)
            self.add("pages of the documentation", ["ci/pages"], seconds=80, **how)
            own = {**how, "after": ["plugins", "pages of the documentation"]}
            self.add("consumer package", ["ci/consumer"], seconds=300, **own)
            readme = {**own, "needs": [*built, "build tool"], "environment": {**consumers, **tool}}
            self.add("README", ["ci/readme"], seconds=70, **readme)
            default = []
            for example in sorted((ROOT / "Examples").glob("*/Package.swift"), key=lambda one: "traits:" in one.read_text(encoding="utf-8")):
                place, name = example.parent, f"example {example.parent.name}"
                others = "traits:" in example.read_text(encoding="utf-8")
                later = {**own, "after": [*own["after"], "consumer package", "README", *default]} if others else own
                default += [] if others else [name]
                self.add(name, [place / "check", consumers.get("LITEVAULT_CONSUMERS", ROOT / ".build-consumers")], seconds=60, **later)
            self.add("thread sanitizer", ["ci/tsan"], weight=2, seconds=160, environment=consumers and lean_swift())
            self.add("install script", ["ci/installer"], seconds=10)
            self.add("quickstart", ["ci/quickstart"], needs=["build tool"], environment=tool, seconds=30)
            self.add("an operator's evening", ["ci/evening"], needs=["build tool"], environment=tool, seconds=60)

    def all(self):
        if self.engines or self.groups:
            self.builds()
        for engine in self.engines:
            self.tests(engine)
        self.checks()
        return self.parts


def needed(parts, names):
    """The parts with these names, and what they need."""
    by_name = {part.name: part for part in parts}
    kept = set()
    while names:
        kept.update(names)
        names = [name for part in kept for name in by_name[part].needs if name not in kept]
    return [part for part in parts if part.name in kept]


def memory_directory():
    """A directory of the suites' files in memory where there is room for them, as open to other users as /tmp is; None if there is not."""
    try:
        available = int(re.search(r"MemAvailable:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) << 10
        if available > 12_000_000_000 and shutil.disk_usage("/dev/shm").free > 6_000_000_000:
            directory = tempfile.mkdtemp(prefix="litevault.", dir="/dev/shm")
            os.chmod(directory, 0o1777)
            return directory
    except (OSError, TypeError):
        pass
    return None


def make_key_table():
    """The library and the table of ci/lib/keytable.c. Suites take longer without them."""
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", KEY_TABLE, ROOT / "ci/lib/keytable.c"], check=True)
    KEY_TABLE_FILE.unlink(missing_ok=True)
    KEY_TABLE_FILE.touch(mode=0o600)
    os.truncate(KEY_TABLE_FILE, 16384 * 324)


def renew_changed():
    """SwiftPM misses some changes of what one module takes from another (generated code, umbrella modules), and links stale objects. So all
    of this package is compiled again once its sources are not those that were last built."""
    subprocess.run(shell('''known=$work_home/sources
        now=$(cd "$root" && find Package.swift Sources Tests Plugins -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
        [ "$now" != "$(cat "$known" 2>/dev/null)" ] || exit 0
        find "$root/Sources" "$root/Tests" "$root/Plugins" -name '*.swift' -exec touch {} +
        printf '%s\\n' "$now" >"$known"'''), check=True)


def finish(plan, lanes, done, is_whole):
    """Prints what has to be looked at, and returns the counts. `is_whole`: nothing was left out by --only."""
    failures = [f"{name}: {text}" for name, outcome in done.items() for text in outcome.failures]
    results = []
    for engine in plan.engines:
        results.append(WORK / f"{engine}.result")
        results[-1].write_text("\n".join(["", *plan.passed[engine]]), encoding="utf-8")
        plan.notes += [f"{engine}: on the list of skips, but was not skipped: {name}" for name in plan.expected[engine].unused() if is_whole]
    if plan.engines and is_whole:
        print("\n== hazards", flush=True)
        if subprocess.run([ROOT / "ci/hazards", *results]).returncode != 0:
            failures.append("hazards: see above")
    print("\n== skipped or not run")
    print("\n".join(sorted(plan.notes)) or "nothing")
    print("\n== engines: passed, and what the tool finds at run time")
    for engine in plan.engines:
        tool, _ = plan.tool(engine)
        linked = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout.strip() if tool.exists() else "not built"
        print(f"{len(plan.passed[engine]):6}  {engine}: {linked}")
    print("\n== time: seconds, seconds of CPU")
    table = lanes.table()
    print("\n".join(f"{took:6.0f} {cpu:6.0f}  {name}" for name, took, cpu in table))
    print(f"{(time.monotonic() - lanes.began) / 60:.1f} minutes, {sum(cpu for _, _, cpu in table) / 60:.1f} minutes of CPU, {os.cpu_count()} cores")
    if failures:
        print("\n== failed")
        print("\n".join(f"FAILED: {text}"[:600] for text in failures))
    passed = sum(outcome.passed for outcome in done.values())
    skipped = sum(outcome.skipped for outcome in done.values())
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped", flush=True)
    return len(failures)


def main():
    parser = argparse.ArgumentParser(prog="ci/test", description="Builds the package, and runs its tests on each engine and the checks that no engine owns.")
    parser.add_argument("what", nargs="*", help=f"engines ({', '.join(ENGINES)}) and groups of checks ({', '.join(GROUPS)}); all of them if none is named")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="the parts whose name contains TEXT, and what these need")
    parser.add_argument("--list", action="store_true", help="prints the parts, and what they need")
    parser.add_argument("--repeat", metavar="N", type=int, default=1, help="runs the parts of --only N times")
    parser.add_argument("--load", action="store_true", help="beside a busy loop for each core")
    arguments = parser.parse_args()
    unknown = set(arguments.what) - {*ENGINES, *GROUPS}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join([*ENGINES, *GROUPS])}")
    if arguments.repeat > 1 and not arguments.only:
        parser.error("--repeat needs --only")
    os.chdir(ROOT)
    WORK.mkdir(exist_ok=True)
    if not (ROOT / ".build").exists() and not (ROOT / ".build").is_symlink():
        (ROOT / ".build").symlink_to(".build-sqlcipher")
    if (ROOT / ".build").is_symlink():
        (ROOT / ".build-sqlcipher").mkdir(exist_ok=True)
    memory = None if os.environ.get("TMPDIR") else memory_directory()
    make_key_table()
    plan = Plan(arguments.what or [*ENGINES, *GROUPS], memory or os.environ.get("TMPDIR", "/tmp"))
    parts = plan.all()
    named = [part.name for part in parts if not arguments.only or any(text in part.name for text in arguments.only)]
    if arguments.only:
        parts = needed(parts, named)
    if arguments.list:
        for part in parts:
            print(f"{part.name}: {', '.join(part.needs) or 'nothing'}")
        return 0
    lanes, loops, status = None, [], 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        renew_changed()
        loops = busy(os.cpu_count() or 1) if arguments.load else []
        lanes = Lanes(parts, WORK, select_build)
        done = lanes.run()
        for _ in range(arguments.repeat - 1):
            again = Lanes([part for part in parts if part.name in named], WORK, select_build)
            for part in again.parts.values():
                part.needs = []
            lanes = again
            for name, outcome in again.run().items():
                done[name].passed += outcome.passed
                done[name].failures += outcome.failures
        status = finish(plan, lanes, done, not arguments.only)
    finally:
        if lanes:
            lanes.end()
        for loop in loops:
            loop.kill()
        if memory:
            shutil.rmtree(memory, ignore_errors=True)
        select_build(DEFAULT)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
