"""A repository whose disk is full: what removes something works, and what needs room says what to do."""
import json
import os
import subprocess

from faults.report import Skip, expect

from .sandbox import Template


def run(report, settings, folder):
    report.cases([
        ("with 0 bytes free, forget and prune remove, twice", lambda: removed(settings, os.path.join(folder, "room"))),
        ("with 0 bytes free, what there is is checked with --read-only, as the error says",
         lambda: checked(settings, os.path.join(folder, "room-check"))),
    ])


class FullDisk:
    """A small file system with the repository, filled to the last byte."""

    def __init__(self, settings, folder):
        if os.geteuid() != 0:
            raise Skip("only root may mount a small file system")
        self.settings, self.folder = settings, folder
        self.template = Template(settings, folder, blocks=100)
        self.disk = os.path.join(folder, "disk")
        os.mkdir(self.disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", self.disk], capture_output=True).returncode:
            raise Skip("mounting is not permitted here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.disk], capture_output=True)

    def run(self, *arguments):
        return subprocess.run(
            [self.settings.tool, *arguments, "--repository", "disk/repository", "--state-directory", "state", "--cache-directory", "cache",
             "--json"], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)

    def must(self, *arguments):
        done = self.run(*arguments)
        expect(done.returncode == 0, lambda: f"{arguments}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        return json.loads(done.stdout)

    def snapshots(self, count):
        for number in range(count):
            with open(os.path.join(self.folder, "vault.db"), "r+b") as file:
                file.write(os.urandom(300_000))
            self.must("snapshot", "vault.db")

    def fill(self):
        with open(os.path.join(self.disk, "other"), "ab", buffering=0) as file:
            for size in (1 << 16, 4096, 512, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass
        status = os.statvfs(self.disk)
        expect(status.f_bavail == 0, f"{status.f_bavail} blocks are free")


def removed(settings, folder):
    with FullDisk(settings, folder) as disk:
        disk.snapshots(5)
        disk.fill()
        expect(disk.run("snapshot", "vault.db").returncode in (0, 74), "another failure")
        told = disk.must("forget", "--keep-last", "2", "--prune", "--grace", "0s")
        expect(told["removed"] == 3 and told["kept"] == 2 and told["prune"]["doomed"] > 0, told)
        # What the documents needed is taken by others again, and so is what became free.
        disk.fill()
        told = disk.must("forget", "--keep-last", "1", "--prune", "--grace", "0s")
        expect(told["removed"] == 1 and told["prune"]["removed"] > 0, told)
        expect(os.statvfs(disk.disk).f_bavail > 0, "nothing is free")
        disk.must("check", "--read-data")
        disk.must("restore", "out.db")
        with open(os.path.join(folder, "out.db"), "rb") as new, open(os.path.join(folder, "vault.db"), "rb") as old:
            expect(new.read() == old.read(), "the last snapshot is another")
        disk.must("snapshot", "vault.db")


def checked(settings, folder):
    with FullDisk(settings, folder) as disk:
        disk.snapshots(2)
        disk.fill()
        done = disk.run("check", "--read-data")
        expect(done.returncode == 74, f"exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        expect(error["code"] == "no-space" and "--read-only" in error["remedy"], error)
        expect(disk.must("check", "--read-data", "--read-only")["intact"], "not intact")
