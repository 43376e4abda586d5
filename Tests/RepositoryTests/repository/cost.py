"""What a snapshot stores follows what changed."""
import json
import os
import random
import subprocess

from faults.report import expect

from .sandbox import BLOCK, command


def run(report, settings, folder):
    place = os.path.join(folder, "cost")
    os.mkdir(place)

    def take():
        done = subprocess.run(
            command(settings, "snapshot", "vault.db", "--json"), cwd=place, capture_output=True, check=True)
        return json.loads(done.stdout)["snapshot"]

    def stored():
        """Bytes of all packs and manifests."""
        total = 0
        for top in ["data", "tree", "snapshots"]:
            for base, _, names in os.walk(os.path.join(place, "repository", top)):
                total += sum(os.path.getsize(os.path.join(base, name)) for name in names)
        return total

    def follows():
        blocks = 10_000
        with open(os.path.join(place, "vault.db"), "wb") as file:
            file.write(os.urandom(blocks * BLOCK))
        first = take()
        expect(first["stored"] < blocks * BLOCK * 1.02, f"{first['stored']} bytes for {blocks} blocks")
        before = stored()
        changed = random.Random(settings.seed).sample(range(blocks), 43)
        with open(os.path.join(place, "vault.db"), "r+b") as file:
            for block in changed:
                file.seek(block * BLOCK)
                file.write(os.urandom(BLOCK))
        second = take()
        bytes_changed = len(changed) * BLOCK
        expect(second["changed"] == bytes_changed, f"changed: {second['changed']}")
        added = stored() - before
        expect(added <= 1.05 * bytes_changed + bytes_changed, f"{added} bytes for {bytes_changed} that changed")
        before = stored()
        third = take()
        expect(third["changed"] == third["stored"] == 0, f"{third}")
        expect(stored() - before < 4096, f"{stored() - before} bytes for nothing")
        return f"{added} bytes for {bytes_changed} that changed"

    report.case("the second snapshot stores what changed, and at most as much metadata", follows)
