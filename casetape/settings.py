"""Settings: flags > `CASETAPE_*` > `casetape.toml` > defaults. A wrong key is an error that names it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from engines.failpoints import VARIABLE
from engines.topics import DEFAULT_PARTITIONS
from merge.policies.registry import Chosen, PolicyChoice
from schemas.errors import SettingsError
from schemas.keys import DEFAULT_TENANT, TENANT_PATTERN

PREFIX = "CASETAPE_"
CONFIG_VARIABLE = "CASETAPE_CONFIG"
FILE = Path("casetape.toml")
_NOT_SETTINGS = {CONFIG_VARIABLE, VARIABLE, "CASETAPE_REQUIRE_SERVICES"}
"""Variables with our prefix that say something else: where the file is, and what tests need."""


Topic = Literal["observations", "versions", "states", "quarantine"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PolicySettings(_Section):
    """A merge policy and its options."""

    name: str = "worst"
    options: dict[str, Any] = Field(default_factory=dict)


class PolicyRule(PolicySettings):
    """A policy for one tenant, one subject type (what stands before the first `:` of a subject), or one of both."""

    tenant: str | None = None
    subject_type: str | None = None


class Settings(BaseSettings):
    """Everything that can be set. Times in seconds, memory in MiB."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    home: Path = Field(default_factory=lambda: default_home(), description="the data folder")
    tenant: str = Field(default=DEFAULT_TENANT, pattern=TENANT_PATTERN)
    workers: int = Field(default=1, ge=1, le=64, description="detection processes of `run`")
    partitions: int = Field(default=DEFAULT_PARTITIONS, ge=1, le=1024, description="of new topics")
    detectors: tuple[str, ...] | None = Field(default=None, description="those to run; all there are, when not set")
    plugins: Path | None = Field(default=None, description="a folder of plug-in files")
    parameters: dict[str, dict[str, Any]] = Field(default_factory=dict, description="by detector")
    policy: PolicySettings = PolicySettings()
    policies: tuple[PolicyRule, ...] = ()
    subjects: dict[str, str] = Field(default_factory=dict, description="by kind: whom an observation is about")
    origin: str | None = Field(default=None, description="of records that name no sensor")
    lateness: float = Field(default=3600.0, ge=0, description="how late a record may come, live")
    silence: float = Field(default=3600.0, gt=0, description="after which a source's windows are concluded early, live")
    session: float = Field(default=10.0, gt=0, description="after which a silent process loses its partitions")
    call: float = Field(default=10.0, gt=0, description="how long a call into a plug-in may take")
    retention: dict[Topic, float | None] = Field(
        default={"observations": 7.0}, description="by topic: days that records are kept; null or left out: for ever"
    )
    window_mib: int = Field(default=256, ge=1, description="memory for one worker's windows")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, _config_file())

    def policy_choice(self) -> PolicyChoice:
        """Which policy a case gets."""
        by = {(one.tenant, one.subject_type): Chosen(one.name, one.options) for one in self.policies}
        return PolicyChoice(Chosen(self.policy.name, self.policy.options), by)


def default_home() -> Path:
    """`casetape` in the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "casetape"


def load(flags: Mapping[str, Any]) -> Settings:
    """The settings, with the flags that were given (None: not given). Raises SettingsError naming the wrong key."""
    path = _config_file()
    if path is not None and not path.exists():
        raise SettingsError(f"the settings file {path} does not exist")
    unknown = sorted(name for name in os.environ if name.startswith(PREFIX) and not _known(name))
    if unknown:
        raise SettingsError(f"the variable {unknown[0]} names no setting")
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise SettingsError(f"setting `{key}`: {fault['msg']}") from None
    except ValueError as error:
        raise SettingsError(f"the settings cannot be read ({path or 'environment'}): {error}") from None


def _known(variable: str) -> bool:
    name = variable.removeprefix(PREFIX).lower().partition("__")[0]
    return variable in _NOT_SETTINGS or name in Settings.model_fields


def _config_file() -> Path | None:
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return FILE if FILE.exists() else None
