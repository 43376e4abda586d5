"""Keys and cipher settings: what is tried, how each engine gets them, and what SQLCipher 3.4.1 can do of it."""
import dataclasses
import hashlib
from typing import Optional

SALT = bytes(range(0, 256, 17))
RAW = bytes.fromhex("2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99")
DIGESTS = ("sha1", "sha256", "sha512")


@dataclasses.dataclass(frozen=True)
class Key:
    """`form` is a --key-format of the tool; `data` is what goes through its --key-fd."""
    form: str
    data: bytes

    @property
    def raw(self):
        """The 32 or 48 bytes of a raw key, None for a passphrase."""
        return {"raw": self.data, "hex": bytes.fromhex(self.data.decode()) if self.form == "hex" else None}.get(self.form)


PASSPHRASE = Key("passphrase", b"interop-pass")
RAW_KEY = Key("hex", RAW.hex().encode())
RAW_KEY_WITH_SALT = Key("hex", (RAW + SALT).hex().encode())


@dataclasses.dataclass(frozen=True)
class Settings:
    compatibility: Optional[int] = None
    page_size: Optional[int] = None
    kdf_iterations: Optional[int] = None
    kdf: Optional[str] = None
    hmac: Optional[str] = None
    use_hmac: bool = True
    header: int = 0
    salt: Optional[bytes] = None

    @property
    def version(self):
        return self.compatibility or 4

    def page_size_in_effect(self):
        return self.page_size or (4096 if self.version == 4 else 1024)

    def iterations_in_effect(self):
        return self.kdf_iterations or {1: 4000, 2: 4000, 3: 64000, 4: 256000}[self.version]

    def derived(self, key):
        """The raw key that a passphrase stands for, with the salt: derived by nobody's engine."""
        digest = self.kdf or ("sha512" if self.version == 4 else "sha1")
        return hashlib.pbkdf2_hmac(digest, key.data, self.salt, self.iterations_in_effect(), 32) + self.salt

    def pragmas(self):
        """For SQLCipher 4, after the key."""
        lines = []
        # It turns HMAC on; with a raw key and without HMAC there is nothing else in it.
        if self.compatibility and not self.needs_defaults():
            lines.append(f"cipher_compatibility = {self.compatibility}")
        if not self.use_hmac:
            lines.append("cipher_use_hmac = OFF")
        if self.page_size:
            lines.append(f"cipher_page_size = {self.page_size}")
        if self.hmac:
            lines.append(f"cipher_hmac_algorithm = HMAC_{self.hmac.upper()}")
        if self.kdf:
            lines.append(f"cipher_kdf_algorithm = PBKDF2_HMAC_{self.kdf.upper()}")
        if self.header:
            lines.append(f"cipher_plaintext_header_size = {self.header}")
        if self.salt:
            lines.append(f"cipher_salt = \"x'{self.salt.hex()}'\"")
        if self.kdf_iterations:
            lines.append(f"kdf_iter = {self.kdf_iterations}")
        return lines

    def mc_pragmas(self):
        """For SQLite3MultipleCiphers, before the key."""
        lines = ["cipher = 'sqlcipher'", f"legacy = {self.version}"]
        if self.page_size:
            lines.append(f"legacy_page_size = {self.page_size}")
        if not self.use_hmac:
            lines.append("hmac_use = 0")
        if self.hmac:
            lines.append(f"hmac_algorithm = {DIGESTS.index(self.hmac)}")
        if self.kdf:
            lines.append(f"kdf_algorithm = {DIGESTS.index(self.kdf)}")
        if self.header:
            lines.append(f"plaintext_header_size = {self.header}")
        if self.kdf_iterations:
            lines.append(f"kdf_iter = {self.kdf_iterations}")
        return lines

    def options(self, side, salt_file):
        """For the tool: `side` is "" for what is written and "source-" for what is read."""
        words = []
        if self.compatibility:
            words += ["--compatibility" if side else "--to-compatibility", str(self.compatibility)]
        for name, value in (("page-size", self.page_size), ("kdf-iterations", self.kdf_iterations),
                            ("kdf-algorithm", self.kdf), ("hmac-algorithm", self.hmac),
                            ("plaintext-header", self.header or None)):
            if value:
                words += [f"--{side}{name}", str(value)]
        if not self.use_hmac:
            words.append(f"--{side}no-hmac")
        if self.header:
            words += [f"--{side}salt-file", str(salt_file)]
        return words

    def needs_format_4(self):
        """Whether SQLCipher 3.4.1 lacks it. Left to themselves, both engines write their own newest format."""
        return self.compatibility == 4 or bool(self.header) or (self.kdf or "sha1") != "sha1" or (
            self.hmac or "sha1") != "sha1"

    def leaves_too_little(self):
        """Whether SQLite's 480 bytes are not left of a page: such files cannot be."""
        return self.page_size == 512 and self.use_hmac and self.version != 1

    def needs_defaults(self):
        """Whether SQLCipher 4 writes it only when it is the default: while a page has the 80 bytes that are reserved at
        first, SQLite silently makes 1024 of a page size of 512, and nothing opens the file."""
        return self.page_size == 512


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    key: Key = PASSPHRASE
    settings: Settings = Settings(kdf_iterations=1000)

def cases():
    yield from keys()
    for version in (1, 2, 3, 4):
        yield Case(f"compatibility {version}, passphrase", PASSPHRASE, Settings(compatibility=version))
        yield Case(f"compatibility {version}, raw key", RAW_KEY, Settings(compatibility=version))
    for kdf in DIGESTS:
        for hmac in DIGESTS:
            yield Case(f"KDF {kdf}, HMAC {hmac}", PASSPHRASE, Settings(kdf=kdf, hmac=hmac, kdf_iterations=1000))
    yield Case("no HMAC", PASSPHRASE, Settings(use_hmac=False, kdf_iterations=1000))
    yield Case("no HMAC, compatibility 3", PASSPHRASE, Settings(compatibility=3, use_hmac=False, kdf_iterations=1000))
    for size in (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
        yield Case(f"pages of {size}", RAW_KEY, Settings(page_size=size))
        yield Case(f"pages of {size}, compatibility 3", RAW_KEY, Settings(page_size=size, compatibility=3))
    yield Case("pages of 512, no HMAC", RAW_KEY, Settings(page_size=512, use_hmac=False))
    yield Case("pages of 512, no HMAC, compatibility 3", RAW_KEY,
               Settings(page_size=512, use_hmac=False, compatibility=3))
    for count in (1, 3, 300000):
        yield Case(f"{count} iterations", PASSPHRASE, Settings(kdf_iterations=count))
    yield Case("plaintext header, raw key with salt", RAW_KEY_WITH_SALT, Settings(header=32, salt=SALT))
    yield Case("plaintext header, passphrase", PASSPHRASE, Settings(header=32, salt=SALT, kdf_iterations=1000))
    yield Case("plaintext header, pages of 8192, SHA-256", RAW_KEY_WITH_SALT,
               Settings(header=32, salt=SALT, page_size=8192, hmac="sha256"))


def keys():
    passphrases = {
        "words": b"correct horse battery staple", "one byte": b"x", "quotes": b"it's \"quoted\" \\ `here`",
        "not ASCII": "\u043f\u0430\u0440\u043e\u043b\u044c'\"\u03c0\U0001f600".encode(), "spaces around": b"  spaces\t ",
        "a NUL byte": b"before\x00after", "invalid UTF-8": b"\xff\xfe\x80", "64 digits": RAW.hex().encode(),
        "5000 bytes": b"long" * 1250, "almost a literal": b"x'" + b"0" * 62 + b"'", "a newline inside": b"two\nlines",
    }
    for name, data in passphrases.items():
        yield Case(f"passphrase: {name}", Key("passphrase", data))
    yield Case("raw key, 64 digits", RAW_KEY, Settings())
    yield Case("raw key, 64 capital digits", Key("hex", RAW.hex().upper().encode()), Settings())
    yield Case("raw key with salt, 96 digits", RAW_KEY_WITH_SALT, Settings())
    yield Case("raw key, 32 bytes", Key("raw", RAW), Settings())
    yield Case("raw key with salt, 48 bytes", Key("raw", RAW + SALT), Settings())
