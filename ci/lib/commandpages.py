"""The tool's reference as a catalog for `docc`: an article per command, from the command model. Used by ci/docs."""

import json
import re
import subprocess
import sys

import commandmodel

# The name of the catalog, which is in the addresses of its pages: /documentation/commands/key-add.
NAME = "Commands"
# The groups of the first page. A command in none, or in two, ends the program.
GROUPS = {
    "Encryption": "encrypt decrypt rekey export migrate keygen",
    "Reading and comparing": "info verify query shell dump stats diff",
    "Copying": "vacuum backup",
    "Repositories": "init upgrade snapshot snapshots restore restore-all follow-restore forget compact check repair copy secret",
    "Running backups": "schedule doctor",
    "Keyrings": "key",
    "What commands have in common": "topics",
}
# Articles of the library's catalog that say more: by the first word of a command.
ARTICLES = "doc://LiteVault/documentation/LiteVault/"
SEE = {
    "": ["UsingTheTool", "CommandLine"],
    "schedule": ["Schedules", "Following", "Monitoring"],
    "doctor": ["Monitoring"],
    "key": ["Keyrings", "KeyringFormat"],
    "snapshot": ["Backups", "HowBackupsWork"],
    "restore": ["Restoring"],
    "restore-all": ["Restoring"],
    "follow-restore": ["Restoring"],
    "repair": ["Restoring"],
    "compact": ["Following"],
    "secret": ["StoresAndCredentials"],
} | {name: ["Backups"] for name in "init upgrade snapshots forget check copy".split()}
# Words that are code wherever they are in a sentence: options, variables with an underscore, environment variables.
CODE = re.compile(r"(?<![\w-])(--?[a-z][a-z0-9-]*…?(?:=\S+[^\s.,;:)])?|[A-Z0-9]+_[A-Z0-9_]+)")


def _escaped(text):
    return re.sub(r"([\\`*_<>\[\]#|~{}])", r"\\\1", text)


def _prose(text, known):
    """Text as Markdown. What names a command becomes a link to its page, and options become code."""
    result, rest = [], 0
    for match in re.finditer(r"'litevault (?:help )?([a-z][a-z -]*)'|'\.[a-z]+'|" + CODE.pattern, text):
        result.append(_escaped(text[rest:match.start()]))
        rest = match.end()
        page = (match[1] or "").replace(" ", "-")
        code = match[0].strip("'")
        result.append(f"<doc:{page}>" if page in known else f"`{code}`")
    return "".join(result) + _escaped(text[rest:])


def _listing(text, language=""):
    return f"```{language}\n{text}\n```"


def _usage(command, words):
    """The first line of what a person types."""
    usage = [*words] + (["<command>"] if commandmodel.commands(command) else [])
    if any(argument["kind"] != "positional" for argument in commandmodel.arguments(command)):
        usage.append("[<options>]")
    for argument in commandmodel.arguments(command):
        if argument["kind"] == "positional":
            name = f"<{argument['valueName']}>" + (" ..." if argument.get("isRepeating") else "")
            usage.append(f"[{name}]" if argument.get("isOptional") else name)
    return " ".join(usage)


def _option(argument):
    if argument["kind"] == "positional":
        return f"`<{argument['valueName']}>`"
    value = "" if argument["kind"] == "flag" else f" <{argument['valueName']}>"
    return ", ".join(f"`{name}{value}`" for name in commandmodel.names(argument))


def _options(command, known, every):
    """The arguments under their headings; what every command has only if it is asked for."""
    for heading, arguments in commandmodel.groups(command):
        arguments = [one for one in arguments if every or one.get("valueName") not in ("version", "help")]
        if not arguments:
            continue
        yield f"## {_escaped(heading)}"
        yield "\n".join(f"- term {_option(one)}: {_prose(commandmodel.described(one), known)}" for one in arguments)


def _sections(command, known):
    """The discussion, in two parts: what belongs before the options, and what follows them."""
    before, after = [], []
    for section in commandmodel.sections(command):
        if section.heading == "EXIT STATUS":
            lines = [line.partition(" ") for line in section.text.split("\n")]
            rows = [f"| `{number}` | {_prose(meaning.strip(), known)} |" for number, _, meaning in lines]
            after.append("## Exit status\n\n| status | meaning |\n|--:|---|\n" + "\n".join(rows))
        elif section.heading:
            language = "shell" if section.heading == "EXAMPLES" else ""
            after.append(f"## {section.heading.capitalize()}\n\n{_listing(section.text, language)}")
        elif section.text.startswith("See 'litevault help topics'"):
            after.append("Exit statuses, keys, times and JSON are the same for all commands: <doc:topics>.")
        elif section.verbatim:
            before.append(_listing(section.text))
        else:
            (after if after else before).append(_prose(section.text, known))
    return before, after


def _article(command, words, known):
    name, commands = "-".join(words[1:]), commandmodel.commands(command)
    text = [f"# {' '.join(words)}" if name else "# Commands of litevault"]
    text.append(_prose(command.get("abstract", ""), known))
    text.append("@Metadata {\n    %s\n}" % ('@TitleHeading("Command")' if name else "@TechnologyRoot"))
    before, after = _sections(command, known)
    topic = words[1:2] == ["topics"] and len(words) > 2
    # A page of help topics is text; of all others the usage comes first.
    text += ["## Overview", *([] if topic else [_listing(_usage(command, words))]), *before]
    text += after if topic else [*_options(command, known, not name), *after]
    if not name:
        text.append("The text of these pages is that of `litevault help`.")
    see = SEE.get(words[1] if name else "", [])
    if commands:
        text.append("## Topics")
        shown = [child["commandName"] for child in commands]
        groups = {"Commands": " ".join(shown)} if name else GROUPS
        listed = sorted(one for group in groups.values() for one in group.split())
        if listed != sorted(shown):
            wrong = {one for one in [*listed, *shown] if listed.count(one) != shown.count(one)}
            sys.exit(f"GROUPS in ci/lib/commandpages.py has to name each command once: {', '.join(sorted(wrong))}")
        for title, group in groups.items():
            text.append(f"### {title}\n\n" + "\n".join(f"- <doc:{'-'.join([*words[1:], one])}>" for one in group.split()))
    if see:
        text.append("## See Also\n\n### Articles\n\n" + "\n".join(f"- <{ARTICLES}{article}>" for article in see))
    return "\n\n".join(text) + "\n"


def _walk(command, words):
    yield command, words
    for child in commandmodel.commands(command):
        yield from _walk(child, [*words, child["commandName"]])


def write(tool, directory):
    """Writes the catalog DIRECTORY/Commands.docc, from what TOOL says of itself. Returns its path."""
    dump = subprocess.run([tool, "--experimental-dump-help"], capture_output=True, text=True)
    if dump.returncode != 0:
        sys.exit(f"{tool} does not describe its commands: {dump.stderr[-1000:]}")
    root = json.loads(dump.stdout)["command"]
    pages = [(command, words) for command, words in _walk(root, [root["commandName"]])]
    known = {"-".join(words[1:]) for _, words in pages[1:]}
    catalog = directory / f"{NAME}.docc"
    catalog.mkdir(parents=True)
    for command, words in pages:
        name = "-".join(words[1:]) or NAME
        (catalog / f"{name}.md").write_text(_article(command, words, known), encoding="utf-8")
    return catalog
