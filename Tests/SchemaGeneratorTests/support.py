"""Runs the generator, and counts."""
import os
import pathlib
import subprocess
import tempfile

generator = pathlib.Path(os.environ["LITEVAULT_TOOL"]).with_name("LiteVaultSchemaGenerator")
counts = {"passed": 0, "failed": 0}


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


def case(name, passed, why):
    counts["passed" if passed else "failed"] += 1
    print(f"passed  {name}" if passed else f"failed  {name}: {why}")
