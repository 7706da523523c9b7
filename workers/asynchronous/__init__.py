"""Asynchronous detectors: those that wait for something outside, and the Faust application that hosts them."""
