# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events of a small program that is laid out as a kernel is."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

import pytest

from duet.kernels.image import KernelImage
from duet.kernels.traceable import TraceEvent, is_too_wide, number_fields, trace_events

SOURCE = """
struct trace_event_class { const char *system; void *probe; };
struct trace_event_call { long list[2]; struct trace_event_class *class; };
struct trace_event_raw_toy_made {
	long ent; int number; void *place; char comm[16]; char __data[]; };
struct trace_event_raw_toy_made *used;
struct trace_event_raw_full { long ent; FULL char __data[]; } *full;
struct trace_event_raw_wide { long ent; FULL int one_more; char __data[]; } *wide;
static struct trace_event_class event_class_toy_made = { "toy", 0 };
static struct trace_event_call event_toy_made __attribute__((used)) =
	{ .class = &event_class_toy_made };
static struct trace_event_call event_toy_gone __attribute__((used)) =
	{ .class = &event_class_toy_made };
static struct trace_event_class event_class_ftrace_print = { "ftrace", 0 };
static struct trace_event_call event_print __attribute__((used)) =
	{ .class = &event_class_ftrace_print };
struct trace_event_call event_in_bss;
void event_triggers_call(void) { for (;;) used->number++; }
void _start(void) { event_triggers_call(); }
"""
SOURCE = SOURCE.replace("FULL", " ".join(f"int f{number};" for number in range(48)))
MADE = TraceEvent("toy", "toy_made", "toy_made")


@pytest.fixture(params=["dD", "tT"], ids=["6.1", "7.3"])
def image(request: pytest.FixtureRequest, tmp_path: Path) -> KernelImage:
    """Its System.map calls variables of .data by one of these letters."""
    made, text = tmp_path / "vmlinux", tmp_path / "kernel.c"
    text.write_text(SOURCE)
    flags = ["-g", "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pic", "-ffreestanding"]
    subprocess.run(["gcc", *flags, "-o", made, text], check=True, timeout=60)
    listed = subprocess.run(["nm", made], capture_output=True, text=True, check=True, timeout=60)
    small, large = request.param
    lines = listed.stdout.replace(" d ", f" {small} ").replace(" D ", f" {large} ")
    (tmp_path / "System.map").write_text(lines)
    return cast(KernelImage, type("Image", (), {"folder": tmp_path, "vmlinux": made}))


def test_events_are_found_whatever_letter_their_symbols_have(image: KernelImage) -> None:
    assert trace_events(image) == (TraceEvent("toy", "toy_gone", "toy_made"), MADE)
    assert number_fields(image, MADE, 6) == ("number", "place")
    assert not is_too_wide(image, TraceEvent("toy", "full", "full"))
    assert is_too_wide(image, TraceEvent("toy", "wide", "wide")), "the decoder would end the lane"
