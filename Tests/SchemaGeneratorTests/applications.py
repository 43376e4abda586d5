"""Eight applications with 40 statements each: what is generated for them compiles without a warning.

Their schemas have what real ones have and examples have not: names that are words of SQL and Swift, names with blanks, keys of several
columns, tables without rowid, STRICT tables, columns that the engine computes, views over windows, triggers, full-text indexes of
other tables, records of all of it with relations, and functions that differ in their labels only."""
import os
import pathlib
import subprocess
import sys
import tempfile

from support import case, generate, generator

place = pathlib.Path(__file__).parent
sys.path.append(str(place.with_name("CompileTests")))
from compiler import compiler  # noqa: E402


def compiles(*sources):
    """What the compiler says; empty if it says nothing."""
    with tempfile.TemporaryDirectory() as directory:
        files = [pathlib.Path(directory, f"Source{number}.swift") for number, _ in enumerate(sources)]
        for file, source in zip(files, sources):
            file.write_text(source)
        command = [*compiler(generator), "-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", directory, *files]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        return done.stderr.replace(directory + "/", "") or ("" if done.returncode == 0 else str(done.returncode))


for application in sorted((place / "applications").iterdir()):
    queries = sorted((application / "queries").iterdir())
    count = sum(file.read_text().count("\n-- name:") + file.read_text().startswith("-- name:") for file in queries)
    status, said, schema, functions = generate(
        ("schema.sql", (application / "schema.sql").read_text()), queries=[(file.name, file.read_text()) for file in queries])
    if os.environ.get("LITEVAULT_ENGINE") == "sqlcipher-3":
        # Generated columns, STRICT tables and upserts are newer than SQLite 3.15.
        case(f"{application.name} needs a newer engine", status == 1 and functions is None, (status, said))
        continue
    own = functions.split("extension DatabaseAccess")[0] if functions else ""
    case(f"{application.name}: {count} statements", status == 0 and not said and own.count(" func ") == count + own.count("static func read"),
         (status, said, own.count(" func ")))
    said = compiles(schema, functions) if functions else "nothing to compile"
    case(f"what is generated for {application.name} compiles", not said, said[:2000])
