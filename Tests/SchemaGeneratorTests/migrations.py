"""The order of migrations, by what their names begin with."""
import pathlib
import subprocess
import sys
import tempfile

from support import case, generator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "Tests/CompileTests"))
from compiler import compiler  # noqa: E402

PROGRAM = """
let names = CommandLine.arguments.dropFirst()
let numbers = names.map { ($0, MigrationNumber($0)) }
for (name, _) in numbers.filter({ $0.1 == nil }) { print("none", name) }
let known = numbers.compactMap { name, number in number.map { (name, $0) } }
for (name, number) in known.sorted(by: { $0.1 < $1.1 }) {
    print(known.count { $0.1 == number } > 1 ? "same" : "one", name)
}
"""

with tempfile.TemporaryDirectory() as directory:
    program, main = pathlib.Path(directory, "order"), pathlib.Path(directory, "main.swift")
    main.write_text(PROGRAM)
    built = subprocess.run(
        [compiler(generator)[0], "-swift-version", "6", "-o", program, main, ROOT / "Plugins/LiteVaultSchemaPlugin/MigrationNumber.swift"],
        capture_output=True, text=True)
    case("the order of migrations compiles", built.returncode == 0, built.stderr)

    def order(*names):
        return subprocess.run([program, *names], capture_output=True, text=True).stdout.splitlines()

    numbers = ["1-tags.sql", "2-seed.sql", "10-colour.sql", "0011.sql", "12-2nd-try.sql", "13-2-fix.sql"]
    found = order(*reversed(numbers))
    case("migrations are in the order of their numbers", found == ["one " + name for name in numbers], found)
    dates = ["2025-12-31-a.sql", "2026-01-02-b.sql", "2026-11-24-0900-c.sql", "2026-11-24-1530-d.sql", "2026-11-25_e.sql",
             "2026_11_26-2nd.sql", "2026-11-27.sql", "20261128-f.sql", "20261128093000-g.sql"]
    found = order(*reversed(dates))
    case("those of one year do not collide, nor do those of one day with times", found == ["one " + name for name in dates], found)
    found = order("0001-a.sql", "1-b.sql", "2026-11-24-a.sql", "2026-11-24-b.sql", "3-1-a.sql", "3-2-b.sql")
    case("two of one number, or of one day without more, are the same", all(line.startswith("same ") for line in found), found)
    found = order("add-email.sql", "-1-a.sql", "99999999999999999999-a.sql", "", "1\u0301-a.sql")
    case("names without a number have no place", found == [
        "none add-email.sql", "none -1-a.sql", "none 99999999999999999999-a.sql", "none ", "one 1\u0301-a.sql"], found)
