"""How the build under test compiles: for tests that hand Swift to the compiler themselves."""
import json
import re
import sys


def compiler(tool):
    """swiftc and the arguments that say where the modules are: those with which the build compiled module SQLite."""
    scratch = tool.absolute().parent.parent
    candidates = [scratch / "debug.yaml", scratch.parent / "debug.yaml"]
    plan = next((path for path in candidates if path.exists()), None)
    if plan is None:
        sys.exit(f"{candidates[0]} is missing: the tool is not where it was built")
    for line in plan.read_text().splitlines():
        found = re.match(r'\s*args: (\["[^"]*swiftc".*\])$', line)
        words = json.loads(found[1]) if found else []
        if "-module-name" in words and words[words.index("-module-name") + 1] == "SQLite":
            break
    else:
        sys.exit(f"{plan} does not say how module SQLite was compiled")
    kept, index = [words[0]], 1
    while index < len(words):
        word = words[index]
        if word in ("-I", "-target", "-sdk", "-Xcc", "-F"):
            kept += words[index:index + 2]
            index += 1
        elif word.startswith("-I"):
            kept.append(word)
        index += 1
    return kept
