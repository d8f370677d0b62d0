# SPDX-License-Identifier: GPL-2.0-or-later
"""Options without which a guest does not boot, cannot be reached or cannot be traced.

A base that is `lenient` may lack any other option of its configuration, but those that somebody
asked for by name.
"""

from __future__ import annotations

import re

ASKED = "asked.config"
"""The file of a configuration that has the latter."""
OF_TOOLS = re.compile(
    r"CONFIG_(?:CC|GCC\d*|CLANG|AS|LD|LLD|PAHOLE|RUSTC|BINDGEN|TOOLS_SUPPORT)_|CONFIG_BUILD_SALT$"
)
"""What Kconfig finds out of compilers and linkers; here they are those of this machine."""
NEEDED = frozenset(
    f"CONFIG_{name}"
    for name in (
        # the machine: x86-64 under QEMU, its console, its initramfs
        *("64BIT", "SMP", "ACPI", "PCI", "BLK_DEV_INITRD", "TTY", "PRINTK"),
        *("SERIAL_8250", "SERIAL_8250_CONSOLE"),
        # the agent's ports and the scratch disks
        *("VIRTIO_PCI", "VIRTIO_CONSOLE", "VIRTIO_BLK"),
        # what init, busybox and the agent call
        *("BINFMT_ELF", "BINFMT_SCRIPT", "MULTIUSER", "PROC_FS", "SYSFS", "TMPFS", "SHMEM"),
        *("DEVTMPFS", "FUTEX", "EPOLL", "SIGNALFD", "TIMERFD", "EVENTFD", "POSIX_TIMERS"),
        # trace events and kprobes
        *("FTRACE", "FUNCTION_TRACER", "DYNAMIC_FTRACE", "KPROBES", "KPROBE_EVENTS", "KALLSYMS"),
        # System.map holds, and drgn can read
        *("RANDOMIZE_BASE", "JUMP_LABEL", "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT"),
    )
)
