"""Merge policies: pure functions from the current analyses to a decision."""
