"""The documentation of library products and commands, made by `docc` from symbol graphs and catalogs. Used by ci/docs and ci/house.

A product's catalog is Sources/PRODUCT/Documentation.docc. Products come in the order of their dependencies, so that a
page of one can link to symbols and articles of those before it.
"""

import json
import pathlib
import subprocess
import sys

from symbolgraphs import SOURCES, tool

# A type with more members than a screen holds needs a page that groups them; docc's own groups do for the others.
LARGE = 30
# Groups that docc makes of what a product adds to the types of others, and that no page can list.
AUTOMATIC = {"Extended Modules", "Default Implementations"}


def catalog(product):
    return SOURCES / product / "Documentation.docc"


def convert(product, graphs, output, dependencies, strict=False, pages=None):
    """Makes OUTPUT, an archive of the product: of its symbol graphs, and of the catalog PAGES or its own. Returns what docc
    printed; ends the program when that is an error."""
    command = [tool("docc"), "convert"]
    if (pages or catalog(product)).is_dir():
        command.append(str(pages or catalog(product)))
    if graphs:
        command += ["--additional-symbol-graph-dir", str(graphs)]
    command += ["--output-path", str(output), "--fallback-display-name", product, "--fallback-bundle-identifier", product]
    command += ["--fallback-default-module-kind", "Library"]
    command += ["--enable-experimental-external-link-support", "--enable-experimental-overloaded-symbol-presentation"]
    for dependency in dependencies:
        command += ["--dependency", str(dependency)]
    if strict:
        command.append("--warnings-as-errors")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and (strict or not (output / "data").is_dir()):
        sys.exit(f"{product}: docc failed\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout + done.stderr


def build(graphs, directory, strict=False):
    """Converts every product into DIRECTORY/PRODUCT.doccarchive, and returns the archives by product."""
    archives = {}
    directory.mkdir(parents=True, exist_ok=True)
    for product in graphs:
        archive = directory / f"{product}.doccarchive"
        convert(product, graphs[product], archive, list(archives.values()), strict)
        archives[product] = archive
    return archives


def _page(archive, identifier):
    path = identifier.split("/documentation/", 1)[1].lower()
    file = archive / "data/documentation" / f"{path}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def _uncurated(archive, product):
    """What only docc's automatic groups list: of the module itself, of pages of articles, and of large types."""
    names, todo, seen = [], [f"doc://{product}/documentation/{product}"], set()
    while todo:
        identifier = todo.pop()
        page = None if identifier in seen else _page(archive, identifier)
        seen.add(identifier)
        if page is None:
            continue
        sections = page.get("topicSections", [])
        module = page["metadata"].get("symbolKind") == "module"
        large = sum(len(section["identifiers"]) for section in sections) > LARGE
        for section in sections:
            listed = [] if section.get("title") in AUTOMATIC else section["identifiers"]
            todo += listed
            if section.get("generated") and (module or large):
                names += [one.split("/documentation/", 1)[1].split("/", 1)[-1] for one in listed]
    return sorted(names)


def uncurated(graphs, directory):
    """The symbols and articles of each product that no hand-written group of topics lists."""
    archives = build(graphs, pathlib.Path(directory) / "archives")
    return {product: _uncurated(archive, product) for product, archive in archives.items()}
