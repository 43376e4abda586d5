#!/usr/bin/env python3
"""manpages.py HELP VERSION DATE OUT: one page per command from HELP, the JSON that `litevault --experimental-dump-help`
prints, gzipped without a time. Examples stay as they are; exit statuses are listed once, on litevault(1)."""

import gzip
import json
import pathlib
import re
import sys

help_path, version, date, out = sys.argv[1:]
out = pathlib.Path(out)
root = json.load(open(help_path))["command"]


def text(string):
    """Text as roff: no line begins with a control character, and hyphens are what people type."""
    escaped = string.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in escaped.split("\n"))


def option(argument):
    value = text(argument.get("valueName", ""))
    if argument["kind"] == "positional":
        return f"\\fI{value}\\fR"
    names = sorted(argument["names"], key=lambda name: name["kind"] == "long")
    shown = ", ".join("\\fB" + ("\\-\\-" if name["kind"] == "long" else "\\-") + text(name["name"]) + "\\fR" for name in names)
    return shown if argument["kind"] == "flag" else f"{shown} \\fI{value}\\fR"


def described(argument):
    result = argument.get("abstract", "").rstrip()
    values = argument.get("allValues")
    if values and not all(value in result for value in values):
        result += f" One of {', '.join(values)}."
    if (default := argument.get("defaultValue")) and argument["kind"] != "flag" and "default" not in result:
        result += f" Default: {default}."
    return text(result)


def discussion(string, sees_statuses):
    """The paragraphs of a discussion, with its headed sections as sections of the page."""
    for block in re.split(r"\n\n+", string.strip()):
        head, _, rest = block.partition("\n")
        if block.startswith("See 'litevault help topics'"):
            yield ".SH EXIT STATUS\nThe exit statuses are listed on\n.BR litevault (1)."
            continue
        if not re.fullmatch(r"[A-Z ]+:", head):
            yield ".PP\n" + text(block)
            continue
        if head == "EXIT STATUS:":
            yield ".SH EXIT STATUS"
            for line in rest.split("\n"):
                number, _, meaning = line.strip().partition(" ")
                yield f".TP\n.B {number}\n{text(meaning.strip())}"
            continue
        lines = [line[2:] if line.startswith("  ") else line for line in rest.split("\n")]
        yield f".SH {head[:-1]}\n.nf\n" + text("\n".join(lines)) + "\n.fi"


def page(command, parents):
    words = [*parents, command["commandName"]]
    name = "-".join(words)
    arguments = [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]
    commands = [child for child in command.get("subcommands", []) if child["commandName"] != "help"]
    lines = [
        f'.TH "{name.upper()}" 1 "{date}" "litevault {version}" "LiteVault"',
        ".SH NAME",
        f"{text(name)} \\- {text(command.get('abstract', '').rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {text(' '.join(words))}",
    ]
    if commands:
        lines.append("\\fIcommand\\fR")
    lines.append("[\\fIoption\\fR ...]")
    for argument in arguments:
        if argument["kind"] == "positional":
            repeated = " ..." if argument.get("isRepeating") else ""
            lines.append(f"[{option(argument)}{repeated}]" if argument.get("isOptional") else option(argument) + repeated)
    # Sections follow the options, which belong to the description.
    blocks = list(discussion(command.get("discussion", ""), bool(parents)))
    first = next((index for index, block in enumerate(blocks) if block.startswith(".SH")), len(blocks))
    lines += [".SH DESCRIPTION", *[block.removeprefix(".PP\n") if index == 0 else block for index, block in enumerate(blocks[:first])]]
    if commands:
        lines.append(".SH COMMANDS")
        for child in commands:
            lines.append(f".TP\n.BR {text(name + '-' + child['commandName'])} (1)\n{text(child.get('abstract', ''))}")
    heading = None
    for argument in arguments:
        section = argument.get("sectionTitle") or ("Arguments" if argument["kind"] == "positional" else "Options")
        if section != heading:
            heading = section
            lines.append(".SH OPTIONS" if section == "Options" else f'.SH "{text(section.upper())}"')
        lines.append(f".TP\n{option(argument)}\n{described(argument)}")
    lines += blocks[first:]
    others = [name + "-" + child["commandName"] for child in commands] if commands else []
    see = ["-".join(parents)] if parents else []
    if see or others:
        lines.append(".SH SEE ALSO")
        every = see + others
        lines += [f".BR {text(other)} (1){',' if other != every[-1] else ''}" for other in every]
    with open(out / f"{name}.1.gz", "wb") as file:
        # Without a name and a time: the same page gives the same bytes.
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(("\n".join(line for line in lines if line) + "\n").encode())
    return 1 + sum(page(child, words) for child in commands)


out.mkdir(parents=True, exist_ok=True)
print(f"{page(root, [])} man pages")
