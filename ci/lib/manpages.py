#!/usr/bin/env python3
"""manpages.py HELP VERSION DATE OUT: one page per command from HELP, the JSON that `litevault --experimental-dump-help`
prints, gzipped without a time. Examples stay as they are; exit statuses are listed once, on litevault(1)."""

import gzip
import json
import pathlib
import sys

import commandmodel

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
    shown = ", ".join(f"\\fB{text(name)}\\fR" for name in commandmodel.names(argument))
    return shown if argument["kind"] == "flag" else f"{shown} \\fI{value}\\fR"


def discussion(command):
    """The paragraphs of a discussion, with its headed sections as sections of the page."""
    for section in commandmodel.sections(command):
        if section.text.startswith("See 'litevault help topics'"):
            yield ".SH EXIT STATUS\nThe exit statuses are listed on\n.BR litevault (1)."
        elif section.heading == "EXIT STATUS":
            yield ".SH EXIT STATUS"
            for line in section.text.split("\n"):
                number, _, meaning = line.partition(" ")
                yield f".TP\n.B {number}\n{text(meaning.strip())}"
        elif section.heading:
            yield f".SH {section.heading}\n.nf\n{text(section.text)}\n.fi"
        elif section.verbatim:
            yield f".PP\n.nf\n{text(section.text)}\n.fi"
        else:
            yield ".PP\n" + text(section.text)


def page(command, parents):
    words = [*parents, command["commandName"]]
    name = "-".join(words)
    commands = commandmodel.commands(command)
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
    for argument in commandmodel.arguments(command):
        if argument["kind"] == "positional":
            repeated = " ..." if argument.get("isRepeating") else ""
            lines.append(f"[{option(argument)}{repeated}]" if argument.get("isOptional") else option(argument) + repeated)
    # Sections follow the options, which belong to the description.
    blocks = list(discussion(command))
    first = next((index for index, block in enumerate(blocks) if block.startswith(".SH")), len(blocks))
    lines += [".SH DESCRIPTION", *[block.removeprefix(".PP\n") if index == 0 else block for index, block in enumerate(blocks[:first])]]
    if commands:
        lines.append(".SH COMMANDS")
        for child in commands:
            lines.append(f".TP\n.BR {text(name + '-' + child['commandName'])} (1)\n{text(child.get('abstract', ''))}")
    for heading, group in commandmodel.groups(command):
        lines.append(".SH OPTIONS" if heading == "Options" else f'.SH "{text(heading.upper())}"')
        lines += [f".TP\n{option(argument)}\n{text(commandmodel.described(argument))}" for argument in group]
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
