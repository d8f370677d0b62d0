# SPDX-License-Identifier: GPL-2.0-or-later
"""The image of pods, which has folders alone, and the mounts that fill it from this machine.

What the Dockerfile says of user and environment holds in it, too.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from typing import Any, Final

from duet.base.settings import repo_root

NAME: Final = "localhost/kernel-duet-test:1"
PAUSE: Final = "localhost/pause-test:1"
FOLDERS: Final = ("proc", "sys", "dev", "run", "etc", "usr", "duet", "home", "var", "opt", "root")
LINKS: Final = ("bin", "sbin", "lib", "lib64")
"""Of /usr, or folders of their own on systems that were not merged."""
OF_ETC: Final = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d")
PAUSE_PROGRAM: Final = "/bin/sleep"
LDD_S: Final = 20.0
"""Of ldd. Usual: 20 ms."""
DUET_USER: Final = 10001
PASSWD: Final = f"root:x:0:0::/root:/bin/sh\nduet:x:{DUET_USER}:{DUET_USER}::/home/duet:/bin/sh\n"
Tree = dict[str, Any]


def archive(path: Path) -> None:
    """Write both images, as an archive of the Open Container Initiative's layout."""
    layer = _layer()
    with tarfile.open(path, "w") as tar:
        manifests = [
            _image(
                tar, layer, NAME, {"User": "duet", "WorkingDir": "/duet", "Env": _environment()}
            ),
            _image(tar, layer, PAUSE, {"Cmd": [PAUSE_PROGRAM, "infinity"]}),
        ]
        index = {"schemaVersion": 2, "manifests": manifests}
        _add(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        _add(tar, "index.json", json.dumps(index).encode())


def mounts(folder: Path) -> list[Tree]:
    """What of this machine is in each container, to be read alone.

    Args:
        folder: for a file that is mounted.
    """
    root = repo_root()
    pairs = [("/usr", "/usr"), (str(root), "/duet")]
    pairs += [(f"/{name}", f"/{name}") for name in LINKS if not Path(f"/{name}").is_symlink()]
    pairs += [(f"/etc/{name}", f"/etc/{name}") for name in OF_ETC if Path(f"/etc/{name}").exists()]
    if not sys.base_prefix.startswith("/usr/") or sys.base_prefix.startswith("/usr/local"):
        pairs.append((sys.base_prefix, sys.base_prefix))
    # The environment's link to the sources has the path of this machine.
    for link in Path(sysconfig.get_path("purelib")).glob("*.pth"):
        if str(root) in (text := link.read_text()):
            own = folder / link.name
            own.write_text(text.replace(str(root), "/duet"))
            pairs.append((str(own), f"/duet/{link.relative_to(root)}"))
    return [
        {"destination": to, "type": "bind", "source": at, "options": ["rbind", "ro"]}
        for at, to in pairs
    ]


def _environment() -> list[str]:
    """Of the Dockerfile."""
    text = (repo_root() / "Dockerfile").read_text()
    said = re.findall(r"^ENV (.*)$", text, re.MULTILINE)
    return ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", *" ".join(said).split()]


def _layer() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name in FOLDERS:
            _folder(tar, name)
        _folder(tar, "tmp", mode=0o1777)
        for name in ("home/duet", "cache"):
            _folder(tar, name, owner=DUET_USER)
        for name in LINKS:
            if not Path(f"/{name}").is_symlink():
                _folder(tar, name)
                continue
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
        for path in _pause():  # containerd mounts nothing of ours in what holds a pod's namespaces
            to = path.parent.resolve() / path.name
            _add(tar, str(to).lstrip("/"), path.read_bytes(), mode=0o755)
        _add(tar, "etc/passwd", PASSWD.encode())
        _add(tar, "etc/group", f"root:x:0:\nduet:x:{DUET_USER}:\n".encode())
    return made.getvalue()


def _folder(tar: tarfile.TarFile, name: str, mode: int = 0o755, owner: int = 0) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, mode, owner, owner
    tar.addfile(entry)


def _pause() -> list[Path]:
    """A program that does nothing, and the libraries that it needs."""
    words = ["ldd", PAUSE_PROGRAM]
    said = subprocess.run(words, capture_output=True, text=True, timeout=LDD_S, check=True).stdout
    return [Path(PAUSE_PROGRAM), *(Path(found) for found in re.findall(r"(/\S+)", said))]


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def _image(tar: tarfile.TarFile, layer: bytes, name: str, config: Tree) -> Tree:
    rootfs = {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]}
    whole = {"architecture": "amd64", "os": "linux", "config": config, "rootfs": rootfs}
    oci = "application/vnd.oci.image"
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{oci}.manifest.v1+json",
        "config": _blob(tar, json.dumps(whole).encode(), f"{oci}.config.v1+json"),
        "layers": [_blob(tar, layer, f"{oci}.layer.v1.tar")],
    }
    made = _blob(tar, json.dumps(manifest).encode(), f"{oci}.manifest.v1+json")
    return made | {"annotations": {"io.containerd.image.name": name}}


def _blob(tar: tarfile.TarFile, content: bytes, kind: str) -> Tree:
    digest = hashlib.sha256(content).hexdigest()
    if (path := f"blobs/sha256/{digest}") not in tar.getnames():
        _add(tar, path, content)
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}
