"""Unusual DNS: data carried in names (tunnels), and look-ups of many generated names that do not exist."""

from workers.detectors.dns.detector import Dns

__all__ = ["Dns"]
