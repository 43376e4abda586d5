#!/usr/bin/env python3
"""blocks.py MARKDOWN DIRECTORY: the fenced sh and swift blocks of a page, as files that ci/readme can run and compile.

sh blocks become DIRECTORY/commands.sh, in order. Each swift block becomes DIRECTORY/swift/Sources/BlockN/main.swift; one that
is a manifest (Package.swift) or a fragment of one is not Swift to compile here and is left to ci/consumer.
A block after a line `<!-- not run: REASON -->` is left out; it is printed with the reason, as is every other block
that is not run. Exit status 1 when the page has no block at all: then nothing would be checked.
"""
import pathlib
import re
import sys

FENCE = re.compile(r"(?:^<!-- not run: (?P<reason>.*?) -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.M | re.S)


def main():
    page, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not page.exists():
        sys.exit(f"{page} does not exist")
    commands, programs = [], 0
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        kind, body, reason = block["kind"], block["body"], block["reason"]
        line = page.read_text(encoding="utf-8")[: block.start("kind")].count("\n") + 1
        if kind == "swift" and reason is None and re.search(r"\.package\(|import PackageDescription", body):
            reason = "a manifest; ci/consumer builds one like it"
        if kind not in ("sh", "swift") or reason is not None:
            print(f"not run: {page.name}:{line} ({kind}): {reason or 'neither sh nor swift'}")
        elif kind == "sh":
            commands.append(f"# {page.name}:{line}\n{body}")
        else:
            programs += 1
            target = directory / "swift" / "Sources" / f"Block{programs}"
            target.mkdir(parents=True)
            (target / "main.swift").write_text(f'#sourceLocation(file: "{page.name}", line: {line + 1})\n{body}')
    if not commands and not programs:
        sys.exit(f"{page} has no sh or swift block to check")
    if commands:
        (directory / "commands.sh").write_text("\n".join(commands))
    print(f"{page.name}: {len(commands)} sh blocks, {programs} swift blocks")


main()
