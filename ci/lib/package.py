"""The targets of Package.swift, and what they are made of."""
import json
import os
import subprocess
import tempfile

from suites import ROOT


def targets():
    """name -> (names of the targets and plugins it is made of, path, type)"""
    environment = {key: value for key, value in os.environ.items() if key != "LITEVAULT_TESTS"}
    with tempfile.TemporaryDirectory() as scratch:  # not the build's own, which another process may hold
        text = subprocess.run(
            [os.environ.get("SWIFT", "swift"), "package", "--package-path", ROOT, "--scratch-path", scratch, "dump-package"],
            check=True, capture_output=True, text=True, env=environment).stdout
    found = {}
    for target in json.loads(text)["targets"]:
        parts = [name for kind in target["dependencies"] for key, (name, *_) in kind.items() if key != "product"]
        parts += [usage["plugin"][0] for usage in target.get("pluginUsages") or []]
        path = target.get("path") or f"{'Tests' if target['type'] == 'test' else 'Plugins' if target['type'] == 'plugin' else 'Sources'}/{target['name']}"
        found[target["name"]] = (parts, path, target["type"])
    return found


def users(names, graph):
    """The names, and every target that is made of one of them, directly or not."""
    reached = set(names)
    while True:
        more = {name for name, (parts, _, _) in graph.items() if reached.intersection(parts)} - reached
        if not more:
            return reached
        reached |= more
