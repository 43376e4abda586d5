"""Runs the generator, and counts."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

generator = pathlib.Path(os.environ["LITEVAULT_TOOL"]).with_name("LiteVaultSchemaGenerator")
counts = {"passed": 0, "failed": 0}
compiler = shutil.which("swiftc")


def generate(*scripts, queries=()):
    """(exit status, diagnostics without the directory, Swift source of the schema, and that of the queries)."""
    with tempfile.TemporaryDirectory() as directory:
        def paths(files):
            for name, text in files:
                path = pathlib.Path(directory, name)
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
                yield path

        schema, functions = pathlib.Path(directory, "Schema.swift"), pathlib.Path(directory, "Queries.swift")
        command = [generator, "--output", schema, *paths(scripts)]
        if queries:
            command += ["--queries", functions, *paths(queries)]
        done = subprocess.run(command, capture_output=True, text=True)
        sources = [path.read_text() if path.exists() else None for path in (schema, functions)]
        return done.returncode, done.stderr.replace(directory + "/", "").splitlines(), *sources


def parses(source, without=None):
    """None if the compiler's parser accepts the source without a warning, and finds no declaration of the name that must not be there."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "Source.swift")
        path.write_text(source, newline="")
        # As it is on the disk: read as text, a carriage return would become a line break.
        done = subprocess.run([compiler, "-frontend", "-dump-parse", path], capture_output=True, text=True, check=False)
        said = re.findall(r"(?:error|warning): .*", done.stderr)
        if done.returncode or said:
            return f"{said[:3]} in {source!r}"
        if without and re.search(rf'var_decl .*"{without}"', done.stdout):
            return f"declares {without}: {source!r}"
        return None


def case(name, passed, why):
    counts["passed" if passed else "failed"] += 1
    print(f"passed  {name}" if passed else f"failed  {name}: {why}")
