"""The feed: readers turn what people have into observations on the tape; what they cannot read is quarantined."""
