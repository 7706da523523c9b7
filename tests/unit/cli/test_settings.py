"""What is said of settings that are wrong, and a policy by its plain name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from casetape.settings import PREFIX, PolicySettings, Settings, load
from schemas.errors import SettingsError

TRUST = '[policy]\nname = "trust-order"\noptions = { order = ["dns"] }\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, without any variables of ours."""
    for name in os.environ:
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(folder: Path, text: str) -> str:
    (folder / "casetape.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        load({})
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('homee = "x"', "there is no setting `homee` (casetape.toml); did you mean `home`?"),
        ("xyzzy = 1", "there is no setting `xyzzy` (casetape.toml)"),
        ('[policy]\nnam = "x"', "there is no setting `policy.nam` (casetape.toml); did you mean `policy.name`?"),
        (
            '[[policies]]\ntenantt = "x"',
            "there is no setting `policies.0.tenantt` (casetape.toml); did you mean `policies.0.tenant`?",
        ),
        (
            '[[policies]]\nname = "quorum"',
            "setting `policies.0` (casetape.toml): it names neither a tenant nor a subject_type:"
            " the policy of all cases is `policy`",
        ),
        (
            '[[policies]]\ntenant = "Acme"',
            "setting `policies.0.tenant` (casetape.toml): lower-case letters, digits and hyphens, at most 63,"
            " no hyphen first",
        ),
        *(
            (
                f'[[policies]]\nsubject_type = "{kind}"',
                "setting `policies.0` (casetape.toml): its subject_type is what stands before the first `:`"
                " of a subject, such as host",
            )
            for kind in ("host:", "")
        ),
        (
            '[[policies]]\ntenant = "acme"\n[[policies]]\ntenant = "acme"\nname = "quorum"',
            "setting `policies` (casetape.toml): two of them are for tenant `acme`",
        ),
        (
            'policies = [{tenant="a",subject_type="x"}, {tenant="a"}, {tenant="a",subject_type="x"}]',
            "setting `policies` (casetape.toml): two of them are for tenant `a` and subject_type `x`",
        ),
        ("policy = 3", "setting `policy` (casetape.toml): it must be a table"),
        ("policies = [3]", "setting `policies.0` (casetape.toml): it must be a table"),
        ("workers = 99", "setting `workers` (casetape.toml): it must be at most 64"),
        ("workers = 0", "setting `workers` (casetape.toml): it must be at least 1"),
        ('workers = "x"', "setting `workers` (casetape.toml): it must be a whole number"),
        ("silence = 0", "setting `silence` (casetape.toml): it must be more than 0"),
        ('lateness = "x"', "setting `lateness` (casetape.toml): it must be a number"),
        ("home = 3", "setting `home` (casetape.toml): it must be a path"),
        ("origin = 3", "setting `origin` (casetape.toml): it must be text"),
        ('detectors = "beaconing"', "setting `detectors` (casetape.toml): it must be a list"),
        ("[parameters]\nbeaconing = 3", "setting `parameters.beaconing` (casetape.toml): it must be a table"),
        ("keep_versions = -1", "setting `keep_versions` (casetape.toml): it must be at least 0"),
        ("keep_ledger = 0", "setting `keep_ledger` (casetape.toml): it must be more than 0"),
        (
            "[retention_mib]\nstates = 0",
            "setting `retention_mib.states` (casetape.toml): it must be more than 0",
        ),
        (
            "[retention]\nobs = 3",
            "setting `retention.obs` (casetape.toml): it must be one of"
            " 'observations', 'versions', 'states' or 'quarantine'",
        ),
    ],
)
def test_a_wrong_key_of_the_file(folder: Path, text: str, sentence: str) -> None:
    assert said(folder, text) == sentence


def test_a_file_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(folder, "x =").startswith("the settings file casetape.toml cannot be read: ")
    monkeypatch.setenv("CASETAPE_CONFIG", str(folder))
    with pytest.raises(SettingsError, match="is no file"):
        load({})
    monkeypatch.setenv("CASETAPE_CONFIG", str(folder / "none.toml"))
    with pytest.raises(SettingsError, match=r"none\.toml does not exist"):
        load({})


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("CASETAPE_HOMEE", "x", "there is no setting `homee` (variable CASETAPE_HOMEE); did you mean `home`?"),
        ("CASETAPE_WORKERS", "x", "setting `workers` (variable CASETAPE_WORKERS): it must be a whole number"),
        (
            "CASETAPE_DETECTORS",
            "a,b",
            'setting `detectors` (variable CASETAPE_DETECTORS): it must be JSON, for example ["beaconing"]',
        ),
        ("CASETAPE_RETENTION", "{", "setting `retention` (variable CASETAPE_RETENTION): it must be JSON"),
        (
            "CASETAPE_RETENTION__VERSIONS",
            "x",
            "setting `retention.versions` (variable CASETAPE_RETENTION__VERSIONS): it must be a number",
        ),
        (
            "CASETAPE_POLICY__NAM",
            "x",
            "there is no setting `policy.nam` (variable CASETAPE_POLICY__NAM); did you mean `policy.name`?",
        ),
    ],
)
def test_a_wrong_variable(variable: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        load({})
    assert str(caught.value) == sentence


def test_a_wrong_flag() -> None:
    with pytest.raises(SettingsError, match=r"setting `tenant` \(--tenant\): lower-case letters"):
        load({"tenant": "A B"})


def policy(**flags: object) -> tuple[str, object]:
    chosen: Settings = load(flags)
    return chosen.policy.name, chosen.policy.options


def test_a_policy_by_its_plain_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "casetape.toml").write_text('policy = "trust-order"\n')
    assert policy() == ("trust-order", {})
    monkeypatch.setenv("CASETAPE_POLICY__OPTIONS", '{"order": ["dns"]}')
    assert policy() == ("trust-order", {"order": ["dns"]})
    monkeypatch.setenv("CASETAPE_POLICY", "other")
    assert policy() == ("other", {"order": ["dns"]})
    assert policy(policy=PolicySettings(name="worst")) == ("worst", {})


def test_whoever_names_a_policy_chooses_it_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The options of the policy in the file are none of the one that a flag or a variable names."""
    (folder / "casetape.toml").write_text(TRUST)
    assert policy() == ("trust-order", {"order": ["dns"]})
    assert policy(policy=PolicySettings(name="worst")) == ("worst", {})
    for variable, value in (
        ("CASETAPE_POLICY", "worst"),
        ("CASETAPE_POLICY", '{"name": "worst"}'),
        ("CASETAPE_POLICY__NAME", "worst"),
    ):
        with monkeypatch.context() as patched:
            patched.setenv(variable, value)
            assert policy() == ("worst", {})
