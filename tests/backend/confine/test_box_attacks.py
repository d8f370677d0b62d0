# SPDX-License-Identifier: GPL-2.0-or-later
"""The attack suite: what a patch may try against the host, each refused or contained.

Refused: the patch itself is turned down (kernels/diffs.py), unless the operator allows more.
Contained: the build runs in a box, for real, and what it tries has no effect outside.
The table of docs/SANDBOX.md has one row for each.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from duet.confine import BoxEnded
from duet.confine.control_groups import Group
from duet.kernels.diffs import PatchRefused, check_patch
from tests.support.small_tree import (
    LIMITS,
    MAIN,
    MAKEFILE,
    NEEDS_BOX,
    box_processes,
    build,
    digest,
    make_tree,
)

SECRET = "duet-secret-of-the-host"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the host that anybody may read, beside the tree and in /etc's place."""
    path = tmp_path / "secret.h"
    path.write_text(f'char *leaked = "{SECRET}";\n')
    return path


def new_file(name: str, mode: str = "100644") -> str:
    """A patch that makes a file."""
    head = f"diff --git a/{name} b/{name}\nnew file mode {mode}\n--- /dev/null\n+++ b/{name}\n"
    return head + "@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize(
    "text",
    [
        new_file("Makefile"),
        new_file("fs/Kconfig"),
        new_file("scripts/run.sh"),
        new_file("fs/run.c", "100755"),
        new_file("fs/link.c", "120000"),
        new_file("fs/module", "160000"),
        new_file("fs/../../out.c"),
        new_file("/etc/cron.d/x.c"),
        new_file("tools/objtool/check.c"),
    ],
)
def test_refused_before_any_build(text: str) -> None:
    with pytest.raises(PatchRefused) as caught:
        check_patch(text)
    assert caught.value.remedy


@NEEDS_BOX
class TestContained:
    """Real builds."""

    @pytest.mark.parametrize(
        "line",
        [
            '#include "{}"',
            'asm(".incbin \\"{}\\"");',
            'asm(".include \\"{}\\"");',
        ],
    )
    @pytest.mark.parametrize("host", ["/etc/passwd", "/etc/shadow", "secret"])
    def test_a_file_of_the_host_is_not_there(
        self, tree: Path, tmp_path: Path, secret: Path, line: str, host: str
    ) -> None:
        path = str(secret) if host == "secret" else host
        done = build(tree, {"main.c": line.format(path) + "\n" + MAIN}, to=tmp_path / "made")
        assert done.failed == "make"
        assert "No such file" in done.tail or "not found" in done.tail, done.tail
        assert SECRET not in done.tail and "root:" not in done.tail

    def test_a_link_leads_nowhere(self, tree: Path, tmp_path: Path, secret: Path) -> None:
        command = f"ln -sf {secret} main.h; ln -s ../../secret.h up.h; cat main.h up.h; "
        command += "ls /root /home /etc/ssh; cat /proc/1/root/etc/shadow; cat /proc/*/environ"
        done = build(tree, command=command)
        assert SECRET not in done.tail and "root:" not in done.tail
        assert done.tail.count("No such file") >= 5

    def test_environment_of_the_server_is_not_there(
        self, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DUET_TOKEN_TEST", SECRET)
        assert SECRET not in build(tree, command="env; cat /proc/*/environ | tr '\\0' '\\n'").tail

    def test_a_huge_macro_ends_at_its_memory(self, tree: Path) -> None:
        lines = ["#define A0 1,"]
        lines += [f"#define A{n} {f'A{n - 1} ' * 16}" for n in range(1, 9)]
        done = build(tree, {"main.c": "\n".join([*lines, "int a[] = { A8 };", MAIN])})
        assert done.failed == "make"
        assert any(word in done.tail for word in ("memory", "Killed", "CPU time")), done.tail

    def test_memory_of_all_processes_together(self, tree: Path) -> None:
        """Each stays below its own bound."""
        with Group(LIMITS.budget()) as group:
            limited = not group.missing
        hog = "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
        hog += "int main(void){memset(malloc(150<<20),1,150<<20);sleep(30);}\n"
        command = "gcc -O0 -o hog hog.c && for i in 1 2 3 4 5 6; do ./hog & done; wait; exit 1"
        said = "more than 384 MiB of memory" if limited else "ran for more than"
        limits = replace(LIMITS, wall_s=60 if limited else 5)
        with pytest.raises(BoxEnded, match=said) as caught:
            build(tree, {"hog.c": hog.replace("30", "3")}, command=command, limits=limits)
        assert caught.value.remedy

    def test_a_fork_bomb_ends_with_its_box(self, tree: Path) -> None:
        bomb = MAKEFILE.replace("\tld", "\t:(){ :|:& };:; sleep 2\n\tld")
        began = time.monotonic()
        limits = replace(LIMITS, wall_s=6)
        try:
            done = build(
                tree, {"Makefile": "SHELL = /bin/bash\n" + bomb}, command="make", limits=limits
            )
            assert "Resource temporarily unavailable" in done.tail or done.failed
        except BoxEnded as ended:
            assert "ran for more than 6 s" in ended.sentence or "printed more" in ended.sentence
        assert time.monotonic() - began < 100
        assert box_processes(tree) == []

    def test_ten_gigabytes_on_the_output(self, tree: Path) -> None:
        with pytest.raises(BoxEnded, match=r"printed more than 1,048,576 bytes"):
            build(tree, command="head -c 10G /dev/zero | tr '\\0' '\\n'")
        with pytest.raises(BoxEnded, match=r"printed more than 1,048,576 bytes"):
            build(tree, command="head -c 10G /dev/zero")

    def test_ten_gigabytes_on_the_disk(self, tree: Path) -> None:
        command = "for i in 1 2 3 4; do head -c 10G /dev/zero > big$i; done; "
        command += "head -c 10G /dev/zero > /tmp/big; head -c 10G /dev/zero > /big; "
        command += "head -c 10G /dev/zero > /dev/shm/big; du -sm . /tmp; exit 1"
        done = build(tree, command=command)
        assert "No space left on device" in done.tail
        assert "Read-only file system" in done.tail or "Permission denied" in done.tail
        assert done.written_bytes <= LIMITS.disk_bytes

    def test_a_million_files(self, tree: Path) -> None:
        done = build(tree, command="seq 1 9999 | xargs touch; ls | wc -l >&2; exit 1")
        assert "No space left on device" in done.tail
        assert int(done.tail.split()[-1]) <= LIMITS.files

    def test_there_is_no_network(self, tree: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            command = f"echo hello > /dev/tcp/127.0.0.1/{port}; ls /sys/class/net"
            done = build(tree, command=f"exec /bin/bash -c '{command}'")
            server.settimeout(0.2)
            with pytest.raises(TimeoutError):  # a connection would wait here
                server.accept()
        assert "Operation not permitted" in done.tail

    def test_an_endless_loop_is_ended(self, tree: Path) -> None:
        began = time.monotonic()
        with pytest.raises(BoxEnded, match="ran for more than 3 s"):
            build(tree, {"Makefile": "X := $(shell sleep 1000)\nall:\n"},
                  limits=replace(LIMITS, wall_s=3))  # fmt: skip
        assert time.monotonic() - began < 60
        done = build(tree, command="while :; do :; done", limits=replace(LIMITS, cpu_s=1))
        assert done.failed == "make" and done.code < 0
        assert box_processes(tree) == []

    def test_a_process_left_behind_ends_with_the_box(self, tree: Path) -> None:
        done = build(tree, command="setsid sleep 987 >/dev/null 2>&1 & exit 1")
        assert done.failed == "make"
        assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x00987" in _read(p)]

    def test_rights_are_gone(self, tree: Path) -> None:
        command = "unshare -Ur id; mount -t tmpfs none /tmp; chown 0 main.c; kill -9 -1; "
        command += "echo 1 > /proc/sys/kernel/panic; echo b > /proc/sysrq-trigger; "
        command += "grep -h -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status; exit 1"
        done = build(tree, command=f"trap '' TERM; {command}")
        if "CapEff" in done.tail:  # kill -1 may end the shell itself
            assert "CapEff:\t0000000000000000" in done.tail
            assert "NoNewPrivs:\t1" in done.tail and "Seccomp:\t2" in done.tail
        assert "uid=0" not in done.tail
        assert os.getpid()

    def test_the_next_build_is_unharmed(self, tree: Path, tmp_path: Path) -> None:
        before = digest(tree)
        evil = "all:\n\trm -rf * /usr/lib/gcc; echo 'int x' > other.c; chmod 0 .; exit 1\n"
        assert build(tree, {"Makefile": evil}).failed == "make"
        assert digest(tree) == before
        assert not build(tree, to=tmp_path / "made").failed


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
