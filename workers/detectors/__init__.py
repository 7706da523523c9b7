"""The detectors that casetape ships."""
