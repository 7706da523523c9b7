"""Certificates for servers of the tests' own, by the openssl command."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificates(NamedTuple):
    """PEM files: whom to trust, and who the server is."""

    ca: Path
    certificate: Path
    key: Path


def made(folder: Path) -> Certificates:
    """An authority, and what it says of 127.0.0.1. They last two days."""
    folder.mkdir(parents=True, exist_ok=True)
    ca, ca_key = folder / "ca.pem", folder / "ca.key"
    key, asked, certificate, names = (folder / name for name in ("key.pem", "asked.csr", "cert.pem", "names.cnf"))
    names.write_text("subjectAltName=IP:127.0.0.1\n")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    _openssl("req", "-x509", *curve, "-days", "2", "-subj", "/CN=tests", "-keyout", ca_key, "-out", ca)
    _openssl("req", *curve, "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", asked)
    signing = ("-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2", "-extfile", names)
    _openssl("x509", "-req", "-in", asked, *signing, "-out", certificate)
    return Certificates(ca, certificate, key)


def _openssl(*arguments: str | Path) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
