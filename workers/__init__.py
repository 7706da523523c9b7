"""The long-running processes and what they host: feed, detection, detectors."""
