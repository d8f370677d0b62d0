# SPDX-License-Identifier: GPL-2.0-or-later
"""Where functions lie, against what nm says; and which names are refused, with a sentence."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from duet.base.errors import DuetError, InfraError, InputError
from duet.lenses.scope import functions_text
from duet.lenses.scope.client import plugin_api
from duet.lenses.scope.symbols import static_names, variable_ranges

SOURCE = """
#define KEEP __attribute__((noinline, noipa, used))
volatile int total;
static inline __attribute__((always_inline)) void walk_inlined(int by) { total += by; }
KEEP int walk(int by) { walk_inlined(by); return total; }
KEEP void walk_part(void) __asm__("walk.part.0");
KEEP void walk_part(void) { total++; }
KEEP void walk_cold(void) __asm__("walk.cold");
KEEP void walk_cold(void) { total--; }
KEEP void half(void) __asm__("half.part.0.constprop.1");
KEEP void half(void) { total = 3; }
KEEP void clone(void) __asm__("clone.isra.0");
KEEP void clone(void) { total = 4; }
KEEP void walker(void) { total = 5; }
extern void stroller(void) __attribute__((alias("walker")));
KEEP void leave(void) { total = 6; }
int main(void) { return 0; }
"""
STATIC = "static __attribute__((noinline, used)) int common(void) { return %d; }\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranges")
    (folder / "a.c").write_text(SOURCE + STATIC % 1)
    (folder / "b.c").write_text(STATIC % 2)
    sources = [folder / "a.c", folder / "b.c"]
    command = ["gcc", "-g", "-O2", "-no-pie", "-o", folder / "a", *sources]
    subprocess.run(command, check=True, timeout=60)
    return folder / "a"


@pytest.fixture(scope="module")
def places(program: Path) -> dict[str, str]:
    """Symbol -> "LOW HIGH", as nm has it."""
    listed = subprocess.run(
        ["nm", "-S", program], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    rows = [line.split() for line in listed.splitlines() if len(line.split()) == 4]
    return {name: f"{int(at, 16):x} {int(at, 16) + int(size, 16):x}" for at, size, _, name in rows}


def test_parts_belong_to_their_function_and_the_entry_comes_first(
    program: Path, places: dict[str, str]
) -> None:
    text = functions_text(program, ["walk", "half", "clone"], "walk", "leave")
    assert text.splitlines() == [
        "microscope 1",
        f"function walk {places['walk']}",
        f"function walk {places['walk.cold']}",
        f"function walk {places['walk.part.0']}",
        f"function half {places['half.part.0.constprop.1']}",
        f"function clone {places['clone.isra.0']}",
        "operation walk",
        f"switch {places['leave'].split()[0]}",
    ]
    assert "operation" not in functions_text(program, ["walk"], None, None)
    assert functions_text(program, ["clone"], "clone", None).endswith("operation clone\n")
    both = functions_text(program, ["clone", "walk"], "clone", None, "walk")
    assert both.endswith("operation clone\nuntil walk\n")
    with pytest.raises(InputError, match="'leave' is not among the microscope's functions"):
        functions_text(program, ["clone", "walk"], "clone", None, "leave")


@pytest.mark.parametrize(
    ("functions", "operation", "sentence", "remedy"),
    [
        (["walk_inlined"], None, "no entry point in this kernel: the compiler inlined it", "walk"),
        (["walke"], None, "this kernel has no function 'walke'", "Near names: walk, walker"),
        (["half"], "half", "'half' has no entry point in this kernel", ""),
        (
            ["common"],
            None,
            "this kernel has 2 functions called 'common'",
            "Instead, name the functions that call this function",
        ),
        (["walk", "walk"], None, "was given the function 'walk' twice", ""),
        (["walker", "stroller"], None, "'stroller' also as 'walker', which is the same", ""),
        (["walk"], "walker", "the operation 'walker' is not among the microscope's functions", ""),
        ([], None, "takes 1 to 256 functions, not 0", ""),
        (["walk"] * 257, None, "takes 1 to 256 functions, not 257", ""),
        (["wa lk\n"], None, "this kernel has no function 'wa lk", ""),
    ],
)
def test_a_bad_choice_is_refused(
    program: Path, functions: Sequence[str], operation: str | None, sentence: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=sentence) as refused:
        functions_text(program, functions, operation, None)
    assert remedy in refused.value.remedy


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(58), b"text" * 99])
def test_what_is_no_kernel_is_said_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vmlinux").write_bytes(content)
    with pytest.raises(InfraError, match=r"symbols of .*vmlinux cannot be read"):
        functions_text(tmp_path / "vmlinux", ["dput"], None, None)
    with pytest.raises(InfraError, match="cannot be read"):
        functions_text(tmp_path / "absent", ["dput"], None, None)


def test_each_qemu_gets_its_own_interface() -> None:
    versions = ("6.0.0", "7.2.22", "8.2.10", "9.0.2", "9.1", "10.2.0")
    assert [plugin_api(version) for version in versions] == [1, 1, 1, 2, 3, 3]
    for version in ("5.2.0", "unknown", ""):
        with pytest.raises(DuetError, match=rf"6\.0 or newer, not version '{version}'"):
            plugin_api(version)


def test_variables_are_named_with_the_byte_in_them(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text(
        "long files_stat[3] = {1}; static char one = 1; int main(void) { return one; }"
    )
    base = ["-static", "-nostdlib", "-Wl,-e,main", "-mcmodel=kernel"]
    place = ["-no-pie", "-Wl,-Ttext=0xffffffff81000000,-Tdata=0xffffffff82000000"]
    command = ["gcc", "-O0", "-fno-pie", *base, *place, "-o", tmp_path / "k", source]
    subprocess.run(command, check=True, timeout=60)
    listed = subprocess.run(["nm", tmp_path / "k"], capture_output=True, text=True, check=True)
    at = {row.split()[2]: int(row.split()[0], 16) for row in listed.stdout.splitlines()}
    stat, one = at["files_stat"], at["one"]
    asked = [stat, stat + 8, one, at["main"], 0x1000, stat - 4096]
    assert static_names(tmp_path / "k", asked) == {
        **{stat: "files_stat", stat + 8: "files_stat+0x8", one: "one"}
    }
    assert variable_ranges(tmp_path / "k", "files_stat") == ((stat, stat + 24),)
    with pytest.raises(InputError, match="no variable 'file_stat'") as caught:
        variable_ranges(tmp_path / "k", "file_stat")
    assert caught.value.remedy == "Near names: files_stat."


def test_a_variable_of_each_cpu_has_no_line_of_its_own(program: Path) -> None:
    with pytest.raises(InputError, match="'total' is a per-CPU variable"):
        variable_ranges(program, "total")  # below the kernel's half, where per-CPU symbols are
