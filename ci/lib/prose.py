"""The prose of the repository: comments and texts of the sources, scripts and tests, and the pages. Used by ci/house.

Names are not prose: of Swift, Python and shell only comments and literals count, of a page only what is not code.
"""

import re
import subprocess

from symbolgraphs import ROOT

SWIFT = re.compile(r'//[^\n]*|/\*.*?\*/|#*"""(?:\\.|.)*?"""#*|#*"(?:\\.|[^"\\\n])*"#*', re.S)
C = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
PYTHON = re.compile(r'#[^\n]*|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
SHELL = re.compile(r'(?:^|(?<=\s))#[^\n]*|"(?:\\.|[^"\\])*"', re.S)
# Code inside prose: spans of a page and of a doc comment, and what a literal interpolates.
CODE = re.compile(
    r"``[^`\n]+``|`[^`\n]+`|\\#*\([^()\n]*(?:\((?:[^()\n]|\([^()\n]*\))*\)[^()\n]*)*\)|\$\{[^}\n]*\}")
# What a Python literal interpolates.
BRACES = re.compile(r"\{[^{}\n]*\}")
FENCED = re.compile(r"^```.*?^```", re.S | re.M)


def _blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def _kept(text, pattern):
    """The text with everything blank that the pattern does not match, line by line where it was."""
    parts, end = [], 0
    for match in pattern.finditer(text):
        parts += [re.sub(r"[^\n]", " ", text[end:match.start()]), match[0]]
        end = match.end()
    return "".join(parts) + re.sub(r"[^\n]", " ", text[end:])


def _pattern(path, text):
    first = text[:60].split("\n", 1)[0]
    if path.endswith(".swift"):
        return SWIFT
    if path.endswith((".c", ".h")):
        return C
    if path.endswith(".py") or "python" in first:
        return PYTHON
    if path.endswith(".sh") or first.startswith("#!"):
        return SHELL
    return None


def texts():
    """[(path, line number, line)] of all prose that git knows of."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True).stdout.split("\n")
    found = []
    for path in sorted(set(filter(None, listed))):
        if not path.startswith(("Sources/", "Tests/", "Plugins/", "Examples/", "Benchmarks/", "ci/")) and "/" in path:
            continue
        if path == "ci/house.toml" or not (ROOT / path).is_file():
            continue
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.endswith(".md"):
            text = FENCED.sub(_blank, text)
        else:
            pattern = _pattern(path, text)
            if not pattern:
                continue
            text = _kept(text, pattern)
            if pattern is PYTHON:
                text = BRACES.sub(_blank, text)
        text = CODE.sub(_blank, text)
        found += [(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return found
