# SPDX-License-Identifier: GPL-2.0-or-later
"""Collect a trial's kernels: bases, source trees, prebuilt kernels, and patches on them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

import yaml

from duet.base.errors import InputError
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.bases import FILE, Base, base_folders, find_base
from duet.kernels.changed import EditedFile, edited_files
from duet.kernels.image import ANOTHER, SameKernel, same_kernel
from duet.kernels.kbuild import hiding_option, missing_option, new_options
from duet.kernels.prebuilt import BUILT_AT, BZIMAGE, VMLINUX, Prebuilt, read_prebuilt
from duet.kernels.recipe import ArmSpec, patch_diff, read_options
from duet.kernels.source import NoSource, find_tarball
from duet.kernels.tree import WorkTree
from duet.measure.reports.text import source_words
from duet.trials.mails import Patch, read_patches
from duet.trials.spec import Trial, TrialArm, TrialBase, plain_name
from duet.trials.trees import (
    TreeStore,
    check_source,
    config_words,
    folder_and_ref,
    nearest_fragments,
    path_name,
    read_config,
    tarball_base,
    tree_base,
)

# Detect kernels that are the same build, and say why. A verdict on such kernels would be noise.
#
# Patches that obviously change no kernel are found before anything is built. For other patches, the
# built kernels are compared (duet.kernels.image).

MOST_REASONS: Final = 3
TEXTS: Final = ("Documentation", "LICENSES", "samples", "tools/testing", "tools/perf")
"""Folders whose files never become part of a kernel."""
FILES: Final = ("MAINTAINERS", "CREDITS", "COPYING", "README", ".mailmap", ".clang-format")
ENDINGS: Final = (".rst", ".md", ".gitignore", ".gitattributes", ".editorconfig")
SOURCES: Final = (".c", ".S", ".h")


def same_source(edited: Sequence[EditedFile]) -> str:
    """Return why two sources always give the same kernel, or "" if the kernels may differ."""
    reasons = [_of_text(one) for one in edited]
    return _joined(reasons) if edited and all(reasons) else ""


def unbuilt(
    edited: Sequence[EditedFile], tree: WorkTree, config: Mapping[str, str]
) -> tuple[str, str]:
    """Return why a kernel contains none of its patches' changes, and the option that would help.

    Return ("", "") if the kernel may contain some of the changes.

    Args:
        tree: work tree in which the kernel was compiled.
        config: the kernel's options by names with CONFIG_.
    """
    found = _reasons(edited, tree, config)
    return _best(found) if found and all(reason for reason, _ in found) else ("", "")


def why_same(
    edited: Sequence[EditedFile], tree: WorkTree | None, config: Mapping[str, str]
) -> tuple[str, str]:
    """Return the likely reason why two kernels are identical, and the option that would help."""
    found = _reasons(edited, tree, config) if tree is not None and tree.src.is_dir() else []
    if known := [one for one in found if one[0]]:
        return _best(known)
    names = [one.name for one in edited]
    if not names:
        return "no code or data differs between them", ""
    return f"the compiler generates the same code from {_list(names)}", ""


def _reasons(
    edited: Sequence[EditedFile], tree: WorkTree, config: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return for each file why its change is not in the kernel, and the option that would help."""
    behind = tree.behind([one.name for one in edited])
    return [
        (reason, "") if (reason := _of_text(one)) else _of_build(one, tree.src, config, behind)
        for one in edited
    ]


def _best(found: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Join the reasons, those with an option first. Also return the first reason's option."""
    ordered = sorted(found, key=lambda one: not one[1])
    return _joined(reason for reason, _ in ordered), ordered[0][1]


def same_error(arms: Sequence[str], reason: str, option: str = "") -> SameKernel:
    """Return the error for a trial without two different kernels to compare.

    Args:
        option: config option that would make the kernels differ; "" if unknown.
    """
    remedy = ANOTHER
    if option:
        name = option.removeprefix("CONFIG_")
        remedy = f"Enable it in both kernels with --config {name}=y."
    return SameKernel(f"{same_words(arms, reason)}.", remedy=remedy)


def same_words(arms: Sequence[str], reason: str) -> str:
    """Return a sentence, without full stop, about kernels that are the same build."""
    who = f"all {len(arms)} kernels" if len(arms) > 2 else "both kernels"
    return f"{who} ({', '.join(arms)}) are the same build, because {reason}"


def _of_text(one: EditedFile) -> str:
    """Return why the change to this file affects no kernel, or "" if it may affect a kernel."""
    path = PurePosixPath(one.name)
    if one.name.startswith(tuple(f"{top}/" for top in TEXTS)) or path.name in FILES:
        return f"{one.name} is not part of a kernel"
    if path.name.endswith(ENDINGS):
        return f"{one.name} is not part of a kernel"
    if one.same_text:
        return f"only the mode of {one.name} has changed"
    if one.same_code:
        return f"only comments or blanks in {one.name} have changed"
    return ""


def _of_build(
    one: EditedFile, src: Path, config: Mapping[str, str], behind: Mapping[str, Iterable[str]]
) -> tuple[str, str]:
    """Return why the change to this file is not in a kernel, and the option that would help."""
    path = PurePosixPath(one.name)
    if path.name.startswith("Kconfig"):
        fresh = new_options(one.before or "", one.after or "")
        off = [name for name in fresh if config.get(name, "n") == "n"]
        if off and len(off) == len(fresh):
            return f"its new option {off[0]} is off", off[0]
        return "", ""
    if path.suffix not in SOURCES:
        return "", ""
    if not behind.get(one.name):
        if path.suffix == ".h":
            return f"no file that this configuration compiles includes {one.name}", ""
        option = missing_option(src, one.name, config)
        wants = f" (it needs {option})" if option else ""
        return f"this configuration does not compile {one.name}{wants}", option
    gone, fresh_lines = one.changed_lines()
    places = [(one.before or "", gone), (one.after or "", fresh_lines)]
    hidden = [hiding_option(text, lines, config) for text, lines in places if lines]
    if hidden and all(option for option, _ in hidden):
        option, on = hidden[0]
        state = "off" if on else "on"
        directive = "#ifdef" if on else "#ifndef"
        why = f"the changed lines of {one.name} are under {directive} {option}, which is {state}"
        return why, option if on else ""
    return "", ""


def _joined(reasons: Iterable[str]) -> str:
    return " and ".join(list(dict.fromkeys(reasons))[:MOST_REASONS])


def _list(names: Sequence[str]) -> str:
    more = " and others" if len(names) > MOST_REASONS else ""
    return ", ".join(names[:MOST_REASONS]) + more


# Drop those of a trial's kernels that are the same build as an earlier kernel.

Find = Callable[[str, str], tuple[bool, str, str]]
"""Function from two arms to (whether they are the same kernel, why, option that would make them
differ).
"""


def by_source(specs: Mapping[str, ArmSpec], settings: KernelSettings) -> Find:
    """Return a Find that compares the kernels' sources, before any kernel is built."""

    def find(one: str, other: str) -> tuple[bool, str, str]:
        if specs[one].base != specs[other].base:
            return False, "", ""
        reason = same_source(edited_files(specs[other], specs[one], settings))
        return bool(reason), reason, ""

    return find


def by_build(
    specs: Mapping[str, ArmSpec], images: Mapping[str, KernelImage], settings: KernelSettings
) -> Find:
    """Return a Find that compares the built kernels."""

    def find(one: str, other: str) -> tuple[bool, str, str]:
        if not same_kernel(images[one], images[other]):
            return False, "", ""
        spec, image = specs[other], images[other]
        edited: Sequence[EditedFile] = edited_files(spec, specs[one], settings)
        config = read_options(image.config.read_text(encoding="utf-8", errors="replace"))
        built_here = settings.base_of(spec).source.kind != "image"
        tree = settings.tree(*_place(spec, settings)) if built_here else None
        return True, *why_same(edited, tree, config)

    return find


def unchecked(
    trial: Trial,
    specs: Mapping[str, ArmSpec],
    settings: KernelSettings,
    images: Mapping[str, KernelImage] | None = None,
) -> dict[str, tuple[str, str]]:
    """Return the arms whose kernels contain none of their patches' changes.

    The result maps an arm to (the reason, the option that would help).

    Args:
        images: images of the kernels; None if they are not built yet.
    """
    found = {}
    for arm in trial.arms[1:]:
        spec = specs[arm.name]
        edited = edited_files(spec, specs[trial.arms[0].name], settings)
        reason, option = same_source(edited), ""
        if not reason and edited and images is not None:
            text = images[arm.name].config.read_text(encoding="utf-8", errors="replace")
            tree = settings.tree(*_place(spec, settings))
            reason, option = unbuilt(edited, tree, read_options(text))
        if reason:
            found[arm.name] = (reason, option)
    return found


def _place(spec: ArmSpec, settings: KernelSettings) -> tuple[Base, str | None, str]:
    base = settings.base_of(spec)
    return base, spec.config, settings.tarball(base).sha256


def distinct(trial: Trial, find: Find) -> Trial:
    """Drop each kernel that is the same build as an earlier kernel. Report it in `said`.

    Raises:
        SameKernel: no kernel is left to compare with the first.
    """
    kept = [trial.arms[0]]
    said: list[str] = []
    first: tuple[str, str] | None = None
    for arm in trial.arms[1:]:
        for one in kept:
            same, reason, option = find(one.name, arm.name)
            if same:
                said.append(f"{same_words([one.name, arm.name], reason)}; {arm.name} is left out")
                first = first or (reason, option)
                break
        else:
            kept.append(arm)
    if len(kept) < 2 and first is not None:
        raise same_error([arm.name for arm in trial.arms], *first)
    return replace(trial, arms=tuple(kept), said=(*trial.said, *said)) if said else trial


# Create a base for each prebuilt kernel of a trial. The base has links to the kernel's files.


def built_kernels(
    given: Sequence[Path], vmlinux: Sequence[Path], folder: Path
) -> list[tuple[TrialBase, TrialArm]]:
    """Return the arms of --kernel, each with its base.

    Args:
        given: bzImage files or build folders.
        vmlinux: ELF files in the same order. If empty, the files are looked up where a build puts
            them.
        folder: folder for links to the files, and for configs.

    Raises:
        InputError: a kernel cannot be used, or there are not as many --vmlinux as --kernel.
    """
    if vmlinux and len(vmlinux) != len(given):
        raise InputError(
            f"wanted one --vmlinux for each --kernel, but got {len(vmlinux)} for {len(given)}.",
            remedy="Give each --vmlinux in the order of --kernel, or leave --vmlinux out.",
        )
    found = []
    for number, path in enumerate(given):
        kernel = read_prebuilt(path, vmlinux[number] if vmlinux else None)
        base = _base(kernel, folder)
        name = plain_name(_title(kernel))
        about = f"Linux {kernel.version}, built elsewhere"
        found.append((base, TrialArm(name, _title(kernel), about, (), base.name)))
    return found


def _title(kernel: Prebuilt) -> str:
    """Return a title for a prebuilt kernel: the name of its build folder or of its file."""
    if kernel.bzimage.match(str(BUILT_AT)):
        return kernel.bzimage.parents[3].name
    if kernel.bzimage.name == BZIMAGE:
        return kernel.bzimage.parent.name
    return kernel.bzimage.name


def _base(kernel: Prebuilt, folder: Path) -> TrialBase:
    name = path_name(kernel.bzimage.with_name(_title(kernel)))
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for link, file in ((BZIMAGE, kernel.bzimage), (VMLINUX, kernel.vmlinux)):
        (place / link).unlink(missing_ok=True)
        (place / link).symlink_to(file)
    config = place / "config"
    config.write_text(kernel.config, encoding="utf-8")
    series = ".".join(kernel.version.split(".")[:2])
    about = f"Linux {kernel.version}, built elsewhere"
    return TrialBase(name, about, series, {"image": str(place)}, (config,))


MOST_SHOWN = 3
"""Maximum number of options in a base's description."""


@dataclass(frozen=True, slots=True)
class KernelArguments:
    """The options that name a trial's kernels on the command line; see `duet try --help`."""

    base: str = ""
    trees: tuple[Path, ...] = ()
    kernels: tuple[Path, ...] = ()
    vmlinux: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    """Patches that every kernel carries."""
    config: tuple[str, ...] = ()
    """Config options that every kernel gets, or files with such options."""


def trial_kernels(
    asked: KernelArguments,
    series: list[tuple[str, tuple[Patch, ...]]],
    folder: Path,
    patches_dir: Path,
    say: Callable[[str], None],
) -> tuple[list[TrialBase], list[TrialArm]]:
    """Return the trial's own bases and its arms. The arm without a patch comes first.

    Args:
        series: name and patches of each patched kernel.
        folder: folder of all trials.
        patches_dir: kernel-patches of the checkout.
        say: called with sentences for the user about what was read.

    Raises:
        InputError: a source cannot be used, or arguments contradict each other.
    """
    if asked.base and asked.trees:
        raise InputError(
            "--base and --tree both name the source.", remedy="Leave out --base or --tree."
        )
    if (series or asked.shared) and asked.kernels:
        raise InputError(
            "a patch needs kernel source, but --kernel names a prebuilt kernel.",
            remedy="Name the kernel's source with --tree, or leave the patch out.",
        )
    if asked.config and asked.kernels:
        raise InputError(
            "a config option needs kernel source, but --kernel names a prebuilt kernel.",
            remedy="Name the kernel's source with --tree, or leave --config out.",
        )
    bases, arms = _sources(asked, folder, patches_dir, say)
    if options := tuple(sorted(read_config(asked.config).items())):
        bases = bases or [_own_base(asked.base, patches_dir, options)]
        bases = [replace(base, asked=options) for base in bases]
        arms = [replace(arm, base=arm.base or bases[0].name) for arm in arms]
    shared = tuple(patch for path in asked.shared for patch in read_patches(path, say))
    arms = [replace(arm, patches=(*arm.patches, *shared)) for arm in arms]
    base = arms[0].base
    for stem, patches in series:
        title = _arm_name(stem, arms)
        about = patches[0].subject if len(patches) == 1 else f"{len(patches)} patches"
        whole = (*arms[0].patches, *patches)
        arms.append(TrialArm(title, title, about[:120], whole, base, arms[0].source))
    return bases, arms


def _sources(
    asked: KernelArguments, folder: Path, patches_dir: Path, say: Callable[[str], None]
) -> tuple[list[TrialBase], list[TrialArm]]:
    """Return the bases and arms of --base, --tree and --kernel, without command-line patches."""
    bases: list[TrialBase] = []
    arms: list[TrialArm] = []
    if asked.base or not (asked.trees or asked.kernels):
        bases, arms = _named_base(asked.base, patches_dir)
    elif asked.trees:
        bases, arms = _trees(asked, folder, patches_dir, say)
    for base, arm in built_kernels(asked.kernels, asked.vmlinux, folder / "sources"):
        name = _arm_name(arm.name, arms)
        bases.append(base)
        arms.append(replace(arm, name=name))
    return bases, arms


def _trees(
    asked: KernelArguments, folder: Path, patches_dir: Path, say: Callable[[str], None]
) -> tuple[list[TrialBase], list[TrialArm]]:
    """Return the bases and arms of the source trees that --tree names."""
    for path in asked.trees:
        check_source(path)
    home, _ = folder_and_ref(asked.trees[0])
    store = TreeStore(folder / "sources" / f"{path_name(home)}.git")
    trees = [store.add(path) for path in asked.trees]
    first = trees[0]
    bases = [tree_base(first, store, patches_dir)]
    own = store.own_changes(first)
    name, facts = _arm_name(first.name, []), first.facts(len(own))
    arms = [TrialArm(name, first.name, first.about, own, bases[0].name, facts)]
    for path, tree in zip(asked.trees[1:], trees[1:], strict=True):
        arm = _arm_name(tree.name, arms)
        if tree.series == first.series:
            patches = (*own, store.patch(first, tree))
            facts = tree.facts(len(patches))
            arms.append(TrialArm(arm, arm, tree.about, patches, bases[0].name, facts))
            if sentence := config_words(first, tree, nearest_fragments(first.series, patches_dir)):
                say(sentence)
        else:
            own_name = path_name(tree.folder)
            if any(base.name == own_name for base in bases):  # two releases from one repository
                own_name = f"{own_name}-{tree.series.replace('.', '-')}"
            other = TreeStore(folder / "sources" / f"{own_name}.git")
            tree = other.add(path)
            bases.append(replace(tree_base(tree, other, patches_dir), name=own_name))
            patches = other.own_changes(tree)
            facts = tree.facts(len(patches))
            arms.append(TrialArm(arm, arm, tree.about, patches, bases[-1].name, facts))
    return bases, arms


def _named_base(given: str, patches_dir: Path) -> tuple[list[TrialBase], list[TrialArm]]:
    path = Path(given).expanduser() if given else None
    if given in ("", *base_folders(patches_dir)):
        base = find_base(given or None, patches_dir)
        about = base.about.rstrip(".")
        return [], [TrialArm("stock", f"stock {base.series}", about, (), given or None)]
    assert path is not None
    if path.is_file():
        own = tarball_base(path, patches_dir)
        if known := _known_base(path, own, patches_dir):
            return _named_base(known, patches_dir)
        return [own], [TrialArm("stock", f"stock {own.series}", own.about, (), own.name)]
    raise InputError(
        f"there is no base and no tarball '{given:.80}'.",
        remedy=f"Choose from {', '.join(base_folders(patches_dir))}, or name a linux-*.tar.xz. "
        "Name a source tree with --tree.",
    )


def _known_base(path: Path, own: TrialBase, patches_dir: Path) -> str:
    """Return the base whose source is this tarball, and whose configuration it would get, or "".

    The trial then shares the compiled tree and the kernels of that base.
    """
    settings = KernelSettings.default()
    for name in base_folders(patches_dir):
        base = find_base(name, patches_dir)
        fragments = tuple(each.resolve() for each in base.fragments)
        if base.source.kind != "tarball" or (base.series, fragments) != (own.series, own.config):
            continue
        with contextlib.suppress(NoSource):
            given = find_tarball(base, path, settings.cache)
            if given.sha256 == settings.tarball(base).sha256:
                return name
    return ""


def _own_base(given: str, patches_dir: Path, options: tuple[tuple[str, str], ...]) -> TrialBase:
    """Return a copy of a base with more config options, but the same source and work tree."""
    base = find_base(given or None, patches_dir)
    folder = base_folders(patches_dir)[base.name]
    source = yaml.safe_load((folder / FILE).read_text(encoding="utf-8"))["source"]
    source[base.source.kind] = str(KernelSettings.default().given(base) or base.source.path)
    words = ", ".join(f"{name}={value}" for name, value in options[:MOST_SHOWN])
    more = " and others" if len(options) > MOST_SHOWN else ""
    digest = hashlib.sha256(repr(options).encode()).hexdigest()[:6]
    return TrialBase(
        f"{plain_name(base.name)}-{digest}",
        f"{base.about.rstrip('.')}, with {words}{more}",
        base.series,
        source,
        tuple(path.resolve() for path in base.fragments),
        like=base.folder.name,
    )


def _arm_name(text: str, arms: list[TrialArm]) -> str:
    """Return a name that no other arm has."""
    name = plain_name(text)
    while any(arm.name == name for arm in arms):
        name += "-2"
    return name


# Describe where a trial's kernel comes from: its source tree and its patches.

SHORT = 12
"""Number of hash digits that are shown."""


def diff_sha256(patch: Patch) -> str:
    return hashlib.sha256(patch_diff(patch.text()).encode()).hexdigest()


def origins(arm: TrialArm) -> tuple[str, ...]:
    """Return one line for the source tree, if any, and one for each patch."""
    tree = [source_words(arm.source)] if arm.source is not None else []
    return (*tree, *(_words(patch) for patch in arm.patches))


def _words(patch: Patch) -> str:
    commit = f"commit {patch.commit[:SHORT]}, " if patch.commit else ""
    return f"“{patch.subject}”: {commit}sha256 of the diff {diff_sha256(patch)[:SHORT]}"
