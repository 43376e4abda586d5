"""The command line: which suites run, where they put their files, and what is printed."""
import argparse
import os
import shutil
import tempfile
import time

from . import concurrency, crashed, durable, injection, kills, operations, order, powerloss, refusals, secrets
from .engine import Engine
from .report import Report, Skip
from .settings import Settings

SUITES = dict(
    order=order, durable=durable, powerloss=powerloss, refusals=refusals, crashed=crashed, injection=injection, kills=kills, secrets=secrets,
    concurrency=concurrency)


def run(arguments, root):
    parser = argparse.ArgumentParser(prog="Tests/FaultTests/run", description="Fault tests of the built litevault.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)} (default: all)")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--list", action="store_true", help="name the suites")
    options = parser.parse_args(arguments)
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    if options.list:
        print("\n".join(SUITES))
        return 0
    settings = Settings(root)
    if not os.access(settings.tool, os.X_OK):
        parser.error(f"{settings.tool} is not there; build it, or set LITEVAULT_TOOL")
    engine = Engine(settings.tool)
    print(f"{engine.name}; LITEVAULT_FAULT_SEED={settings.seed}; {settings.jobs} cases at a time", flush=True)
    report = Report(options.only, settings.jobs)
    started = time.time()
    directory = tempfile.mkdtemp(prefix="litevault-faults-")
    try:
        for name in options.suites or SUITES:
            print(f"\n{name}: {SUITES[name].__doc__.splitlines()[0]}", flush=True)
            begun = time.time()
            place = os.path.join(directory, name)
            os.makedirs(place)
            try:
                SUITES[name].run(report, settings, engine, list(operations.operations(engine)), place)
            except Skip as skip:
                report.case(f"{name}: all cases", lambda: (_ for _ in ()).throw(skip))
            report.note(f"{name}: {time.time() - begun:.0f} s")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return report.finish(started)
