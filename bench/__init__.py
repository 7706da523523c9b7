"""Every performance figure that the documents state, one command each: `python -m bench.<name>`."""
