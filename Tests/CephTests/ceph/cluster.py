"""One Ceph cluster of our own, as small as it can be, with a gateway that speaks S3: on loopback, in a private directory."""
import concurrent.futures
import ctypes
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import time
import uuid

PROGRAMS = ("ceph-mon", "ceph-mgr", "ceph-osd", "radosgw", "ceph", "ceph-authtool", "monmaptool", "radosgw-admin")
CONFIGURATION = """\
[global]
fsid = {fsid}
mon initial members = a
mon host = [v2:127.0.0.1:{v2},v1:127.0.0.1:{v1}]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
mon data avail crit = 1
mon data avail warn = 2
osd max object name len = 1024
osd objectstore = bluestore
bluestore block size = 10737418240
osd memory target = 1000000000
mgr initial modules =
keyring = {folder}/keyring
log file = {folder}/log/$name.log
mon cluster log file = {folder}/log/cluster.log
admin socket = {folder}/run/$name.asok
run dir = {folder}/run
crash dir = {folder}/run
mon data = {folder}/mon
mgr data = {folder}/mgr
osd data = {folder}/osd
rgw data = {folder}/rgw
rgw enable ops log = false
rgw frontends = beast endpoint=127.0.0.1:{port}
"""


def missing():
    """The programs that are not here."""
    return [name for name in PROGRAMS if not shutil.which(name)]


def free_ports(count):
    """Below those that the system gives to clients: one that is asked for again must not have become somebody's."""
    found = []
    while len(found) < count:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Cluster:
    """Its processes are children of this one, by whose numbers they are stopped; they end with it in any case."""

    def __init__(self, folder):
        self.folder = folder
        self.children = {}
        # The system ends a child with the thread that started it: one that lives as long as this.
        self.starter = concurrent.futures.ThreadPoolExecutor(1)
        self.users = {}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, *arguments):
        done = subprocess.run([program, *arguments], capture_output=True, timeout=90, cwd=self.folder,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"{program} {arguments[0]}: exit {done.returncode}: {done.stderr.decode()[-400:]}")
        return done.stdout.decode()

    def spawn(self, name):
        daemon = {"mon": ["ceph-mon", "-i", "a"], "mgr": ["ceph-mgr", "-i", "x"], "osd": ["ceph-osd", "-i", "0"],
                  "gateway": ["radosgw", "-n", "client.rgw.a"]}[name]
        with open(self.path(f"log/{name}.out"), "ab") as out:
            self.children[name] = self.starter.submit(
                subprocess.Popen, [*daemon, "-f", "-c", self.path("ceph.conf")], stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, cwd=self.folder, preexec_fn=die_with_parent).result()

    def start(self):
        os.mkdir(self.folder, 0o700)
        for name in ("log", "run", "mon", "mgr", "osd", "rgw"):
            os.mkdir(self.path(name), 0o700)
        fsid, (v1, v2, self.port) = str(uuid.uuid4()), free_ports(3)
        with open(self.path("ceph.conf"), "w") as file:
            file.write(CONFIGURATION.format(fsid=fsid, v1=v1, v2=v2, port=self.port, folder=self.folder))
        config = ["-c", self.path("ceph.conf")]
        everything = ["--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *"]
        self.run("ceph-authtool", "--create-keyring", "keyring", "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
        for name in ("client.admin", "mgr.x", "osd.0", "client.rgw.a"):
            self.run("ceph-authtool", "keyring", "--gen-key", "-n", name, *everything)
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a",
                 f"[v2:127.0.0.1:{v2},v1:127.0.0.1:{v1}]", "monmap")
        self.run("ceph-mon", *config, "--mkfs", "-i", "a", "--monmap", "monmap", "--keyring", "keyring")
        shutil.copy(self.path("keyring"), self.path("mon/keyring"))
        self.spawn("mon")
        self.wait(lambda: self.run("ceph", *config, "--connect-timeout", "5", "mon", "stat"), "the monitor")
        self.spawn("mgr")
        osd = str(uuid.uuid4())
        self.run("ceph", *config, "osd", "new", osd)
        self.run("ceph-osd", *config, "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.run("ceph", *config, "osd", "crush", "add", "osd.0", "1.0", "root=default", "host=localhost")
        self.spawn("osd")
        self.wait(lambda: "1 up" in self.run("ceph", *config, "osd", "stat"), "the OSD")
        self.spawn("gateway")
        self.wait(self.answers, "the gateway")
        for name in ("full", "writer"):
            key, secret = f"LV{name.upper()}", secrets.token_hex(20)
            self.run("radosgw-admin", *config, "user", "create", "--uid", name, "--display-name", name, "--access-key",
                     key, "--secret-key", secret)
            self.users[name] = (key, secret)

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 2) as one:
                one.settimeout(5)
                one.sendall(b"GET / HTTP/1.0\r\n\r\n")
                return one.recv(12).startswith(b"HTTP/1.")
        except OSError:
            return False

    def wait(self, condition, what, limit=240):
        end = time.monotonic() + limit
        while True:
            try:
                if condition():
                    return
            except (RuntimeError, subprocess.TimeoutExpired):
                pass
            if time.monotonic() > end:
                raise RuntimeError(f"{what} did not come up within {limit} s")
            ended = [name for name, child in self.children.items() if child.poll() is not None]
            if ended:
                raise RuntimeError(f"{ended[0]} ended with {self.children[ended[0]].returncode}: {self.tail(ended[0])}")
            time.sleep(0.3)

    def tail(self, name):
        with open(self.path(f"log/{name}.out"), "rb") as file:
            return file.read()[-400:].decode(errors="replace")

    def signal(self, name, number):
        self.children[name].send_signal(number)

    def restart(self, name):
        """Kills a process in the middle of what it does, and starts it again."""
        self.children[name].kill()
        self.children[name].wait()
        time.sleep(1)
        self.spawn(name)
        if name == "gateway":
            self.wait(self.answers, "the gateway")
        else:
            self.wait(lambda: "1 up" in self.run("ceph", "-c", self.path("ceph.conf"), "osd", "stat"), "the OSD")

    def stop(self):
        for name in ("gateway", "osd", "mgr", "mon"):
            child = self.children.pop(name, None)
            if child is None:
                continue
            # Nothing of it is kept: there is nothing to end in order.
            child.kill()
            child.wait()
        self.starter.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)
