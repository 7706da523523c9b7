"""Merging: reducers, policies and the version graph are pure; the merger service stands on top of the ports."""
