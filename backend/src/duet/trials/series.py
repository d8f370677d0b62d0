# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the patch series in a file of mails. Use its latest version, with each patch once.

Mails are grouped by the numbers in their subjects, by the mail that they answer, and by sender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, Protocol, TypeVar

from duet.base.errors import InputError

SHOWN = 5
"""Maximum number of patch numbers or subjects that a sentence lists."""


class SeveralSeries(InputError):
    """The file has several patch series, and none is clearly the wanted one."""

    code = "several-series"


class Numbered(Protocol):
    """A patch with the numbers in its subject, such as [PATCH v2 1/3]. A missing number is 0."""

    @property
    def subject(self) -> str: ...

    @property
    def number(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def version(self) -> int: ...


NumberedPatch = TypeVar("NumberedPatch", bound=Numbered)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail's place in its thread.

    Args:
        place: index in the file, counted from 0.
        identity: Message-ID; "" if the mail has none.
        parents: Message-IDs of the mails above it in the thread. The first is the mail that it
            answers.
        sender: address in lower case.
        time: Unix time in seconds; 0 if unknown.
        answer: whether it is a reply.
        tagged: whether its subject is marked as a patch.
        kind: (number, total, version) of the patch, as in Numbered.
    """

    place: int
    identity: str = ""
    parents: tuple[str, ...] = ()
    sender: str = ""
    time: float = 0.0
    answer: bool = False
    tagged: bool = False
    kind: tuple[int, int, int] = (0, 0, 1)

    @property
    def series(self) -> tuple[int, int]:
        return self.kind[1:]


@dataclass(frozen=True, slots=True)
class Post(Generic[NumberedPatch]):
    """A patch and its mail."""

    mail: Mail
    patch: NumberedPatch

    @property
    def number(self) -> int:
        return self.patch.number

    @property
    def words(self) -> str:
        by = f" of {self.mail.sender}" if self.mail.sender else ""
        return f"“{self.patch.subject[:60]}”{by}"


@dataclass(slots=True)
class _Group(Generic[NumberedPatch]):
    """Patches of one version of one series."""

    posts: list[Post[NumberedPatch]] = field(default_factory=list)
    starts: bool = True
    """Whether the group's first mail answers no other mail."""

    @property
    def total(self) -> int:
        return self.posts[0].patch.total

    @property
    def version(self) -> int:
        return self.posts[0].patch.version

    @property
    def sender(self) -> str:
        return self.posts[0].mail.sender

    @property
    def numbers(self) -> set[int]:
        return {post.number for post in self.posts}

    @property
    def titles(self) -> set[str]:
        return {post.patch.subject for post in self.posts}

    @property
    def words(self) -> str:
        many = f" and {len(self.posts) - 1} more" if len(self.posts) > 1 else ""
        return f"“{self.posts[0].patch.subject[:60]}”{many}"


def latest(
    posts: Sequence[Post[NumberedPatch]],
    name: str,
    say: Callable[[str], None],
    mails: Sequence[Mail] = (),
) -> list[NumberedPatch]:
    """Return the patches of the series' latest version.

    If the latest version omits patches of the series, they are taken from older versions.

    Args:
        posts: all patches in a file with their mails, in the order of arrival.
        name: name of the file.
        say: called with a sentence for the user if the result has patches of older versions, or if
            patches in the file were left out.
        mails: all mails in the file, including those without a patch.

    Raises:
        SeveralSeries: the file has two unrelated series.
    """
    proper = [post for post in posts if not post.mail.answer] or posts
    proper = [post for post in proper if post.mail.tagged] or proper
    thread = _Thread([*mails, *(post.mail for post in posts)])
    groups = _groups(proper, thread)
    if not groups:
        return []
    kept = set(proper)
    aside = [post for post in posts if post not in kept]
    chosen, left = _chosen(groups, name, thread)
    once, again = _once(chosen)
    if again:
        say(f"{name} has {_list(again)} more than once; the last one is used")
    apart = [group for group in left if _is_apart(group, chosen, thread)]
    others = [post for group in apart for post in group.posts]
    others += [post for post in chosen.posts if post.mail.sender != chosen.sender]
    taken = {(post.patch.subject, post.mail.sender) for post in once}
    tried = set(once)
    beside = [post for post in (*others, *aside) if post not in tried]
    if beside := [post for post in beside if (post.patch.subject, post.mail.sender) not in taken]:
        words = _list(post.words for post in beside)
        say(f"{name} has patches that are not part of the series and are left out: {words}")
    found = [post.patch for post in once]
    if chosen.total:
        before = (group for group in left if not _is_apart(group, chosen, thread))
        older = [post.patch for group in before for post in group.posts]
        found += _older(older, chosen, {patch.number for patch in found})
        _tell(found, chosen, name, say)
        found.sort(key=lambda patch: patch.number)
    return found


class _Thread:
    """Links between mails and their replies."""

    def __init__(self, mails: Iterable[Mail]) -> None:
        self._known = {mail.identity: mail for mail in reversed(list(mails)) if mail.identity}

    def root(self, mail: Mail) -> str:
        """Return the Message-ID of the thread's first mail, which may be missing from the file."""
        seen = {mail.identity}
        while mail.parents:
            top = mail.parents[-1]
            if top in seen or top not in self._known:
                return top
            seen.add(top)
            mail = self._known[top]
        return mail.identity or f"#{mail.place}"

    def head(self, mail: Mail) -> tuple[str, bool]:
        """Return the Message-ID of the series' first mail, and whether that mail starts a thread.

        If the first mail is not in the file, the result has its Message-ID from a reply.
        """
        seen = {mail.identity}
        while mail.parents:
            parent = self._known.get(mail.parents[0])
            if parent is None:
                return f"{mail.parents[0]} is absent", False
            if parent.identity in seen or parent.answer or parent.series != mail.series:
                return mail.identity, False
            seen.add(parent.identity)
            mail = parent
        return mail.identity, True


def _groups(posts: Sequence[Post[NumberedPatch]], thread: _Thread) -> list[_Group[NumberedPatch]]:
    """Group the patches by series and version."""
    by_key: dict[object, _Group[NumberedPatch]] = {}
    nameless: dict[object, _Group[NumberedPatch]] = {}
    for post in posts:
        patch, mail = post.patch, post.mail
        numbered = (patch.total, patch.version)
        if mail.identity and patch.total:
            head, starts = thread.head(mail)
            group = by_key.setdefault((numbered, head), _Group(starts=starts))
        elif mail.identity:
            group = by_key.setdefault((mail.place, patch.version), _Group())
        else:  # output of git format-patch, perhaps from several calls
            group = nameless.get(numbered) or by_key.setdefault((numbered, ""), _Group())
            titles = [one.patch.subject for one in group.posts if one.number == patch.number]
            if patch.total and titles and patch.subject not in titles:
                group = by_key.setdefault((numbered, f"#{mail.place}"), _Group())
            nameless[numbered] = group
        group.posts.append(post)
    return _merged(list(by_key.values()))


def _merged(groups: list[_Group[NumberedPatch]]) -> list[_Group[NumberedPatch]]:
    """Merge groups that belong to one series, which was sent without a thread."""
    found: list[_Group[NumberedPatch]] = []
    for group in groups:
        for other in found if group.total else ():
            alike = (group.total, group.version) == (other.total, other.version)
            sent = group.sender == other.sender or (group.starts and other.starts)
            if alike and sent and not group.numbers & other.numbers:
                other.posts += group.posts
                break
        else:
            found.append(group)
    return found


def _chosen(
    groups: list[_Group[NumberedPatch]], name: str, thread: _Thread
) -> tuple[_Group[NumberedPatch], list[_Group[NumberedPatch]]]:
    """Return the group with the latest version of the series, and the other groups.

    Raises:
        SeveralSeries: the file has two unrelated series.
    """
    roots = [{thread.root(post.mail) for post in group.posts} for group in groups]
    if _is_row(groups, roots):
        return _Group([post for group in groups for post in group.posts]), []
    dated = all(post.mail.time for group in groups for post in group.posts)
    began = [
        min((post.mail.time if dated else 0.0, post.mail.place) for post in group.posts)
        for group in groups
    ]
    first = min(range(len(groups)), key=lambda at: began[at])
    sender, here = groups[first].sender, set(roots[first])
    own = [at for at, group in enumerate(groups) if group.sender == sender]
    here = here.union(*(roots[at] for at in own))
    titles = set().union(*(groups[at].titles for at in own))
    most = max(groups[at].version for at in own)
    own += [  # newer versions that another sender sent
        at
        for at, group in enumerate(groups)
        if at not in own and group.version > most and group.titles & titles
    ]
    strangers = [at for at in range(len(groups)) if at not in own and not roots[at] & here]
    newest = max(groups[at].version for at in own)
    last = [at for at in own if groups[at].version == newest]
    at = last[0]
    for other in last[1:]:
        if groups[other].titles == groups[at].titles:  # sent again
            at = max(at, other, key=lambda one: began[one])
        elif not roots[other] & roots[at]:
            strangers.append(other)
        else:
            at = min(at, other, key=lambda one: (-groups[one].total, began[one]))
    if strangers:
        known = [groups[one] for one in dict.fromkeys([at, *strangers])]
        raise SeveralSeries(
            f"wanted one series, but {name} has {len(known)} unrelated series:"
            f" {_list(group.words for group in known)}.",
            remedy="Save each series in a file, and name all files. Each file becomes a kernel.",
        )
    return groups[at], [group for one, group in enumerate(groups) if one != at]


def _is_apart(group: _Group[NumberedPatch], chosen: _Group[NumberedPatch], thread: _Thread) -> bool:
    """Whether a group is unrelated to the chosen series, i.e. is not an older version of it."""
    if group.version >= chosen.version:
        return True
    if group.titles & chosen.titles:
        return False
    roots = [{thread.root(post.mail) for post in one.posts} for one in (group, chosen)]
    part = group.total == chosen.total > len(chosen.numbers)
    alike = part or bool(roots[0] & roots[1])
    return group.sender != chosen.sender or not alike


def _is_row(groups: list[_Group[NumberedPatch]], roots: list[set[str]]) -> bool:
    """Whether all patches are unnumbered and unrelated, as in a mailbox for git am."""
    singles = all(group.total == 0 for group in groups)
    apart = sum(map(len, roots)) == len(set().union(*roots))
    titles = [title for group in groups for title in group.titles]
    versions = {group.version for group in groups}
    return singles and apart and len(set(titles)) == len(titles) and len(versions) == 1


def _once(group: _Group[NumberedPatch]) -> tuple[list[Post[NumberedPatch]], list[str]]:
    """Return each patch of a group once, and the subjects of patches that were sent again.

    If two patches have the same number, the patch from the series' sender is used. If the sender
    sent both, the later patch is used.
    """
    if not group.total:
        return list(dict.fromkeys(group.posts)), []
    by_number: dict[int, list[Post[NumberedPatch]]] = {}
    again: list[str] = []
    for post in sorted(group.posts, key=lambda post: (post.mail.time, post.mail.place)):
        known = by_number.setdefault(post.number, [])
        if not known or known[0].mail.place == post.mail.place:
            known.append(post)  # several attachments of one mail
        elif post.mail.sender == group.sender or known[0].mail.sender != group.sender:
            if post.mail.sender == known[0].mail.sender:
                again.append(post.patch.subject)
            by_number[post.number] = [post]
    return [post for posts in by_number.values() for post in posts], again


def _older(
    found: Sequence[NumberedPatch], chosen: _Group[NumberedPatch], numbers: set[int]
) -> list[NumberedPatch]:
    """For each number that the latest version lacks, return the newest older patch, if any."""
    known: dict[int, NumberedPatch] = {}
    for patch in sorted(found, key=lambda patch: patch.version):
        fits = patch.version < chosen.version and patch.total == chosen.total and patch.number > 0
        if fits and patch.number not in numbers:
            known[patch.number] = patch
    return list(known.values())


def _tell(
    found: Sequence[NumberedPatch],
    chosen: _Group[NumberedPatch],
    name: str,
    say: Callable[[str], None],
) -> None:
    newest, total = chosen.version, chosen.total
    own = [one.number for one in found if one.version == newest]
    older = [(one.number, one.version) for one in found if one.version != newest]
    if older:
        words = _list(f"{number}/{total} of v{version}" for number, version in sorted(older))
        mine = _list(f"{number}/{total}" for number in own)
        say(f"v{newest} in {name} has only {mine}; the rest of the series is {words}")
    known = {one.number for one in found}
    absent = (f"{number}/{total}" for number in range(1, total + 1) if number not in known)
    if total > len(known) and (words := _list(absent)):
        say(f"{name} lacks {words} of v{newest}; the series is tried without")


def _list(words: Iterable[str]) -> str:
    """Join the first few texts for a sentence, as in 'a, b and others'."""
    shown = list(islice(dict.fromkeys(words), SHOWN + 1))
    return ", ".join(shown[:SHOWN]) + (" and others" if len(shown) > SHOWN else "")
