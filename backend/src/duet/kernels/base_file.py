# SPDX-License-Identifier: GPL-2.0-or-later
"""base.yaml: the keys that describe a kernel base."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duet.lessons.schema.base import BaseName, Name, Strict

Suite = Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+)*$")]


class SourceFile(Strict):
    """Where the source comes from: one of tarball, git, tree, image. Relative to base.yaml."""

    package: str = Field(default="", description="Debian package that has the tarball")
    suites: tuple[Suite, ...] = Field(
        default=(),
        description="of Debian's archive that have `package`; the newest version is taken, where"
        " the tarball is not there and this machine's own package lists do not have it",
    )
    tarball: str | None = Field(
        default=None, description="linux-*.tar.*; with `package`: where the package installs it"
    )
    git: str | None = Field(default=None, description="a repository; `ref` says which commit")
    ref: str = Field(default="HEAD", description="commit, tag or branch of `git`")
    tree: str | None = Field(default=None, description="a folder with an unbuilt kernel source")
    image: str | None = Field(
        default=None,
        description="a folder with the bzImage and vmlinux of a kernel that was built elsewhere",
    )


class VariantFile(Strict):
    """Another configuration of a base."""

    about: str = Field(description="what differs, in words")
    config: str = Field(description="a fragment that is read after those of the base")


class BaseFile(Strict):
    """base.yaml."""

    about: str = Field(description="what it is, for a list")
    series: str = Field(pattern=r"^\d+\.\d+$", description='in quotes: version, e.g. "6.12"')
    source: SourceFile = Field(description="one of tarball, git, tree, image")
    config: tuple[str, ...] = Field(
        default=(), description="fragments over allnoconfig, in order; or those of `like`"
    )
    variants: dict[Name, VariantFile] = Field(
        default_factory=dict, description="further configurations, by name"
    )
    like: BaseName | None = Field(
        default=None,
        description="the base for which its patches are written: its config, its both/ and those "
        "of lessons are used",
    )
    lenient: bool = Field(
        default=False,
        description="options of `config` that this source does not have, or not so, are left out,"
        " but for those that guests need; else they fail the build",
    )
    default: bool = Field(default=False, description="the base of arms that name none")
