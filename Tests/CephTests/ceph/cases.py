"""What has to hold with a repository in Ceph's gateway."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

import boto3
from botocore.config import Config
from faults.report import expect
from follow.box import Box, Database, Settings, state_of, until

# Objects belong to the user who stores them: the bucket's owner needs the policy as well.
ADD_ONLY = [
    ("Allow", "writer", ["s3:GetObject", "s3:PutObject", "s3:ListBucket"]),
    ("Deny", "writer", ["s3:DeleteObject", "s3:DeleteObjectVersion"]),
    ("Allow", "full", ["s3:*"]),
]


class Cases:
    def __init__(self, root, folder, ceph, only):
        self.settings, self.folder, self.ceph, self.only = Settings(root), folder, ceph, only
        self.counts = {"passed": 0, "failed": 0}
        key, secret = ceph.users["full"]
        self.s3 = boto3.client("s3", endpoint_url=ceph.endpoint, region_name="us-east-1", aws_access_key_id=key,
                               aws_secret_access_key=secret, config=Config(s3={"addressing_style": "path"}))

    def run(self, is_long):
        short = [
            ("snapshots, retention, pruning and restores, twice each", self.life),
            ("of several machines that snapshot one database at once, each is served or told busy", self.race),
            ("a followed database is restored to points in time, before and after the follower starts again", self.follow),
            ("without s3:DeleteObject all works but forget, which says what it needs", self.no_removal),
            ("a bucket that keeps versions", self.versions),
            ("a bucket with object lock", self.lock),
            ("a gateway that stands still for a while holds up a snapshot, and nothing is lost", self.still),
            ("a gateway that is killed in the middle of a snapshot", lambda: self.killed("gateway")),
        ]
        long = [
            ("an operator's evening", self.evening),
            ("an OSD that stands still for a while", lambda: self.still("osd", 20)),
            ("an OSD that is killed in the middle of a snapshot", lambda: self.killed("osd")),
            ("a follower continues after the gateway and the OSD were stopped", self.follow_through),
            ("a tool that is killed in the middle of a snapshot leaves nothing that the next one minds", self.tool_killed),
        ]
        for name, body in short + (long if is_long else []):
            if self.only and self.only not in name:
                continue
            try:
                kind, detail = "passed", body() or ""
            except Exception as error:  # noqa: BLE001 - whatever it is, the other cases still run
                place = traceback.extract_tb(error.__traceback__)[-1]
                kind, detail = "failed", f": {type(error).__name__} in {place.name}, line {place.lineno}: {error}"
            self.counts[kind] += 1
            print(f"{kind}  {name}{detail}", flush=True)
        print(f"{self.counts['passed']} passed, {self.counts['failed']} failed, 0 skipped")
        return int(self.counts["failed"] > 0)

    # What cases are made of

    def bucket(self, name, **more):
        self.s3.create_bucket(Bucket=name, **more)
        return name

    def box(self, bucket, name=None, user="full", follow=None):
        """A machine with a database and a configuration whose repository is in the bucket."""
        name = name or bucket
        box = Box(self.settings, self.folder, name=name, follow=follow)
        box.repository = f"s3://{bucket}/vaults"
        box.configure([{"name": "app", "sources": "db/*.db", "every": "1h"}], follow,
                      head=[f"s3: {{endpoint: '{self.ceph.endpoint}', path-style: true}}"])
        box.options = ["--repository", box.repository, "--state-directory", box.path("state"), "--s3-endpoint",
                       self.ceph.endpoint, "--s3-path-style"]
        key, secret = self.ceph.users[user]
        box.more = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_EC2_METADATA_DISABLED": "true",
                    "XDG_STATE_HOME": box.path("state")}
        return box

    def objects(self, bucket):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [one["Key"] for page in pages for one in page.get("Contents", [])]

    def expect_tidy(self, bucket):
        """Nothing that was only tried out, and no upload that nobody ends."""
        tried = [key for key in self.objects(bucket) if "probe" in key]
        expect(not tried, f"left: {tried}")
        uploads = self.s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
        expect(not uploads, f"uploads left: {uploads}")

    def snapshot(self, box, status=0):
        return box.litevault("snapshot", box.path("db/app.db"), *box.options, status=status)

    def expect_restores(self, box, count):
        listed = box.snapshots()
        expect(len(listed) == count, f"{len(listed)} snapshots instead of {count}")
        found = [box.restored("--snapshot", one["id"]) for one in listed]
        expect(found == sorted(found), f"not in order: {found}")
        checked = box.litevault("check", "--read-data", *box.options)
        expect(checked["intact"], lambda: f"check: {checked}")
        return found

    def twice(self, box, rounds=2):
        """Snapshots with commits between them, all of which come back."""
        db = Database(box.path("db/app.db"))
        for _ in range(rounds):
            db.commit()
            self.snapshot(box)
        found = self.expect_restores(box, rounds)
        expect(found == list(range(1, rounds + 1)), f"restored: {found}")
        return db

    def expect_retention(self, box):
        before = len(box.snapshots())
        box.litevault("forget", "--keep-last", "1", "--prune", *box.options)
        # The newest stays, and the newest that was verified.
        after = len(box.snapshots())
        expect(after < before and after <= 2, f"{before} snapshots, and then {after}")

    # Cases

    def life(self):
        bucket = self.bucket("life")
        box = self.box(bucket)
        db = self.twice(box)
        for _ in range(2):
            db.commit("UPDATE account SET filler = randomblob(900)")
            self.snapshot(box)
            box.litevault("forget", "--keep-last", "2", "--prune", "--grace", "0s", *box.options)
            self.expect_restores(box, 2)
        for _ in range(2):
            pruned = box.litevault("forget", "--keep-last", "1", "--prune", "--grace", "0s", *box.options)["prune"]
        expect(pruned["removed"] > 0, f"nothing was removed: {pruned}")
        self.expect_restores(box, 1)
        self.expect_tidy(bucket)
        db.close()

    def evening(self):
        """ci/evening, with all repositories in a bucket."""
        bucket = self.bucket("evening")
        key, secret = self.ceph.users["full"]
        damage = os.path.join(self.folder, "damage")
        with open(damage, "w") as file:
            file.write(f"""#!{sys.executable}
import sys
import boto3
from botocore.config import Config
s3 = boto3.client("s3", endpoint_url="{self.ceph.endpoint}", region_name="us-east-1", config=Config(s3={{"addressing_style": "path"}}))
packs = s3.list_objects_v2(Bucket="{bucket}", Prefix=sys.argv[1] + "/data/")["Contents"]
name = max(packs, key=lambda pack: pack["Size"])["Key"]
content = bytearray(s3.get_object(Bucket="{bucket}", Key=name)["Body"].read())
content[len(content) // 2] ^= 1
s3.put_object(Bucket="{bucket}", Key=name, Body=bytes(content))
""")
        os.chmod(damage, 0o755)
        done = subprocess.run(
            [os.path.join(self.settings.root, "ci/evening")], capture_output=True, text=True, timeout=1200,
            env={**os.environ, "LITEVAULT_TOOL": self.settings.tool, "LITEVAULT_EVENING_AT": f"s3://{bucket}",
                 "LITEVAULT_EVENING_OPTIONS": f"--s3-endpoint {self.ceph.endpoint} --s3-path-style",
                 "LITEVAULT_EVENING_YAML": f"s3: {{endpoint: '{self.ceph.endpoint}', path-style: true}}",
                 "LITEVAULT_EVENING_DAMAGE": damage, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret,
                 "AWS_EC2_METADATA_DISABLED": "true"})
        expect(done.returncode == 0, lambda: done.stdout[-300:] + done.stderr[-1500:])
        return ": " + done.stdout.splitlines()[-1]

    def race(self):
        bucket = self.bucket("race")
        boxes = [self.box(bucket, f"race-{number}") for number in range(4)]
        databases = [Database(box.path("db/app.db")) for box in boxes]
        self.snapshot(boxes[0])
        # Other machines that confirm the name: the same database, as far as the repository knows.
        served = busy = 0
        with concurrent.futures.ThreadPoolExecutor(len(boxes)) as pool:
            for _ in range(4):
                def one(box):
                    done = subprocess.run(
                        [self.settings.tool, "snapshot", box.path("db/app.db"), "--database", "app.db", *box.options,
                         "--json"], capture_output=True, timeout=120, env=box.environment())
                    expect(done.returncode in (0, 75), lambda: f"exit {done.returncode}: {done.stderr.decode()[-400:]}")
                    return done.returncode
                codes = list(pool.map(one, boxes))
                served, busy = served + codes.count(0), busy + codes.count(75)
        expect(served >= 4, f"{served} of 16 were served")
        self.expect_restores(boxes[0], 1 + served)
        for db in databases:
            db.close()
        return f": {served} served, {busy} told busy"

    def follow(self):
        bucket = self.bucket("follow")
        box = self.box(bucket)
        try:
            db = Database(box.path("db/app.db"))
            for _ in range(2):
                box.start().following()
                for _ in range(4):
                    db.commit()
                    time.sleep(0.3)
                until(lambda: f"the last commit; {box.tail()}", lambda: box.restored() == len(db.commits), 240)
                box.stop()
                errors = [line for line in box.logged() if line.get("level") == "error"]
                expect(not errors, f"errors: {errors[:2]}")
            box.judge_all(db, self.settings.random("ceph follow"), points=3)
            box.litevault("forget", "--keep-last", "1", "--prune", "--grace", "0s", *box.options)
            expect(box.restored() == len(db.commits), "not what was committed")
            db.close()
        finally:
            box.remove()

    def no_removal(self):
        bucket = self.bucket("add-only")
        statement = [{"Effect": effect, "Principal": {"AWS": [f"arn:aws:iam:::user/{user}"]}, "Action": actions,
                      "Resource": [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]} for effect, user, actions in ADD_ONLY]
        self.s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": statement}))
        box = self.box(bucket, user="writer")
        db = self.twice(box)
        box.start().following()
        db.commit()
        until(lambda: f"the last commit; {box.tail()}", lambda: box.restored() == len(db.commits), 240)
        box.stop()
        kept = len(box.snapshots())
        error = box.litevault("forget", "--keep-last", "1", "--prune", *box.options, status=69)["error"]
        expect(error["code"] == "unsupported" and "s3:DeleteObject" in error["remedy"], f"{error}")
        expect(len(self.expect_restores(box, kept)) == kept, "a snapshot is gone")
        self.expect_tidy(bucket)
        # Elsewhere, with credentials that may.
        other = self.box(bucket, "add-only-keeper")
        self.expect_retention(other)
        db.close()

    def versions(self):
        bucket = self.bucket("versions")
        self.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
        self.expect_kept_versions(bucket)

    def lock(self):
        bucket = self.bucket("lock", ObjectLockEnabledForBucket=True)
        self.s3.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration={
            "ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}})
        self.expect_kept_versions(bucket)

    def expect_kept_versions(self, bucket):
        box = self.box(bucket)
        try:
            db = self.twice(box)
            box.start().following()
            db.commit()
            until(lambda: f"the last commit; {box.tail()}", lambda: box.restored() == len(db.commits), 240)
            box.stop()
            manifests = {key for key in self.objects(bucket) if "/snapshots/" in key}
            self.expect_retention(box)
            expect(box.restored() == len(db.commits), "not what was committed")
            # What was removed is there still, as a version.
            kept = {one["Key"] for one in self.s3.list_object_versions(Bucket=bucket).get("Versions", [])}
            expect(manifests <= kept, f"gone for good: {manifests - kept}")
            self.expect_tidy(bucket)
            db.close()
        finally:
            box.remove()

    def busy_database(self, box, megabytes):
        db = Database(box.path("db/app.db"), rows=50)
        db.commit(f"INSERT INTO account SELECT 1000 + value, 0, randomblob(1000) FROM ({series(megabytes * 1000)})")
        return db

    def during(self, box, disturb, delay=0.6, statuses=(0,)):
        """Disturbs the cluster while a snapshot is under way."""
        problems = []

        def guarded():
            try:
                disturb()
            except Exception as error:  # noqa: BLE001 - told below
                problems.append(error)
        timer = threading.Timer(delay, guarded)
        timer.start()
        begun = time.monotonic()
        done = subprocess.run([self.settings.tool, "snapshot", box.path("db/app.db"), *box.options, "--json"],
                              capture_output=True, timeout=300, env=box.environment())
        took = time.monotonic() - begun
        timer.join()
        expect(not problems, f"{problems}")
        expect(done.returncode in statuses, lambda: f"exit {done.returncode}: {done.stderr.decode()[-400:]}")
        return done.returncode, took

    def still(self, part="gateway", seconds=5):
        bucket = self.bucket(f"still-{part}")
        box = self.box(bucket)
        db = self.busy_database(box, 40)

        def stand():
            self.ceph.signal(part, signal.SIGSTOP)
            time.sleep(seconds)
            self.ceph.signal(part, signal.SIGCONT)
        _, took = self.during(box, stand)
        self.snapshot(box)
        self.expect_restores(box, 2)
        self.expect_tidy(bucket)
        db.close()
        return f": {took:.1f} s"

    def killed(self, part):
        bucket = self.bucket(f"killed-{part}")
        box = self.box(bucket)
        db = self.busy_database(box, 40)
        stored = 0
        for delay in (0.3, 0.9):
            # It may take longer until it is there again than requests are made again: told as a failure then.
            code, _ = self.during(box, lambda: self.ceph.restart(part), delay, statuses=(0, 74))
            stored += code == 0
            db.commit("UPDATE account SET filler = randomblob(1000)")
        self.snapshot(box)
        self.expect_restores(box, len(box.snapshots()))
        expect(len(box.snapshots()) >= stored + 1, f"{len(box.snapshots())} snapshots, {stored + 1} were stored")
        db.close()
        return f": {stored} of 2 went through"

    def follow_through(self):
        bucket = self.bucket("follow-through")
        box = self.box(bucket)
        try:
            db = Database(box.path("db/app.db"))
            box.start().following()
            for part in ("gateway", "osd"):
                for disturb in (lambda: self.ceph.restart(part), lambda: self.pause(part, 15)):
                    worker = threading.Thread(target=disturb)
                    worker.start()
                    while worker.is_alive():
                        db.commit()
                        time.sleep(0.5)
                    worker.join()
                    until(lambda: f"the last commit; {box.tail()}", lambda: box.restored() == len(db.commits), 240)
            errors = [line for line in box.logged() if line.get("level") == "error"]
            expect(len(errors) < 60, f"{len(errors)} errors, the last: {errors[-1:]}")
            box.stop()
            box.judge_all(db, self.settings.random("ceph through"), points=4)
            db.close()
            return f": {len(db.commits)} commits, {len(errors)} errors told"
        finally:
            box.remove()

    def pause(self, part, seconds):
        self.ceph.signal(part, signal.SIGSTOP)
        time.sleep(seconds)
        self.ceph.signal(part, signal.SIGCONT)

    def tool_killed(self):
        bucket = self.bucket("tool-killed")
        box = self.box(bucket)
        db = self.busy_database(box, 80)
        for delay in (0.2, 0.5, 0.8, 1.2):
            child = subprocess.Popen([self.settings.tool, "snapshot", box.path("db/app.db"), *box.options],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=box.environment())
            time.sleep(delay)
            child.kill()
            child.wait()
        self.snapshot(box)
        count = len(box.snapshots())
        for _ in range(2):
            box.litevault("forget", "--keep-last", "9", "--prune", "--grace", "0s", *box.options)
        self.expect_restores(box, count)
        self.expect_tidy(bucket)
        db.close()


def series(count):
    return f"WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {count}) SELECT value FROM n"
