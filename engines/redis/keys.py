"""Every key in Redis. `P` is the prefix; what stands in braces decides the slot of a cluster.

What grows with what, whose it is, and when it goes (nothing else is kept):
  P:{:store}:about          one hash: form, epoch, refusal, beat. For ever
  P:{:store}:tenants        set: with the tenants ever committed to. For ever
  P:{:store}:pending        zset: cases whose newest versions may not have reached `states`, by the number that was
                            about to be committed. Who moves a case's mark that far removes it; what a committer that
                            died before its swap has left goes with the next version of that case
  P:{:store}:notes          hash, and
  P:{:store}:note-keys      zset: with the keys noted; whoever notes a key removes it
  P:{:store}:manifests      hash, and
  P:{:store}:owners         zset: with the owners of windows, one manifest each. For ever
  P:{:store}:part-owners    set: owners that have had parts. For ever
  P:{:store}:answer:T       string: what a call answered, should it be repeated. Gone after ANSWERED seconds
  P:{tenant}:rows           hash, and
  P:{tenant}:by-score       zset, and
  P:{tenant}:by-updated     zset, and
  P:{tenant}:by-key         zset: the index, one entry a case each. They go with the case
  P:{tenant}:long           zset: cases with more than 64 versions that are kept and published; pruning shortens it
  P:{case}:head             hash: head, row, marks and counts of a case. This and the following go with the case
  P:{case}:versions         hash: with the versions that the keeper leaves: number to id and record
  P:{case}:brought          hash: the same of their contents, framed together
  P:{case}:contents         hash: with the distinct contents of the case, for ever: id to the number that brought it
  P:{case}:remains          hash: with the current analyses of a case whose versions were pruned: id to content
  P:{case}:snapshots        hash, and
  P:{case}:snapshotted      zset: with the snapshots of a case, thinned out where it was pruned
  P:{case}:places           hash: with the versions of a case, for ever: number to offset in `states`
  P:{case}:answer:T         as above
  P:{/owner}:parts          hash: with the parts of one owner of windows, who drops them

A case is `tenant/subject`: its tag holds a slash, not first; a tenant's holds none; an owner's begins with one.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

ANSWERED = 120
"""Seconds: longer than any call is repeated."""
_OF_CASE = ("head", "versions", "brought", "contents", "remains", "snapshots", "snapshotted", "places")
_OF_STORE = ("about", "tenants", "pending", "notes", "note-keys", "manifests", "owners", "part-owners")
_OF_TENANT = ("rows", "by-score", "by-updated", "by-key", "long")
# a case's key holds no braces, which would move the tag, as it is encoded already; an owner's name may hold anything
_OF_CASES, _OF_OWNERS = "/:%~", "/:~"


def patterns(prefix: str) -> tuple[str, ...]:
    """Regular expressions: every key of a store matches one of them."""
    answers = r"answer:[0-9a-f]{32}"
    return (
        rf"{prefix}:\{{:store\}}:({'|'.join(_OF_STORE)}|{answers})",
        rf"{prefix}:\{{[a-z0-9-]+\}}:({'|'.join(_OF_TENANT)})",
        rf"{prefix}:\{{[a-z0-9-]+/[^{{}}]+\}}:({'|'.join(_OF_CASE)}|{answers})",
        rf"{prefix}:\{{/[^{{}}]*\}}:parts",
    )


@lru_cache(maxsize=65_536)
def _tag(case: str) -> str:
    return quote(case, safe=_OF_CASES)


class Keys:
    """The names under one prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.about, self.tenants, self.pending = map(self.of_store, ("about", "tenants", "pending"))

    def of_store(self, what: str) -> str:
        """A key of the store as a whole."""
        return f"{self._prefix}:{{:store}}:{what}"

    def of_tenant(self, tenant: str, what: str) -> str:
        """A key of a tenant's index."""
        return f"{self._prefix}:{{{tenant}}}:{what}"

    def of_case(self, case: str, what: str) -> str:
        """A key of a case."""
        return f"{self._prefix}:{{{_tag(case)}}}:{what}"

    def parts(self, owner: str) -> str:
        """The parts of an owner."""
        return f"{self._prefix}:{{/{quote(owner, safe=_OF_OWNERS)}}}:parts"

    def heads(self) -> str:
        """A pattern, as SCAN has it, of the heads of all cases."""
        return f"{self.literally(self._prefix)}:{{*/*}}:head"

    def everything(self) -> str:
        """A pattern of all keys."""
        return f"{self.literally(self._prefix)}:*"

    @staticmethod
    def literally(what: str) -> str:
        """A pattern that fits this text alone."""
        return "".join(f"\\{one}" if one in "*?[]\\" else one for one in what)

    def case_of(self, head: str) -> str:
        """The case of which this is the head."""
        return head.removeprefix(f"{self._prefix}:{{").removesuffix("}:head")

    def all_of_case(self, case: str) -> list[str]:
        """All keys that a case has for good."""
        return [self.of_case(case, what) for what in _OF_CASE]
