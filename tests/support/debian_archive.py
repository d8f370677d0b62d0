# SPDX-License-Identifier: GPL-2.0-or-later
"""A small signed Debian archive on 127.0.0.1, whose packages have one file each."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

RELEASE = """Origin: Debian
Label: Debian
Suite: {suite}
Codename: {suite}
Date: Thu, 01 Jan 2026 00:00:00 UTC
Architectures: amd64
Components: main
SHA256:
"""
PASSPHRASE = ("--batch", "--pinentry-mode", "loopback", "--passphrase", "")


class Archive:
    """The files of an archive, and its signing key.

    Args:
        folder: where the archive, its key and its packages are written.
    """

    def __init__(self, folder: Path) -> None:
        self.files = folder / "archive"
        self.files.mkdir()
        for name in ("debian", "debian-security"):  # serves both of Debian's archives
            (self.files / name).symlink_to(".")
        self.keyring = folder / "keyring.gpg"
        self._home = folder / "gnupg"
        self._home.mkdir(mode=0o700)
        self._gpg(*PASSPHRASE, "--quick-generate-key", "archive@localhost", "ed25519", "sign")
        self._gpg("--output", str(self.keyring), "--export", "archive@localhost")

    def add(self, suite: str, name: str, version: str, file: str, content: bytes) -> None:
        """Add a package to a suite; it is visible after `publish`."""
        tree = self.files.parent / "tree" / f"{name}_{version}"
        path = tree / file.lstrip("/")
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
            "Maintainer: nobody <nobody@localhost>\nDescription: a toy\n"
        )
        pool = self.files / "pool" / suite
        pool.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["dpkg-deb", "--build", "--root-owner-group", str(tree), str(pool)],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip

    def publish(self, suite: str, *, sign: bool = True) -> None:
        """Write the index files of a suite."""
        entries = []
        for package in sorted((self.files / "pool" / suite).glob("*.deb")):
            content = package.read_bytes()
            control = subprocess.run(
                ["dpkg-deb", "--field", str(package)],
                check=True, capture_output=True, text=True, timeout=60,
            ).stdout  # fmt: skip
            entries.append(
                f"{control}Filename: {package.relative_to(self.files)}\nSize: {len(content)}\n"
                f"SHA256: {hashlib.sha256(content).hexdigest()}\n"
            )
        top = self.files / "dists" / suite
        plain = top / "main/binary-amd64/Packages"
        plain.parent.mkdir(parents=True, exist_ok=True)
        plain.write_text("\n".join(entries))
        packed = plain.with_suffix(".gz")
        packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        sums = "".join(
            f" {hashlib.sha256(file.read_bytes()).hexdigest()} {file.stat().st_size}"
            f" {file.relative_to(top)}\n"
            for file in (plain, packed)
        )
        release = top / "Release"
        release.write_text(RELEASE.format(suite=suite) + sums)
        (top / "InRelease").unlink(missing_ok=True)
        if sign:
            self._gpg(*PASSPHRASE, "--clearsign", "--output", str(top / "InRelease"), str(release))

    def _gpg(self, *words: str) -> None:
        subprocess.run(
            ["gpg", "--batch", "--yes", *words],
            env={**os.environ, "GNUPGHOME": str(self._home)},
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        # gpg has started an agent, which would keep running.
        subprocess.run(
            ["gpgconf", "--kill", "gpg-agent"],
            env={**os.environ, "GNUPGHOME": str(self._home)}, check=True, timeout=60,
        )  # fmt: skip


@contextmanager
def served(archive: Archive) -> Iterator[str]:
    """Serve the archive while the block runs; yield the address of its folder debian."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = partial(Quiet, directory=str(archive.files))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/debian"
        finally:
            server.shutdown()


def own_apt(folder: Path, sources: str) -> Mapping[str, str]:
    """Return environment variables that limit apt to this folder's settings, sources and lists."""
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(sources)
    config = folder / "apt.conf"
    config.write_text(
        'Dir::Etc::Main "/dev/null"; Dir::Etc::Parts "/dev/null";\n'
        'Dir::Etc::SourceParts "/dev/null"; APT::Architecture "amd64";\n'
        f'Dir::Etc::SourceList "{folder}/sources.list"; Dir::State "{folder}/state";\n'
        f'Dir::State::Status "{folder}/status"; Dir::Cache "{folder}/cache";\n'
        'APT::Sandbox::User "root"; Acquire::Languages "none";\n'
    )
    return {"APT_CONFIG": str(config)}
