"""The first page of the website: where to begin, the modules, the articles and the commands, taken from the pages themselves."""

import pathlib
import re

import sitepages
from sitepages import _escaped as escaped

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY, COMMANDS = "documentation/litevault", "documentation/commands"
# Groups of the library's page that are not for those who come here first.
LEFT_OUT = {"Design decisions"}


def _number():
    """The version of the sources."""
    return re.search(r'"(\d+\.\d+\.\d+[^"]*)"', (ROOT / "Sources/LiteVaultTool/Session/Version.swift").read_text(encoding="utf-8"))[1]


def _version():
    """The version of the sources, and whether it is released: what CHANGELOG.md begins with says so."""
    number = _number()
    heading = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
    return f"Version {number}" if heading == number else f"Version {number}, not released yet"


def _path(page, identifier):
    url = page.references[identifier].get("url", "")
    return url.strip("/").partition("#")[0]


def _link(page):
    return f'<a href="{sitepages.address(page.path)}/">{escaped(page.title)}</a>'


def _groups(pages, root, kind):
    """The groups of a page's topics, with the pages of that kind: (title, pages). Each page is in the first group that lists it."""
    seen = set()
    for section in pages[root].json["topicSections"]:
        paths = [_path(pages[root], one) for one in section["identifiers"]]
        found = [pages[path] for path in paths if path not in seen and path in pages and pages[path].json["kind"] == kind]
        seen.update(page.path for page in found)
        if found and section.get("title") not in LEFT_OUT:
            yield section.get("title", ""), found


def _lists(groups):
    result = ""
    for title, found in groups:
        items = "".join(f"<li>{_link(page)}</li>" for page in found)
        result += f"<section><h3>{escaped(title)}</h3><ul>{items}</ul></section>"
    return f'<div class="lists">{result}</div>'


def html(pages):
    start, library, commands = pages[f"{LIBRARY}/gettingstarted"], pages[LIBRARY], pages[COMMANDS]
    using = pages[f"{LIBRARY}/usingthetool"]
    modules = [page for path, page in pages.items() if path.count("/") == 1 and path != COMMANDS]
    cards = "".join(f"<li>{_link(page)}<p>{escaped(page.abstract())}</p></li>" for page in modules)
    listing = next(block for section in library.json["primaryContentSections"] for block in section.get("content", [])
                   if block["type"] == "codeListing")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>LiteVault documentation</title>
<meta name="description" content="{escaped(library.abstract())}">
<link rel="icon" href="favicon.ico">
<link rel="stylesheet" href="{sitepages.STYLE}">
<script src="{sitepages.SCRIPT}" defer></script>
</head>
<body>{sitepages.HEADER.replace("UP/", "")}
<header><div>
<h1>LiteVault</h1>
<p>{escaped(library.abstract())}</p>
<div class="ways">
<a href="{sitepages.address(start.path)}/">Get started in Swift</a>
<a href="{sitepages.address(using.path)}/">Use the tool</a>
</div>
<p class="version">{escaped(_version())} · <a href="changelog.txt">Changelog</a></p>
</div></header>
<main>
<h2 id="modules">Modules</h2>
<ul class="cards">{cards}</ul>
<h2 id="example">An encrypted database</h2>
<pre><code>{escaped(chr(10).join(listing["code"]))}</code></pre>
<h2 id="tonight">From the package to tonight's backup</h2>
<pre><code>apt install ./litevault_{_number()}_amd64.deb
litevault schedule install --source '/srv/app/*.db' --repository /backup/vaults</code></pre>
<h2 id="articles">Articles</h2>
{_lists(_groups(pages, LIBRARY, "article"))}
<h2 id="commands">Commands</h2>
<p>{_link(commands)}: {escaped(commands.abstract())}</p>
{_lists(_groups(pages, COMMANDS, "article"))}
</main>
<footer>The decisions behind the design are at the end of <a href="{sitepages.address(LIBRARY)}/#topics">the module's page</a>.</footer>
</body>
</html>
"""
