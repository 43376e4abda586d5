"""A reader of keyrings, written from the page "Keyring format": nothing of it is the project's code.

    reader.py KEYRING passphrase|recovery|identity|secret FILE    prints the database keys, newest first, in hexadecimal,
                                                                  the fingerprint, and whether the slot endorsed it
"""
import hashlib
import hmac
import re
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Rejected(Exception):
    """No keyring, or one that does not authenticate."""


class WrongSecret(Exception):
    pass


def hkdf(key, salt, info, length):
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(key)


# HPKE, RFC 9180, base mode: DHKEM(X25519, HKDF-SHA256) 0x0020, HKDF-SHA256 0x0001, ChaCha20-Poly1305 0x0003.

def extract(salt, ikm):
    return hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest()


def expand(prk, info, length):
    out, block, number = b"", b"", 1
    while len(out) < length:
        block = hmac.new(prk, block + info + bytes([number]), hashlib.sha256).digest()
        out, number = out + block, number + 1
    return out[:length]


def labeled_extract(suite, salt, label, ikm):
    return extract(salt, b"HPKE-v1" + suite + label + ikm)


def labeled_expand(suite, prk, label, info, length):
    return expand(prk, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


def hpke_open(private, encapsulated, info, ciphertext):
    kem = b"KEM" + (0x20).to_bytes(2, "big")
    public = private.public_key().public_bytes_raw()
    shared = private.exchange(X25519PublicKey.from_public_bytes(encapsulated))
    secret = labeled_expand(
        kem, labeled_extract(kem, b"", b"eae_prk", shared), b"shared_secret", encapsulated + public, 32)
    suite = b"HPKE" + bytes([0, 0x20, 0, 1, 0, 3])
    context = b"\0" + labeled_extract(suite, b"", b"psk_id_hash", b"") + labeled_extract(suite, b"", b"info_hash", info)
    prk = labeled_extract(suite, secret, b"secret", b"")
    key = labeled_expand(suite, prk, b"key", context, 32)
    nonce = labeled_expand(suite, prk, b"base_nonce", context, 12)
    return ChaCha20Poly1305(key).decrypt(nonce, ciphertext, b"")


class Lines:
    def __init__(self, data):
        if len(data) > 262144 or not data.endswith(b"\n"):
            raise Rejected("size or end")
        try:
            self.lines = data[:-1].decode("ascii").split("\n")
        except UnicodeDecodeError:
            raise Rejected("not ASCII") from None

    def take(self, pattern):
        match = re.fullmatch(pattern, self.lines.pop(0)) if self.lines else None
        if not match:
            raise Rejected(f"expected {pattern}")
        return match.groups()

    def next_is(self, word):
        return bool(self.lines) and self.lines[0].startswith(word + " ")


def number(text, low, high):
    if len(text) > 19 or not low <= int(text) <= high:
        raise Rejected(f"{text} is not from {low} to {high}")
    return int(text)


NUMBER = "(0|[1-9][0-9]*)"
KINDS = {"recovery": "recovery", "file": "secret", "credential": "secret", "store": "secret"}


def parse(data):
    lines = Lines(data)
    version = lines.take("litevault-keyring ([12])")[0]
    ring = {"id": bytes.fromhex(lines.take("id ([0-9a-f]{32})")[0])}
    ring["generation"] = number(lines.take("generation " + NUMBER)[0], 1, 2**63 - 1)
    ring["keys"] = lines.take("keys ((?:[0-9a-f]{16})(?: [0-9a-f]{16}){0,15})")[0].split(" ")
    if len(set(ring["keys"])) < len(ring["keys"]):
        raise Rejected("a key twice")
    ring["slots"], last = [], 0
    while lines.next_is("slot"):
        slot = {}
        digits, slot["kind"], added, name = lines.take(f"slot {NUMBER} ([a-z]+) {NUMBER} (-|(?:[0-9a-f]{{2}})+)")
        slot["number"], last = number(digits, last + 1, 2**32 - 1), int(digits)
        slot["added"] = number(added, 0, 253402300799)
        try:
            slot["name"] = "" if name == "-" else bytes.fromhex(name).decode("utf-8")
        except UnicodeDecodeError:
            raise Rejected("name") from None
        if len(slot["name"].encode()) > 100 or re.search(
                "[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", slot["name"]):
            raise Rejected("name")
        slot["public"] = bytes.fromhex(lines.take("public ([0-9a-f]{64})")[0])
        if slot["kind"] == "passphrase":
            n, r, p, salt = lines.take(f"scrypt {NUMBER} {NUMBER} {NUMBER} ([0-9a-f]{{32}})")
            n, r, p = number(n, 4, 20), number(r, 1, 16), number(p, 1, 4)
            if 128 * 2**n * r > 2**28 or 2**n * r * p > 2**21:
                raise Rejected("cost")
            slot["scrypt"], slot["salt"] = (2**n, r, p), bytes.fromhex(salt)
        elif slot["kind"] in KINDS:
            slot["salt"] = bytes.fromhex(lines.take("salt ([0-9a-f]{32})")[0])
        elif slot["kind"] == "command":
            slot["blob"] = bytes.fromhex(lines.take("blob ((?:[0-9a-f]{2}){1,8192})")[0])
        elif slot["kind"] != "recipient":
            raise Rejected(slot["kind"])
        sealed = lines.take("sealed ([0-9a-f]{64}) ((?:[0-9a-f]{2})+)")
        slot["encapsulated"], slot["sealed"] = (bytes.fromhex(text) for text in sealed)
        if (len(slot["sealed"]) - 16) % 48 or not 1 <= (len(slot["sealed"]) - 16) // 48 <= len(ring["keys"]):
            raise Rejected("sealed")
        slot["endorsed"] = None
        if lines.next_is("endorsed"):
            key, time, code = lines.take(f"endorsed ([0-9a-f]{{16}}) {NUMBER} ([0-9a-f]{{64}})")
            slot["endorsed"] = key, number(time, 1, ring["generation"]), bytes.fromhex(code)
        ring["slots"].append(slot)
    if not 1 <= len(ring["slots"]) <= 32:
        raise Rejected("slots")
    if version != ("2" if any(slot["endorsed"] for slot in ring["slots"]) else "1"):
        raise Rejected("version")
    ring["codes"] = [bytes.fromhex(lines.take(f"mac {key} ([0-9a-f]{{64}})")[0]) for key in ring["keys"]]
    if lines.lines:
        raise Rejected("more than the file")
    ring["body"] = data[:data.index(b"\nmac ") + 1]
    return ring


def recovery_code(text):
    digits = [ALPHABET.find(c) for c in re.sub("[ -]", "", text.upper()).translate(str.maketrans("OIL", "011"))]
    if len(digits) != 40 or min(digits) < 0:
        raise WrongSecret("no recovery code")
    value = 0
    for group in range(8):
        *data, check = digits[5 * group:5 * group + 5]
        if (group + sum((2 * i + 1) * d for i, d in enumerate(data))) % 32 != check:
            raise WrongSecret(f"group {group + 1}")
        for digit in data:
            value = value << 5 | digit
    return value.to_bytes(20, "big")


def private_key(slot, method, secret):
    """The private key that a secret leads to, or None for a slot of another kind."""
    if method == "passphrase" and slot["kind"] == "passphrase":
        n, r, p = slot["scrypt"]
        return hashlib.scrypt(secret, salt=slot["salt"], n=n, r=r, p=p, dklen=32, maxmem=2**29)
    if method == "recovery" and slot["kind"] == "recovery":
        return hkdf(recovery_code(secret.decode()), slot["salt"], b"litevault-keyring 1 recovery", 32)
    if method == "identity" and slot["kind"] == "recipient":
        return bytes.fromhex(re.fullmatch("litevault-identity-1:([0-9a-f]{64})", secret.decode())[1])
    if method == "secret" and KINDS.get(slot["kind"]) == "secret":
        return hkdf(secret, slot["salt"], b"litevault-keyring 1 secret", 32)
    return None


def unlock(data, method, secret):
    """The database keys, newest first, that a secret opens."""
    return unlocked(parse(data), method, secret)[0]


def has_endorsed(ring, slot, raw, keys):
    """Whether who has the private key of a slot said that the newest key is the right one."""
    if slot["endorsed"] is None or len(keys) < len(ring["keys"]):
        return False
    key, generation, code = slot["endorsed"]
    message = slot["number"].to_bytes(4, "big") + generation.to_bytes(8, "big") + keys[0]
    own = hmac.new(hkdf(raw, ring["id"], b"litevault-keyring 1 endorsement", 32), message, hashlib.sha256).digest()
    return key == ring["keys"][0] and hmac.compare_digest(own, code)


def fingerprint(ring, keys):
    digits = hkdf(keys[0], ring["id"], b"litevault-keyring 1 fingerprint", 16).hex()
    return "-".join(digits[at:at + 4] for at in range(0, 32, 4))


def unlocked(ring, method, secret):
    """The database keys, newest first, that a secret opens, and whether its slot has endorsed the newest."""
    for slot in ring["slots"]:
        raw = private_key(slot, method, secret)
        if raw is None:
            continue
        private = X25519PrivateKey.from_private_bytes(raw)
        if private.public_key().public_bytes_raw() != slot["public"]:
            continue
        info = b"litevault-keyring 1 slot" + ring["id"] + slot["number"].to_bytes(4, "big")
        try:
            plain = hpke_open(private, slot["encapsulated"], info, slot["sealed"])
        except Exception as error:
            raise Rejected(f"slot {slot['number']}: {error}") from None
        keys = [plain[at:at + 48] for at in range(0, len(plain), 48)]
        missing = len(ring["keys"]) - len(keys)
        if [hkdf(key, b"", b"litevault-keyring 1 key-id", 8).hex() for key in keys] != ring["keys"][missing:]:
            raise Rejected("identifiers")
        code = hmac.new(
            hkdf(keys[0], ring["id"], b"litevault-keyring 1 mac", 32), ring["body"], hashlib.sha256).digest()
        if not hmac.compare_digest(code, ring["codes"][missing]):
            raise Rejected("authentication")
        return keys, has_endorsed(ring, slot, raw, keys)
    raise WrongSecret(f"no slot opens by this {method}")


def secret_of(path):
    with open(path, "rb") as file:
        data = file.read()
    return data[:-1] if data.endswith(b"\n") else data


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as keyring:
        parsed = parse(keyring.read())
    found, endorsed = unlocked(parsed, sys.argv[2], secret_of(sys.argv[3]))
    for each in found:
        print(each.hex())
    print(fingerprint(parsed, found), "endorsed" if endorsed else "not endorsed")
