"""The contracts: models, ids, canonical bytes and digests. No I/O."""
