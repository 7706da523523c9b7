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
        *(
            (f"[retention]\nstates = {days}", f"setting `retention.states` (casetape.toml): it must be {words}")
            for days, words in (
                ("0", "more than 0"),
                ("-1", "more than 0"),
                ("nan", "a finite number"),
                ("-inf", "a finite number"),
                ("36501", "at most 36500"),
                ("true", "a number"),
                ('"ever"', "a number"),
            )
        ),
        ("keep_ledger = inf", "setting `keep_ledger` (casetape.toml): it must be at most 36500"),
        ("keep_versions = 1000000001", "setting `keep_versions` (casetape.toml): it must be at most 1000000000"),
        ("lateness = inf", "setting `lateness` (casetape.toml): it must be at most 3153600000"),
        ("call = 90000", "setting `call` (casetape.toml): it must be at most 86400"),
        ("window_mib = 2000000", "setting `window_mib` (casetape.toml): it must be at most 1048576"),
        *(
            (f'[{place} = "{template}"', f"setting `{named}` (casetape.toml): {words}")
            for place, named in (
                ('subjects]\n"zeek.dns"', "subjects.zeek.dns"),
                ("mappings.idp]\nsubject", "mappings.idp.subject"),
            )
            for template, words in (
                ("host:{id.orig_h", "the brace at character 6 is not closed"),
                ("host:id.orig_h}", "the brace at character 15 closes none"),
                ("host:{}", "the braces at character 6 are empty: the name of a field stands in them"),
                ("", "it is empty"),
                (" {a}", "no subject can be made of it: 1 to 512 printable characters, no space at either end"),
            )
        ),
        (
            '[mappings.idp]\nkind = "idp.{a"',
            "setting `mappings.idp.kind` (casetape.toml): the brace at character 5 is not closed",
        ),
        (
            '[mappings.idp]\ntime_format = "%e"',
            "setting `mappings.idp.time_format` (casetape.toml): strptime cannot read it:"
            " 'e' is a bad directive in format '%e'",
        ),
        (
            '[mappings.idp]\nfils = "x"',
            "there is no setting `mappings.idp.fils` (casetape.toml); did you mean `mappings.idp.files`?",
        ),
        ('[mappings.idp]\nfiles = ""', "setting `mappings.idp.files.0` (casetape.toml): it is empty"),
        (
            '[zeek_fields]\nconn = "ts uid ts"',
            "setting `zeek_fields.conn` (casetape.toml): the column `ts` is there twice",
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
            "CASETAPE_RETENTION__OBSERVATIONS",
            "-1",
            "setting `retention.observations` (variable CASETAPE_RETENTION__OBSERVATIONS): it must be more than 0",
        ),
        (
            "CASETAPE_POLICY__OPTIONS",
            "{k:2}",
            "setting `policy.options` (variable CASETAPE_POLICY__OPTIONS): it must be JSON",
        ),
        (
            "CASETAPE_MAPPINGS__IDP__TIME",
            "[x",
            "setting `mappings.idp.time` (variable CASETAPE_MAPPINGS__IDP__TIME): it must be JSON",
        ),
        (
            "CASETAPE_PARAMETERS__BEACONING",
            "{x",
            "setting `parameters.beaconing` (variable CASETAPE_PARAMETERS__BEACONING): it must be a table",
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


def test_a_bound_of_one_topic_leaves_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load({}).retention == {"observations": 7.0}
    (folder / "casetape.toml").write_text("[retention]\nquarantine = 30\n")
    assert load({}).retention == {"observations": 7.0, "quarantine": 30.0}
    monkeypatch.setenv("CASETAPE_RETENTION__VERSIONS", "2.5")
    assert load({}).retention == {"observations": 7.0, "quarantine": 30.0, "versions": 2.5}


@pytest.mark.parametrize("said", ['"forever"', '"Forever"', "inf"])
def test_a_bound_is_lifted_in_the_file(folder: Path, said: str) -> None:
    (folder / "casetape.toml").write_text(f"[retention]\nobservations = {said}\n[retention_mib]\nstates = {said}\n")
    assert load({}).retention == {"observations": None}
    assert load({}).retention_mib == {"states": None}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CASETAPE_RETENTION__OBSERVATIONS", "forever"),
        ("CASETAPE_RETENTION__OBSERVATIONS", "inf"),
        ("CASETAPE_RETENTION", '{"observations": "forever"}'),
        ("CASETAPE_RETENTION", '{"observations": null}'),
    ],
)
def test_a_bound_is_lifted_by_a_variable(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    (folder / "casetape.toml").write_text("[retention]\nobservations = 3\n")
    monkeypatch.setenv(variable, value)
    assert load({}).retention == {"observations": None}


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
