#!/usr/bin/env python3
"""sbom.py ROOT MAP ENGINE VERSION OUT: what is inside the tool, from the linker's map.

Writes OUT/litevault.spdx.json (SPDX 2.3) and OUT/licences/, one file for each package that put at least one byte into the
program. A linked file that belongs to no known package ends the script.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys

root, map_path, engine, version, out = sys.argv[1:]
root, out = pathlib.Path(root), pathlib.Path(out)
checkouts = root / ".build-release/swift/checkouts"
target = json.loads(subprocess.check_output(["swift", "-print-target-info"], text=True))
swift_home = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent.parent


def linked_files():
    """The object files and archives in the map whose sections have a size, with the bytes of each."""
    sizes = {}
    for line in open(map_path, errors="replace"):
        match = re.match(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+\s+(\S+?):\(", line)
        if match and match[2].startswith("/"):
            path = re.sub(r"\(.*", "", match[2])
            sizes[path] = sizes.get(path, 0) + int(match[1], 16)
    return sizes


def debian(package):
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], text=True, capture_output=True).stdout
    return shown or sys.exit(f"sbom: the Debian package {package} is not installed")


def copyright_of(package):
    return [pathlib.Path(f"/usr/share/doc/{package}/copyright")]


pins = {
    pin["identity"]: pin for pin in json.loads((root / "Package.resolved").read_text())["pins"]
}
# A target is a directory of its name below Sources, the nearest one; or its package says otherwise, by hand here.
modules = {
    "ServiceContextModuleCompatibility": "swift-service-context",
    "_RopeModule": "swift-collections",
}
for pattern in ("Sources/*", "Sources/*/*"):
    for checkout in sorted(checkouts.iterdir()):
        for directory in checkout.glob(pattern):
            if directory.is_dir():
                modules.setdefault(directory.name, checkout.name)


def swift_version():
    shown = subprocess.check_output(["swift", "--version"], text=True, stderr=subprocess.DEVNULL)
    return re.search(r"Swift version (\S+)", shown)[1]


def package_of(path):
    """Name, version, SPDX licence, where it comes from, and its licence files."""
    name = pathlib.Path(path).name
    if match := re.search(r"/([^/]+)\.build/", path):
        module = match[1]
        if (root / "Sources" / module).is_dir():
            return "litevault", version, "Apache-2.0", "NOASSERTION", [root / "LICENSE"]
        if module in modules:
            package = modules[module]
            pin = pins[package.lower()]
            texts = sorted(
                file for file in (checkouts / package).iterdir() if re.match(r"(LICENSE|NOTICE|CONTRIBUTORS)", file.name)
            )
            return package, pin["state"].get("version", pin["state"]["revision"]), "Apache-2.0", pin["location"], texts
    if name == "libsqlcipher.a":
        texts = [root / ".engines" / f"sqlcipher-{engine}" / "LICENSE"]
        return "SQLCipher", engine, "BSD-3-Clause AND blessing", "https://github.com/sqlcipher/sqlcipher", texts
    if name == "libcrypto.a":
        return "OpenSSL", debian("libssl-dev"), "Apache-2.0", "https://www.openssl.org", copyright_of("libssl-dev")
    if name == "libssl.a":
        return "OpenSSL", debian("libssl-dev"), "Apache-2.0", "https://www.openssl.org", copyright_of("libssl-dev")
    if name == "libcurl.a":
        made = (root / ".engines/curl/made").read_text().split()[0]
        return "curl", made, "curl", "https://curl.se", [root / ".engines/curl/LICENSE"]
    if name == "libz.a":
        return "zlib", debian("zlib1g-dev"), "Zlib", "https://zlib.net", copyright_of("zlib1g-dev")
    if name == "libyaml.a":
        return "libyaml", debian("libyaml-dev"), "MIT", "https://pyyaml.org/wiki/LibYAML", copyright_of("libyaml-dev")
    if name in ("libstdc++.a", "libgcc_s.a", "libgcc_eh.a", "libgcc.a") or re.match(r"crt(begin|end)", name):
        package = subprocess.check_output(["dpkg", "-S", "libstdc++.a"], text=True).split(":")[0]
        licence = "GPL-3.0-or-later WITH GCC-exception-3.1"
        return "GCC runtime", debian(package), licence, "https://gcc.gnu.org", copyright_of("gcc-12-base")
    if name in ("Scrt1.o", "crt1.o", "crti.o", "crtn.o", "libc_nonshared.a"):
        return "glibc start files", debian("libc6-dev"), "LGPL-2.1-or-later", "https://www.gnu.org/software/libc/", copyright_of("libc6-dev")
    if "/lib/swift" in path or "/lib/clang" in path:
        return "Swift", swift_version(), "Apache-2.0 WITH Swift-exception", "https://swift.org", [swift_home / "share/swift/LICENSE.txt"]
    if re.search(r"/(litevault|resource).*\.o$", path) or name.endswith(("autolink.o", ".swiftmodule.o", "-wrap.o")):
        return "litevault", version, "Apache-2.0", "NOASSERTION", [root / "LICENSE"]
    sys.exit(f"sbom: no package is known for the linked file {path}")


packages, bytes_of = {}, {}
for path, size in linked_files().items():
    found = package_of(path)
    packages[found[0]] = found
    bytes_of[found[0]] = bytes_of.get(found[0], 0) + size

(out / "licences").mkdir(parents=True, exist_ok=True)
for name, _, _, _, texts in packages.values():
    text = "\n".join(file.read_text(errors="replace") for file in texts)
    if len(text) < 200:
        sys.exit(f"sbom: no licence was found for {name}")
    (out / "licences" / f"{name.replace(' ', '-')}.txt").write_text(text)

identifier = lambda name: "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name)
digest = hashlib.sha256((root / ".build-release/litevault").read_bytes()).hexdigest()
committed = subprocess.check_output(["git", "-C", root, "log", "-1", "--format=%cI"], text=True).strip()
created = subprocess.check_output(["date", "-u", "-d", committed, "+%Y-%m-%dT%H:%M:%SZ"], text=True).strip()
document = {
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": f"litevault-{version}",
    "documentNamespace": f"https://spdx.org/spdxdocs/litevault-{version}-{digest[:32]}",
    "creationInfo": {"created": created, "creators": ["Tool: ci/lib/sbom.py"]},
    "packages": [
        {
            "SPDXID": identifier(name),
            "name": name,
            "versionInfo": number,
            "downloadLocation": place,
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": licence,
            "copyrightText": "NOASSERTION",
            **({"checksums": [{"algorithm": "SHA256", "checksumValue": digest}]} if name == "litevault" else {}),
        }
        for name, number, licence, place, _ in sorted(packages.values())
    ],
    "relationships": [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": identifier("litevault")}
    ]
    + [
        {"spdxElementId": identifier("litevault"), "relationshipType": "STATIC_LINK", "relatedSpdxElement": identifier(name)}
        for name in sorted(packages)
        if name != "litevault"
    ],
}
(out / "litevault.spdx.json").write_text(json.dumps(document, indent=1) + "\n")
print(f"{len(packages)} packages are inside:")
for name, size in sorted(bytes_of.items(), key=lambda item: -item[1]):
    print(f"  {size / 1e6:6.1f} MB  {name} {packages[name][1]}")
