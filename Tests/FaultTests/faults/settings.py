"""What the environment says about this run."""
import os
import random
import time


class Settings:
    def __init__(self, root):
        self.tool = os.path.abspath(os.environ.get("LITEVAULT_TOOL", os.path.join(root, ".build/debug/litevault")))
        self.judge = os.environ["LITEVAULT_JUDGES"]
        self.seed = int(os.environ.get("LITEVAULT_FAULT_SEED") or time.time_ns() % 1_000_000_000)
        self.full = os.environ.get("LITEVAULT_FAULT_FULL") == "1"
        self.jobs = int(os.environ.get("LITEVAULT_FAULT_JOBS") or os.cpu_count() or 1)

    def random(self, name):
        """A generator for one case: the same whatever else runs, and in whatever order."""
        return random.Random(f"{self.seed}/{name}")
