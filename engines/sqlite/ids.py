"""Ids as they lie in the file."""

from engines.ids import pack_id, unpack_id

__all__ = ["pack_id", "unpack_id"]
