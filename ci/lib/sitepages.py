"""The pages of the website that ci/site makes of the archive of ci/docs.

DocC's own application shows a page in a browser, from the page's JSON; `docc` gives each page the same empty HTML. Here each gets
its title, its description, and its content in plain HTML for readers and programs without JavaScript. All addresses are
relative, so that the tree can be served under any path.
"""

import html
import json
import os
import re
import urllib.parse

STYLE = "site.css"
# DocC's application: an option is not broken after its hyphens where there is room.
APPLICATION_STYLE = "<style>@media (min-width:736px){p code,dt code,td code{white-space:nowrap}}</style>"
# What DocC's application shows above each page. Its links leave the application for the tree's first page and for others.
HEADER = """<template id="custom-header"><style>
:host { display: block; background: #0b2239; font: 15px/1.3 system-ui, "Helvetica Neue", Arial, sans-serif; }
div { display: flex; flex-wrap: wrap; gap: 6px 24px; padding: 11px 22px; }
a { color: #c9d7e6; text-decoration: none; } a:hover, a:focus-visible { color: #fff; text-decoration: underline; }
a:first-child { color: #fff; font-weight: 600; }
</style><div><a href="UP/">LiteVault</a><a href="UP/documentation/litevault/">Library</a><a
href="UP/documentation/litevault/gettingstarted/">Getting started</a><a href="UP/documentation/commands/">Commands</a></div></template>
<script>/* The application changes the page's address without loading it, and relative ones would change with it. */
for (const tree of [document, document.getElementById("custom-header").content])
  for (const link of tree.querySelectorAll("a, link"))
    link.href = new URL(link.getAttribute("href"), document.baseURI).pathname
</script>"""


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

    def abstract(self):
        return "".join(self._plain(inline) for inline in self.json.get("abstract", []))

    def _plain(self, inline):
        if inline["type"] == "reference":
            return self.references.get(inline["identifier"], {}).get("title", "")
        return inline.get("text") or inline.get("code") or "".join(map(self._plain, inline.get("inlineContent", [])))

    # Content

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
            return f"<code>{_escaped(inline['code'])}</code>"
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
        for number, row in enumerate(block["rows"]):
            cell = "th" if number == 0 and block.get("header") in ("row", "both") else "td"
            styles = [f' style="text-align:{one}"' if one != "unset" else "" for one in names] or [""] * len(row)
            cells = (f"<{cell}{style}>{self._blocks(content)}</{cell}>" for content, style in zip(row, styles))
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return f'<div class="wide"><table>{"".join(rows)}</table></div>'

    def _block(self, block):
        kind = block["type"]
        if kind == "paragraph":
            return f"<p>{self._inlines(block['inlineContent'])}</p>"
        if kind == "heading":
            level = block["level"]
            return f'<h{level} id="{_escaped(block["anchor"])}">{_escaped(block["text"])}</h{level}>'
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
            return f'<h2 id="parameters">Parameters</h2><dl>{"".join(pairs)}</dl>'
        if kind == "mentions":
            links = "".join(f"<li>{self._link(one)}</li>" for one in section["mentions"])
            return f"<h2>Mentioned in</h2><ul>{links}</ul>"
        raise ValueError(f"{self.path}: unknown section '{kind}'")

    def _listed(self, heading, sections):
        if not sections:
            return ""
        result = f'<h2 id="{heading.lower().replace(" ", "-")}">{heading}</h2>'
        for section in sections:
            title = section.get("title", "")
            result += f'<h3 id="{_escaped(section.get("anchor", title))}">{_escaped(title)}</h3>' if title else ""
            items = ""
            for one in section["identifiers"]:
                abstract = self._inlines(self.references.get(one, {}).get("abstract", []))
                items += f"<li>{self._link(one)}{': ' + abstract if abstract else ''}</li>"
            result += f"<ul>{items}</ul>"
        return result

    def content(self):
        """The page as plain HTML."""
        data, metadata = self.json, self.json["metadata"]
        way = [f'<a href="{self.up}">LiteVault documentation</a>']
        way += [self._link(one) for one in (data.get("hierarchy", {}).get("paths") or [[]])[0]]
        result = f'<nav>{" / ".join(way)}</nav><main>'
        if metadata.get("roleHeading"):
            result += f'<p class="role">{_escaped(metadata["roleHeading"])}</p>'
        result += f"<h1>{_escaped(self.title)}</h1>"
        if data.get("abstract"):
            result += f'<p class="abstract">{self._inlines(data["abstract"])}</p>'
        result += "".join(map(self._primary, data.get("primaryContentSections", [])))
        result += self._listed("Topics", data.get("topicSections"))
        result += self._listed("Default implementations", data.get("defaultImplementationsSections"))
        result += self._listed("Relationships", data.get("relationshipsSections"))
        return result + self._listed("See also", data.get("seeAlsoSections")) + "</main>"

    def html(self, shell):
        """The HTML of this page, from DocC's empty one: the application, or this content where it cannot run."""
        title = f"{self.title} | LiteVault" if self.title != "LiteVault" else "LiteVault"
        head = f'<title>{_escaped(title)}</title><meta name="description" content="{_escaped(self.abstract())}">'
        result = re.sub(r"<title>.*?</title>", lambda _: head, shell, count=1, flags=re.S)
        result = result.replace('var baseUrl = "/"', f'var baseUrl = new URL("{self.up}", document.baseURI).pathname')
        result = re.sub(r'\b(href|src)="/', lambda match: f'{match[1]}="{self.up}', result)
        plain = f'<noscript><link rel="stylesheet" href="{self.up}{STYLE}"></noscript>'
        result = result.replace("</head>", APPLICATION_STYLE + plain + "</head>", 1)
        result = re.sub(r"(<body[^>]*>)", lambda match: match[1] + HEADER.replace("UP/", self.up), result, count=1)
        return re.sub(r"<noscript><style>.*?</noscript>", lambda _: f"<noscript>{self.content()}</noscript>", result, count=1, flags=re.S)


def pages(archive):
    """All pages of an archive, by path: `documentation/litevault/connection`."""
    data, found = archive / "data", {}
    for file in sorted(data.rglob("*.json")):
        path = os.fspath(file.relative_to(data))[:-len(".json")]
        found[path] = Page(path, file)
    return found
