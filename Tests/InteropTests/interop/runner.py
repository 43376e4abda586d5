"""Runs the checks, two at a time, and counts."""
import argparse
import concurrent.futures
import pathlib
import time
import traceback

from . import commands, directions, dumps, fixtures
from .tool import Failure, Tool, found_tool, scratch

JOBS = 2
checks, tool = [], None




def one(index):
    """In a process of its own: some settings of SQLCipher are global to the process."""
    name, body = checks[index]
    try:
        with scratch() as folder:
            body(tool, pathlib.Path(folder))
        return name, "passed", ""
    except Failure as failure:
        return name, "failed", str(failure)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return name, "failed", f"{type(error).__name__}: {error} ({pathlib.Path(place.filename).name}:{place.lineno})"


def run(words, root):
    global tool
    parser = argparse.ArgumentParser(prog="Tests/InteropTests/run")
    parser.add_argument("--only", metavar="TEXT", default="", help="the cases whose name contains TEXT")
    options = parser.parse_args(words)
    began = time.monotonic()
    tool = Tool(found_tool(root))
    print(f"{tool.path}: {tool.text}", flush=True)
    for module in (fixtures, directions, commands, dumps):
        checks.extend(check for check in module.checks(tool) if options.only in check[0])
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
        for name, outcome, text in pool.map(one, range(len(checks))):
            counts[outcome] += 1
            print(f"{outcome}  {name}{': ' + ' '.join(text.split()) if text else ''}", flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    if not checks:
        print(f"no case has {options.only!r} in its name")
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] or not checks else 0
