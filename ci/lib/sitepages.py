"""The pages of the website that ci/site makes of the archive of ci/docs: plain HTML, one file a page, from the page's JSON.

All addresses are relative, so that the tree can be served under any path, or opened without a server.
"""

import html
import json
import os
import re
import urllib.parse

STYLE, SCRIPT, INDEX = "site.css", "site.js", "search-index.js"
# Where one looks for what a class or protocol is made of.
INHERITED = ("inheritsFrom", "conformsTo")
# Above each page; UP/ is the tree's root.
HEADER = """<nav class="bar" aria-label="Documentation"><div><a href="UP/">LiteVault</a><a href="UP/documentation/litevault/">Library</a><a
href="UP/documentation/litevault/gettingstarted/">Getting started</a><a href="UP/documentation/commands/">Commands</a><input
type="search" placeholder="Search" aria-label="Search the documentation" data-up="UP/"></div><ol id="found"></ol></nav>"""


def _escaped(text):
    return html.escape(text, quote=True)


def address(page):
    """A page's path as in an address: names of operators have characters that mean something else there."""
    return urllib.parse.quote(page, safe="/:@!$&'()*+,;=~.-_")


class Page:
    """A page of the archive: DATA/documentation/… .json."""

    def __init__(self, path, file):
        self.path = path
        self.json = json.loads(file.read_text(encoding="utf-8"))
        self.references = self.json.get("references", {})
        self.title = self.json["metadata"].get("title", path)
        self.up = "../" * (path.count("/") + 1)
        # Pages below this one that no other page lists, and what the types and protocols of this one have: (title, identifiers).
        self.unlisted = []
        self.inherited = []
        self.anchors = set()

    def targets(self, kinds=None):
        """The paths of the pages that its relationships of these kinds lead to, or that it lists or mentions, if none is given."""
        if kinds:
            found = [one for section in self.json.get("relationshipsSections", []) if section.get("type") in kinds for one in section["identifiers"]]
            urls = [self.references.get(one, {}).get("url", "") for one in found]
        else:
            urls = re.findall(r'href="([^"#]*)', self.content())
            return {os.path.normpath(os.path.join(self.path, html.unescape(urllib.parse.unquote(one)))) for one in urls if "://" not in one}
        return [one.strip("/").partition("#")[0] for one in urls if one.startswith("/")]

    def members(self):
        """The identifiers that its topics list."""
        return [one for section in self.json.get("topicSections", []) for one in section["identifiers"]]

    def text(self):
        """The words of the page, for the search."""
        return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", self.content()))).strip()

    def abstract(self):
        return "".join(self._plain(inline) for inline in self.json.get("abstract", []))

    def _plain(self, inline):
        if inline["type"] == "reference":
            return self.references.get(inline["identifier"], {}).get("title", "")
        return inline.get("text") or inline.get("code") or "".join(map(self._plain, inline.get("inlineContent", [])))

    def description(self):
        """What search engines show: the abstract, or what it is and of what, where nobody wrote one."""
        if self.abstract():
            return self.abstract()
        above = (self.json.get("hierarchy", {}).get("paths") or [[]])[0]
        of = " of " + self.references[above[-1]]["title"] if above and above[-1] in self.references else ""
        return f"{self.title}: {self.json['metadata'].get('roleHeading') or 'Page'}{of}"

    # Content

    def _anchor(self, name):
        """A name that the page has not given yet: articles may have one heading twice. Links lead to the first."""
        name = first = re.sub(r"\s+", "-", name)
        number = 1
        while name in self.anchors:
            number += 1
            name = f"{first}-{number}"
        self.anchors.add(name)
        return _escaped(name)

    def _link(self, identifier, text=None):
        reference = self.references.get(identifier)
        if reference is None:
            raise ValueError(f"{self.path}: refers to {identifier}, which it does not have")
        text = text or _escaped(reference.get("title", identifier))
        if reference.get("kind") == "symbol" and reference.get("role") == "symbol":
            text = f"<code>{text}</code>"
        url = reference.get("url")
        if not url:  # a symbol of Swift's own library
            return text
        if url.startswith("/"):
            path, _, anchor = url[1:].partition("#")
            url = self.up + address(path) + "/" + (f"#{urllib.parse.quote(anchor)}" if anchor else "")
        return f'<a href="{_escaped(url)}">{text}</a>'

    def _inlines(self, inlines):
        return "".join(map(self._inline, inlines))

    def _inline(self, inline):
        kind = inline["type"]
        if kind == "text":
            return _escaped(inline["text"])
        if kind == "codeVoice":
            # A line does not end after the hyphens of an option.
            return "<code>" + re.sub(r"--?[a-z][\w-]*", r'<span class="option">\g<0></span>', _escaped(inline["code"])) + "</code>"
        if kind == "reference":
            text = inline.get("overridingTitleInlineContent")
            return self._link(inline["identifier"], self._inlines(text) if text else None)
        if kind in ("emphasis", "strong", "newTerm"):
            name = "strong" if kind == "strong" else "em"
            return f"<{name}>{self._inlines(inline['inlineContent'])}</{name}>"
        raise ValueError(f"{self.path}: unknown inline content '{kind}'")

    def _blocks(self, blocks):
        return "".join(map(self._block, blocks))

    def _items(self, name, items):
        return f"<{name}>" + "".join(f"<li>{self._blocks(item['content'])}</li>" for item in items) + f"</{name}>"

    def _table(self, block):
        rows, names = [], block.get("alignments", [])
        headings = [re.sub(r"<[^>]*>", "", self._blocks(one)) for one in block["rows"][0]] if block.get("header") in ("row", "both") else []
        for number, row in enumerate(block["rows"]):
            cell = "th" if number == 0 and headings else "td"
            styles = [f' style="text-align:{one}"' if one != "unset" else "" for one in names] or [""] * len(row)
            # In a narrow window each cell is a line of its own, below the heading of its column.
            labels = [f' data-label="{one}"' if cell == "td" else "" for one in headings] or [""] * len(row)
            cells = (f"<{cell}{style}{label}>{self._blocks(content)}</{cell}>" for content, style, label in zip(row, styles, labels))
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f'<div class="wide"><table>{"".join(rows)}</table></div>'

    def _block(self, block):
        kind = block["type"]
        if kind == "paragraph":
            return f"<p>{self._inlines(block['inlineContent'])}</p>"
        if kind == "heading":
            level = block["level"]
            return f'<h{level} id="{self._anchor(block["anchor"])}">{_escaped(block["text"])}</h{level}>'
        if kind == "codeListing":
            return f"<pre><code>{_escaped(chr(10).join(block['code']))}</code></pre>"
        if kind == "aside":
            name = block.get("name") or block["style"].capitalize()
            return f"<aside><p><strong>{_escaped(name)}</strong></p>{self._blocks(block['content'])}</aside>"
        if kind in ("unorderedList", "orderedList"):
            return self._items("ul" if kind == "unorderedList" else "ol", block["items"])
        if kind == "termList":
            pairs = ((self._inlines(one["term"]["inlineContent"]), self._blocks(one["definition"]["content"])) for one in block["items"])
            return "<dl>" + "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in pairs) + "</dl>"
        if kind == "table":
            return self._table(block)
        raise ValueError(f"{self.path}: unknown content '{kind}'")

    def _primary(self, section):
        kind = section["kind"]
        if kind == "declarations":
            result = ""
            for declaration in section["declarations"]:
                tokens = (
                    self._link(token["identifier"], _escaped(token["text"])).replace("<code>", "").replace("</code>", "")
                    if token.get("identifier") in self.references else _escaped(token["text"])
                    for token in declaration["tokens"])
                result += f"<pre><code>{''.join(tokens)}</code></pre>"
            return result
        if kind == "content":
            return self._blocks(section["content"])
        if kind == "parameters":
            pairs = (f"<dt><code>{_escaped(one['name'])}</code></dt><dd>{self._blocks(one['content'])}</dd>" for one in section["parameters"])
            return f'<h2 id="{self._anchor("parameters")}">Parameters</h2><dl>{"".join(pairs)}</dl>'
        if kind == "mentions":
            links = "".join(f"<li>{self._link(one)}</li>" for one in section["mentions"])
            return f"<h2>Mentioned in</h2><ul>{links}</ul>"
        raise ValueError(f"{self.path}: unknown section '{kind}'")

    def _listed(self, heading, sections):
        if not sections:
            return ""
        result = f'<h2 id="{self._anchor(heading.lower())}">{heading}</h2>'
        for section in sections:
            title = section.get("title", "")
            result += f'<h3 id="{self._anchor(section.get("anchor", title))}">{_escaped(title)}</h3>' if title else ""
            items = ""
            for one in section["identifiers"]:
                abstract = self._inlines(self.references.get(one, {}).get("abstract", []))
                items += f"<li>{self._link(one)}{': ' + abstract if abstract else ''}</li>"
            result += f"<ul>{items}</ul>"
        return result

    def content(self):
        """The page as plain HTML."""
        data, metadata = self.json, self.json["metadata"]
        self.anchors = set()
        way = [f'<a href="{self.up}">LiteVault documentation</a>']
        way += [self._link(one) for one in (data.get("hierarchy", {}).get("paths") or [[]])[0]]
        result = f'<nav aria-label="Pages above this one">{" / ".join(way)}</nav><main>'
        if metadata.get("roleHeading"):
            result += f'<p class="role">{_escaped(metadata["roleHeading"])}</p>'
        result += f"<h1>{_escaped(self.title)}</h1>"
        if data.get("abstract"):
            result += f'<p class="abstract">{self._inlines(data["abstract"])}</p>'
        sections = data.get("primaryContentSections", [])
        result += "".join(self._primary(one) for one in sections if one["kind"] != "mentions")
        result += self._listed("Topics", data.get("topicSections"))
        result += self._listed("Default implementations", data.get("defaultImplementationsSections"))
        for title, identifiers in self.inherited:
            result += self._listed(f"Inherited from {title}", [{"identifiers": identifiers}])
        result += self._listed("Relationships", data.get("relationshipsSections"))
        if self.unlisted:
            links = "".join(f'<li><a href="{self.up}{address(one.path)}/"><code>{_escaped(one.title)}</code></a></li>' for one in self.unlisted)
            result += f"<h2>Further symbols</h2><ul>{links}</ul>"
        result += "".join(self._primary(one) for one in sections if one["kind"] == "mentions")
        return result + self._listed("See also", data.get("seeAlsoSections")) + "</main>"

    def html(self):
        """The HTML of this page."""
        title = f"{self.title} | LiteVault" if self.title != "LiteVault" else "LiteVault"
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_escaped(title)}</title>
<meta name="description" content="{_escaped(self.description())}">
<link rel="icon" href="{self.up}favicon.ico">
<link rel="stylesheet" href="{self.up}{STYLE}">
<script src="{self.up}{SCRIPT}" defer></script>
</head>
<body>{HEADER.replace("UP/", self.up)}{self.content()}</body>
</html>
"""


def pages(archive):
    """All pages of an archive, by path: `documentation/litevault/connection`."""
    data, found = archive / "data", {}
    for file in sorted(data.rglob("*.json")):
        path = os.fspath(file.relative_to(data))[:-len(".json")]
        # The list of modules is on the first page.
        if path != "documentation":
            found[path] = Page(path, file)
    for page in found.values():
        _inherit(page, found)
    _list(found)
    return found


def _inherit(page, pages):
    """Lists what a page's types and protocols have, and theirs, as people look for it on the page of the type that they use."""
    waiting, seen = page.targets(INHERITED), {page.path}
    while waiting:
        path = waiting.pop(0)
        if path in seen or path not in pages or pages[path].json["kind"] != "symbol":
            continue
        seen.add(path)
        other = pages[path]
        for one, reference in other.references.items():
            page.references.setdefault(one, reference)
        if other.members():
            page.inherited.append((other.title, other.members()))
        waiting += other.targets(INHERITED)


def _list(pages):
    """Lists each page that one does not come to from its module's on the nearest page above it."""
    targets = {path: page.targets() for path, page in pages.items()}
    seen = set()

    def reach(path):
        waiting = [path]
        while waiting:
            one = waiting.pop()
            if one in pages and one not in seen:
                seen.add(one)
                waiting += targets[one]

    for path in pages:
        if path.count("/") <= 1:
            reach(path)
    for path in sorted(pages, key=lambda path: path.count("/")):
        above = path
        while path not in seen:
            above = above.rpartition("/")[0]
            if above in seen:
                pages[above].unlisted.append(pages[path])
                reach(path)


def search_index(pages):
    """The program that the search reads: for each page its title, address, what it is, its abstract, and of articles all words."""
    rows = []
    for path, page in pages.items():
        is_article = page.json["kind"] == "article"
        rows.append([page.title, address(path) + "/", page.json["metadata"].get("roleHeading") or "Article", page.abstract(),
                     page.text() if is_article else ""])
    return f"window.searchIndex = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))}\n"
