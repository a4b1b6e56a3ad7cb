#!/usr/bin/env python3
"""Builds the wheels of toolguard-transcripts with the standard library.

    build_wheels.py --version 1.2.3 --out DIR OS_ARCH=DIRECTORY...

Each DIRECTORY has the programs for one platform, such as linux_amd64: toolguard, and those beside it that are there. The same
programs make the same wheels, byte for byte.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import pathlib
import re
import sys
import zipfile
from typing import List, Tuple

HERE = pathlib.Path(__file__).resolve().parent
NAME = "toolguard_transcripts"

# The programs are static, so one for Linux runs with any C library.
TAGS = {
    "linux_amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux_arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin_amd64": "macosx_11_0_x86_64",
    "darwin_arm64": "macosx_11_0_arm64",
    "windows_amd64": "win_amd64",
    "windows_arm64": "win_arm64",
}

# Programs that are shipped beside toolguard. Those that need much more room are in the archives only.
PROGRAMS = ("toolguard",)

METADATA = """Metadata-Version: 2.1
Name: toolguard-transcripts
Version: {version}
Summary: Checks, repairs, filters and trims transcripts of AI agents
Home-page: https://github.com/toolguard/toolguard
License: MIT
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.9
Provides-Extra: dask
Requires-Dist: distributed; extra == "dask"
Description-Content-Type: text/markdown

{readme}"""


def public_version(version: str) -> str:
    """The version as PEP 440 has it: 1.2.3-rc.1 is 1.2.3rc1, 1.2.3-4-gabc is 1.2.3+4.gabc, and the commit abc 0.0.0+abc."""
    m = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?(?:[-+.](.+))?", version)
    if m is None:
        return public_version("0.0.0+" + (re.sub(r"[^A-Za-z0-9]+", ".", version).strip(".") or "dev"))
    number, stage, n, rest = m.groups()
    out: str = number
    if stage:
        out += {"alpha": "a", "beta": "b", "rc": "rc"}[stage] + n
    if rest:
        out += "+" + re.sub(r"[^a-z0-9]+", ".", rest.lower()).strip(".")
    return out


def wheel(version: str, platform: str, programs: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Writes the wheel for a platform."""
    tags = TAGS[platform]
    info = f"{NAME}-{version}.dist-info"
    files: List[Tuple[str, bytes, int]] = []
    for path in sorted((HERE / NAME).glob("*")):
        if path.is_file():
            files.append((f"{NAME}/{path.name}", path.read_bytes(), 0o644))
    suffix = ".exe" if platform.startswith("windows") else ""
    for name in PROGRAMS:
        files.append((f"{NAME}-{version}.data/scripts/{name}{suffix}", (programs / (name + suffix)).read_bytes(), 0o755))
    root = HERE.parent
    for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
        if not (root / name).is_file():
            raise SystemExit(f"{name} is missing; make notices writes it")
        files.append((f"{info}/{name}", (root / name).read_bytes(), 0o644))
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    files.append((f"{info}/METADATA", METADATA.format(version=version, readme=readme).encode(), 0o644))
    lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    files.append((f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: toolguard\nRoot-Is-Purelib: false\n{lines}".encode(), 0o644))
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    path = out / f"{NAME}-{version}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return path


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(args: List[str]) -> None:
    parser = argparse.ArgumentParser(description="Builds the wheels of toolguard-transcripts.")
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("platforms", nargs="+", metavar="OS_ARCH=DIRECTORY")
    given = parser.parse_args(args)
    version = public_version(given.version)
    given.out.mkdir(parents=True, exist_ok=True)
    for value in given.platforms:
        platform, _, directory = value.partition("=")
        if platform not in TAGS or not directory:
            raise SystemExit(f"expected OS_ARCH=DIRECTORY with one of {', '.join(TAGS)}, got {value!r}")
        print(wheel(version, platform, pathlib.Path(directory), given.out))


if __name__ == "__main__":
    main(sys.argv[1:])
