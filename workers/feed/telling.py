"""What is said of an input that was fed and is of less use than its feeder may think."""

from __future__ import annotations

from workers.feed.options import FeedCounts


def timeless(name: str, counts: FeedCounts) -> str | None:
    """A sentence where nothing that an input appended has a time that can be used; None where something has, or where
    nothing was appended."""
    if not counts.untimed or counts.untimed < counts.appended:
        return None
    return (
        f"{name}: none of its {counts.untimed:,} records has a time that can be used: they are kept, and no window"
        " takes them in. Where the time of JSON lines is, a mapping in the settings says"
    )
