"""Writes keyrings that others would believe, from the page "Keyring format" and what is in a keyring for all to read.

Nothing of it is the project's code. A forger has the file, and no secret: the identifier, the public keys and the salts of the
slots are in it, and everybody can seal keys to public keys.
"""
import hashlib
import hmac
import os

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

import reader


def hpke_seal(public, info, plain):
    kem = b"KEM" + (0x20).to_bytes(2, "big")
    ephemeral = X25519PrivateKey.generate()
    encapsulated = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
    secret = reader.labeled_expand(
        kem, reader.labeled_extract(kem, b"", b"eae_prk", shared), b"shared_secret", encapsulated + public, 32)
    suite = b"HPKE" + bytes([0, 0x20, 0, 1, 0, 3])
    context = b"\0" + reader.labeled_extract(suite, b"", b"psk_id_hash", b"")
    context += reader.labeled_extract(suite, b"", b"info_hash", info)
    prk = reader.labeled_extract(suite, secret, b"secret", b"")
    key = reader.labeled_expand(suite, prk, b"key", context, 32)
    nonce = reader.labeled_expand(suite, prk, b"base_nonce", context, 12)
    return encapsulated, ChaCha20Poly1305(key).encrypt(nonce, plain, b"")


def text(ring, keys):
    """A keyring as a file, sealed and authenticated with database keys."""
    endorsed = any(slot["endorsed"] for slot in ring["slots"])
    names = [reader.hkdf(key, b"", b"litevault-keyring 1 key-id", 8).hex() for key in keys]
    lines = [f"litevault-keyring {2 if endorsed else 1}", "id " + ring["id"].hex(),
             f"generation {ring['generation']}", "keys " + " ".join(names)]
    for slot in ring["slots"]:
        info = b"litevault-keyring 1 slot" + ring["id"] + slot["number"].to_bytes(4, "big")
        encapsulated, sealed = hpke_seal(slot["public"], info, b"".join(keys))
        name = slot["name"].encode().hex() or "-"
        lines += [f"slot {slot['number']} {slot['kind']} {slot['added']} {name}", "public " + slot["public"].hex()]
        if slot["kind"] == "passphrase":
            n, r, p = slot["scrypt"]
            lines.append(f"scrypt {n.bit_length() - 1} {r} {p} {slot['salt'].hex()}")
        elif slot["kind"] == "command":
            lines.append("blob " + slot["blob"].hex())
        elif slot["kind"] != "recipient":
            lines.append("salt " + slot["salt"].hex())
        lines.append(f"sealed {encapsulated.hex()} {sealed.hex()}")
        if slot["endorsed"]:
            key, generation, code = slot["endorsed"]
            lines.append(f"endorsed {key} {generation} {code.hex()}")
    body = ("\n".join(lines) + "\n").encode()
    codes = "".join(
        f"mac {name} " + hmac.new(
            reader.hkdf(key, ring["id"], b"litevault-keyring 1 mac", 32), body, hashlib.sha256).hexdigest() + "\n"
        for name, key in zip(names, keys))
    return body + codes.encode()


def endorse(ring, slot, raw, key):
    """What the holder of a slot's private key writes."""
    own = reader.hkdf(raw, ring["id"], b"litevault-keyring 1 endorsement", 32)
    message = slot["number"].to_bytes(4, "big") + ring["generation"].to_bytes(8, "big") + key
    name = reader.hkdf(key, b"", b"litevault-keyring 1 key-id", 8).hex()
    slot["endorsed"] = name, ring["generation"], hmac.new(own, message, hashlib.sha256).digest()


def forge(data, endorsements="kept", keys=None):
    """The keyring of a forger in the place of another one.

    - endorsements: dropped, kept, or relabelled as those of the forger's key.
    - keys: those that a former member still has; without them, a random one.
    """
    ring = reader.parse(data)
    keys = keys or [os.urandom(48)]
    ring["generation"] += 1
    name = reader.hkdf(keys[0], b"", b"litevault-keyring 1 key-id", 8).hex()
    for slot in ring["slots"]:
        if slot["endorsed"] and endorsements == "dropped":
            slot["endorsed"] = None
        elif slot["endorsed"] and endorsements == "relabelled":
            slot["endorsed"] = name, *slot["endorsed"][1:]
    return text(ring, keys)
