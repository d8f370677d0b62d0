# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch a base's source from its Debian package when a kernel of that base is first built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from duet.base.errors import InputError
from duet.kernels.bases import BOTH, Base
from duet.kernels.compiler import BuildProgress, Phase, ProgressSink
from duet.kernels.recipe import ArmSpec
from duet.kernels.settings import KernelSettings
from duet.kernels.source import NoSource, check_space, fetched_tarball
from duet.kernels.tree import BuildStopped

# Fetch a package with apt. This works for any user, and installs nothing.
#
# First the machine's own package lists are tried. If these lists lack the package, Debian's archive
# is tried. For the archive, apt uses settings, lists and folders in the cache, so that the
# machine's sources and packages stay unchanged. In both cases, apt verifies the archive's signature
# with Debian's keys. apt.conf(5) and apt-secure(8) describe the settings below.

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ARCHIVE = "http://deb.debian.org/debian"
NEEDED_BYTES = 500_000_000
"""Free space required for the package, the tarball in it, and the archive's lists."""
LOOK_S, LISTS_S, PACKAGE_S = 60.0, 600.0, 3600.0
"""Timeouts of single apt calls. apt also drops a server that sends nothing for SILENT_S."""
SILENT_S = 30
POLL_S = 0.1

KEPT = re.compile(r"Acquire::(https?|ftp|Retries|ForceIPv[46]|Check-Valid-Until|Check-Date)\b.*")
"""The machine's apt settings that are copied: how to reach archives, and checks of their dates."""
CONFIG = """
Dir::Etc::Main "/dev/null";
Dir::Etc::Parts "/dev/null";
Dir::Etc::SourceList "{folder}/archive.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::Etc::Trusted "/dev/null";
Dir::Etc::TrustedParts "/dev/null";
Dir::State "{folder}/state";
Dir::State::Status "{folder}/status";
Dir::Cache "{folder}/cache";
Acquire::Languages "none";
Acquire::http::Timeout "{silent}";
Acquire::https::Timeout "{silent}";
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
"""


class AptFailed(Exception):
    """An apt call failed; the text is apt's error."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """URIs of one mirror of Debian's archive.

    Args:
        security: URI for suites that end in -security; "" leaves these suites out.
    """

    main: str
    security: str

    def lines(self, suites: Iterable[str]) -> str:
        """Return the sources.list(5) lines for these suites."""
        places = ((self.security if s.endswith("-security") else self.main, s) for s in suites)
        options = f"[arch=amd64 signed-by={KEYRING}]"
        return "".join(f"deb {options} {uri} {suite} main\n" for uri, suite in places if uri)


def fetch(base: Base, cache: Path, tell: Callable[[str], None], stop: Event) -> Path:
    """Fetch a base's package, and store its tarball in the cache. Blocks for some seconds.

    Args:
        tell: called with a sentence before each step.

    Raises:
        NoSource: the package cannot be fetched; the message says why.
        DiskFull, BuildStopped: see their classes.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise _no_source(base, cache, "this system lacks apt-get or dpkg-deb")
    folder = fetched_tarball(base, cache).parent
    check_space(folder, NEEDED_BYTES, "to fetch a kernel source")
    for left in folder.glob("fetching-*"):
        # A folder older than these two timeouts belongs to a process that was killed.
        if time.time() - left.stat().st_mtime > LISTS_S + PACKAGE_S:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="fetching-") as within:
        apt = _Apt(Path(within), base.source.package, tell, stop)
        package = apt.from_own_lists() or _from_archive(base, cache, apt)
        return _take(base, cache, apt, package)


def _from_archive(base: Base, cache: Path, apt: _Apt) -> Path:
    """Download the package from the first mirror that has it."""
    if not base.source.suites:
        raise _no_source(base, cache, "this machine's package lists lack the package")
    if not KEYRING.exists():
        raise _no_source(
            base,
            cache,
            f"this machine's package lists lack the package, and Debian's keys, which verify"
            f" downloads from Debian's archive, are not at {KEYRING}",
            "run apt-get install debian-archive-keyring",
        )
    why = ""
    for mirror in apt.mirrors():
        try:
            return apt.from_mirror(mirror, base.source.suites)
        except AptFailed as error:
            why = str(error)
    raise _no_source(
        base,
        cache,
        "this machine's package lists lack the package, and it could not be fetched from Debian's"
        f" archive ({why})",
        "connect this machine to Debian's archive",
    )


def _take(base: Base, cache: Path, apt: _Apt, package: Path) -> Path:
    """Extract the tarball from a package. The file appears complete or not at all."""
    try:
        apt.run(LOOK_S, "dpkg-deb", "--extract", str(package), str(apt.folder / "content"))
    except AptFailed as error:
        raise _no_source(base, cache, f"its package cannot be unpacked ({error})") from None
    draft = apt.folder / "content" / base.tarball.relative_to(base.tarball.anchor)
    if not draft.is_file():
        raise _no_source(base, cache, f"its package {package.name} has no {base.tarball}")
    draft.chmod(0o644)
    with draft.open("rb") as stream:
        os.fsync(stream.fileno())
    return draft.replace(fetched_tarball(base, cache))


class _Apt:
    """apt calls for one package.

    Args:
        folder: working folder for the package and apt's files; the caller removes it.
    """

    def __init__(
        self, folder: Path, package: str, tell: Callable[[str], None], stop: Event
    ) -> None:
        self.folder = folder
        self._package = package
        self._tell = tell
        self._stop = stop

    def from_own_lists(self) -> Path | None:
        """Download the package if the machine's own lists have a package of exactly this name."""
        try:
            return self._download({})
        except AptFailed:
            return None  # outdated lists can name files that the archive no longer has

    def from_mirror(self, mirror: Mirror, suites: Sequence[str]) -> Path:
        """Download the newest version in these suites.

        Raises:
            AptFailed: the mirror lacks the package or does not answer.
        """
        config, own = self.folder / "apt.conf", {"APT_CONFIG": str(self.folder / "apt.conf")}
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        for part in ("state/lists/partial", "cache/archives/partial"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "archive.list").write_text(mirror.lines(suites))
        settings = self.run(LOOK_S, "apt-config", "dump").splitlines()
        kept = "\n".join(line for line in settings if KEPT.fullmatch(line))
        text = CONFIG.format(folder=self.folder, silent=SILENT_S)
        config.write_text(f"{kept}\n{text}")
        self._tell(f"Looking for {self._package} at {mirror.main}.")
        self.run(LISTS_S, "apt-get", "--quiet=2", "update", env=own)
        package = self._download(own)
        if package is None:
            raise AptFailed(f"{mirror.main} has no {self._package}")
        return package

    def _download(self, env: dict[str, str]) -> Path | None:
        """Download the package with the given environment.

        Return None if apt's lists do not contain the package.

        If apt-get does not know a name, it treats the name as a pattern, so linux-source-6.1 can
        match linux-source-6.12. Therefore a version is requested, and the name of the result is
        checked.
        """
        said = self.run(LOOK_S, "apt-cache", "policy", self._package, env=env)
        found = re.search(r"^  Candidate: (?!\(none\))(\S+)$", said, re.MULTILINE)
        if not said.startswith(f"{self._package}:\n") or found is None:
            return None
        uris = self.run(
            LOOK_S, "apt-get", "--print-uris", "--quiet=2", "download",
            f"{self._package}={found[1]}", env=env,
        )  # fmt: skip
        size = re.search(rf" {re.escape(self._package)}_\S+\.deb (\d+) ", uris)
        megabytes = f", {int(size[1]) / 1e6:.0f} MB" if size else ""
        self._tell(f"Fetching {self._package} {found[1]}{megabytes}.")
        for old in self.folder.glob("*.deb"):
            old.unlink()
        self.run(
            PACKAGE_S, "apt-get", "--quiet=2", "download", f"{self._package}={found[1]}", env=env
        )
        (package,) = self.folder.glob("*.deb")
        name = self.run(LOOK_S, "dpkg-deb", "--field", str(package), "Package").strip()
        return package if name == self._package else None

    def mirrors(self) -> list[Mirror]:
        """Return mirrors to try: first those in the machine's own sources, then ARCHIVE."""
        try:
            uris = self.run(LOOK_S, "apt-get", "--print-uris", "update")
        except AptFailed:
            uris = ""
        main: dict[str, None] = {}
        security: dict[str, None] = {}
        for uri, suite in re.findall(r"^'(\S+)/dists/(\S+)/InRelease'", uris, re.MULTILINE):
            if uri.endswith(("/debian", "/debian-security")):
                (security if suite.endswith("-security") else main)[uri] = None
        own = [Mirror(uri, next(iter(security), f"{uri}-security")) for uri in main]
        usual = Mirror(ARCHIVE, f"{ARCHIVE}-security")
        return list(dict.fromkeys([*own, usual, *(Mirror(uri, "") for uri in main)]))

    def run(self, limit_s: float, *command: str, env: dict[str, str] | None = None) -> str:
        """Run a program and return its output.

        Raises:
            AptFailed: the program failed, or took longer than `limit_s`.
            BuildStopped: the caller cancelled.
        """
        log, output = self.folder / "log", self.folder / "output"
        deadline = time.monotonic() + limit_s
        with (
            log.open("wb") as errors,
            output.open("wb") as said,
            subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command],
                cwd=self.folder,
                env={**os.environ, "LC_ALL": "C", **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=errors,
            ) as process,
        ):
            while process.poll() is None:
                if self._stop.wait(POLL_S) or time.monotonic() > deadline:
                    process.kill()
        if self._stop.is_set():
            raise BuildStopped(
                "the kernel build was stopped.",
                remedy="Start the build again. The build resumes where it stopped.",
            )
        if process.returncode < 0:
            raise AptFailed(f"{command[0]} took longer than {limit_s:.0f} s")
        if process.returncode != 0:
            lines = log.read_text(errors="replace").strip().splitlines()
            first = next((line for line in lines if line.startswith("E: ")), f"{command[0]} failed")
            reason = f"{first.removeprefix('E: '):.200}"
            raise AptFailed(reason)
        return output.read_text(errors="replace")


def _no_source(base: Base, cache: Path, why: str, first: str = "") -> NoSource:
    tarball = f"a linux-{base.series}.*.tar.xz from kernel.org"
    give = f"give {tarball} (DUET_SOURCE=FILE make run)"
    if base.both != BOTH:  # not the default base, so --source and DUET_SOURCE do not apply
        give = f"put {tarball} at {fetched_tarball(base, cache)}"
    if first:
        give = f"{first}, or {give}"
    return NoSource(
        f"wanted {base.source.package}, the source of Linux {base.series}, but {why}.",
        remedy=f"{give[:1].upper()}{give[1:]}; or use the container (docker compose up).",
    )


AGAIN_S = 30.0
"""Seconds before a failed fetch is retried. A server would otherwise retry it for each kernel."""

_failed: dict[str, tuple[float, NoSource]] = {}


def bring_sources(
    arms: Sequence[ArmSpec],
    settings: KernelSettings,
    stored: Callable[[ArmSpec], object],
    on_progress: ProgressSink,
    stop: Event,
) -> None:
    """Fetch the missing sources of arms that are not built yet.

    Args:
        stored: function that returns whether an arm is already built; it may raise NoSource.

    Raises:
        NoSource: a source cannot be fetched.
        DiskFull, BuildStopped: see their classes.
    """
    began = time.monotonic()
    for arm, base in _missing(arms, settings, stored):

        def tell(note: str, arm: ArmSpec = arm) -> None:
            elapsed_s = time.monotonic() - began
            on_progress(
                BuildProgress(
                    Phase.EXTRACT, arm.lesson, arm.name, 0, len(arms), 0, 1, elapsed_s, note
                )
            )

        tried_s, error = _failed.get(base.package, (float("-inf"), None))
        if error is not None and time.monotonic() - tried_s < AGAIN_S:
            raise error
        try:
            fetch(base, settings.cache, tell, stop)
        except NoSource as trouble:
            _failed[base.package] = (time.monotonic(), trouble)
            raise


def _missing(
    arms: Sequence[ArmSpec], settings: KernelSettings, stored: Callable[[ArmSpec], object]
) -> list[tuple[ArmSpec, Base]]:
    """Return one arm per base whose source is needed, missing, and in a Debian package."""
    found: dict[str, tuple[ArmSpec, Base]] = {}
    for arm in arms:
        base = settings.base_of(arm)
        fetchable = base.source.package and settings.given(base) is None
        if fetchable and base.name not in found and _needs_source(arm, base, settings, stored):
            found[base.name] = (arm, base)
    return list(found.values())


def _needs_source(
    arm: ArmSpec, base: Base, settings: KernelSettings, stored: Callable[[ArmSpec], object]
) -> bool:
    """Whether the arm is not built, and neither the tarball nor an unpacked tree exists."""
    try:
        tarball = settings.tarball(base)
        if tarball.path.exists() or settings.tree(base, arm.config, tarball.sha256).src.is_dir():
            return False
        return not stored(arm)
    except NoSource:
        return True
    except InputError:
        return False  # the build itself reports the error
