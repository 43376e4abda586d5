#!/usr/bin/env python3
"""articlepages.py VERSION DATE OUT: man pages of what is not a command, from the articles that the site has: the configuration of
schedules, repositories and keyrings. OUT has man5 and man7. lowdown turns the Markdown into roff."""

import gzip
import pathlib
import re
import subprocess
import sys

ARTICLES = pathlib.Path(__file__).resolve().parents[2] / "Sources/LiteVault/Documentation.docc"
# Page, section, what it is about, the articles in order, and the commands that it belongs to.
PAGES = [
    ("litevault-schedule.yml", 5, "configuration of scheduled backups", ["Schedules", "Following"], ["litevault-schedule", "litevault-doctor"]),
    (
        "litevault-repository", 7, "backup repositories of litevault",
        ["Backups", "StoresAndCredentials", "Restoring", "HowBackupsWork"], ["litevault-snapshot", "litevault-restore", "litevault-check"]),
    ("litevault-keyring", 7, "keyrings of encrypted databases", ["Keyrings"], ["litevault-key"]),
    (
        "litevault-monitoring", 7, "metrics, alerts and a runbook of scheduled backups", ["Monitoring"],
        ["litevault-schedule", "litevault-doctor"]),
]
# Articles that are part of a page here, or a page of their own.
NAMES = {article: f"{page}({section})" for page, section, _, articles, _ in PAGES for article in articles}


def title(article):
    return (ARTICLES / f"{article}.md").read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")


def link(match):
    """What an article refers to: a page that is installed, or the title of an article of the site."""
    article = match[1].split("#")[0]
    if article in NAMES:
        return f"**{NAMES[article]}**"
    return f"“{title(article)}”" if (ARTICLES / f"{article}.md").exists() else f"`{article}`"


def row(heads, cells):
    """A row of a table as a definition: columns are wider than a page has room for, and nobody finds a name that is hyphenated."""
    if heads[:2] == ["metric", "type"]:
        return [f"{cells[0]} ({cells[1]})", f": {cells[2]}"]
    if len(cells) == 2:
        return [cells[0], f": {cells[1]}"]
    return [cells[0], ": " + "; ".join(f"{head}: {cell}" for head, cell in zip(heads[1:], cells[1:]))]


def markdown(article, is_only):
    """An article without what only DocC knows, one level of headings higher; its title is a section where a page has several."""
    text = (ARTICLES / f"{article}.md").read_text(encoding="utf-8")
    head, body = text.split("\n", 1)
    lines, in_code, heads = [], False, []
    for line in body.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
        elif not in_code:
            if re.match(r"<!--.*-->$|@", line):
                continue
            line = re.sub(r"<doc:([^>]*)>", link, line)
            line = re.sub(r"``([^`]+)``", r"`\1`", line)
            if line.startswith("|"):
                cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                if not heads:
                    heads = cells
                elif set(line) - set("|-: "):
                    lines += ["", *row(heads, cells)]
                continue
            heads = []
            if is_only:
                line = re.sub(r"^##(#*) ", r"#\1 ", line)
        lines.append(line)
    return "\n".join(lines if is_only else [head, *lines])


def page(name, section, about, articles, commands, version, date):
    text = "\n\n".join(markdown(article, len(articles) == 1) for article in articles)
    body = subprocess.run(["lowdown", "-tman", "--parse-no-metadata"], input=text, capture_output=True, text=True, check=True).stdout
    # As pages of commands show what is typed; and titles on the line of their macro, in capitals where they are sections.
    body = body.replace("\\fC", "\\fB")
    body = re.sub(r"^\.SH\n(.*)$", lambda match: f'.SH "{match[1].upper()}"', body, flags=re.M)
    body = re.sub(r"^\.SS\n(.*)$", r'.SS "\1"', body, flags=re.M)
    if not body.lstrip().startswith(".SH"):
        body = ".SH DESCRIPTION\n" + body
    body = re.sub(r"^(\.S[HS].*\n)\.[LP]P\n", r"\1", body, flags=re.M)
    lines = [
        "'\\\" t",  # tbl(1) lays out the tables
        f'.TH "{name.upper()}" {section} "{date}" "litevault {version}" "LiteVault"',
        ".SH NAME",
        f"{name} \\- {about}",
        body.rstrip("\n"),
        ".SH SEE ALSO",
        *(f".BR {command} (1){',' if command != commands[-1] else ''}" for command in commands),
    ]
    return "\n".join(lines) + "\n"


def main():
    version, date, out = sys.argv[1:]
    for name, section, *rest in PAGES:
        target = pathlib.Path(out) / f"man{section}"
        target.mkdir(parents=True, exist_ok=True)
        with open(target / f"{name}.{section}.gz", "wb") as file:
            # Without a name and a time: the same page gives the same bytes.
            with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
                packed.write(page(name, section, *rest, version, date).encode())
    print(f"{len(PAGES)} man pages of articles")


if __name__ == "__main__":
    main()
