"""The tool's commands, as `litevault --experimental-dump-help` describes them. Used for man pages and for the site."""

import re
from typing import NamedTuple


class Section(NamedTuple):
    """A piece of a command's discussion: paragraphs have no heading, `EXAMPLES:` and similar sections have one."""

    heading: str | None
    text: str
    verbatim: bool


def commands(command):
    """The commands of a command, without the `help` that the parser adds."""
    return [child for child in command.get("subcommands", []) if child["commandName"] != "help"]


def arguments(command):
    return [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]


def groups(command):
    """The arguments under their headings, in order: (heading, arguments)."""
    result = []
    for argument in arguments(command):
        heading = argument.get("sectionTitle") or ("Arguments" if argument["kind"] == "positional" else "Options")
        if not result or result[-1][0] != heading:
            result.append((heading, []))
        result[-1][1].append(argument)
    return result


def names(argument):
    """`-h`, `--help`: the short ones first."""
    sorted_names = sorted(argument["names"], key=lambda name: name["kind"] == "long")
    return [("--" if name["kind"] == "long" else "-") + name["name"] for name in sorted_names]


def described(argument):
    """What an argument does, with its values and its default where the text does not name them."""
    result = argument.get("abstract", "").rstrip()
    values = argument.get("allValues")
    if values and not all(value in result for value in values):
        result += f" One of {', '.join(values)}."
    if (default := argument.get("defaultValue")) and argument["kind"] != "flag" and "default" not in result:
        result += f" Default: {default}."
    return result


def sections(command):
    """The discussion: paragraphs, indented text as it is, and the sections with a heading in capitals."""
    result = []
    for block in re.split(r"\n\n+", command.get("discussion", "").strip("\n")):
        head, _, rest = block.partition("\n")
        if re.fullmatch(r"[A-Z ]+:", head):
            heading, lines, verbatim = head[:-1], rest.split("\n"), True
        else:
            heading, lines = None, block.split("\n")
            verbatim = all(line.startswith("  ") for line in lines)
        if any(lines):
            text = "\n".join(line.removeprefix("  ") if verbatim else line for line in lines)
            result.append(Section(heading, text, verbatim))
    return result
