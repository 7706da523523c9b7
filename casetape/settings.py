"""Settings: flags > `CASETAPE_*` > `casetape.toml` > defaults. A wrong key is an error that names it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings.exceptions import SettingsError as PydanticSettingsError

from casetape.settings_engines import Address, EngineName, KafkaSettings, Prefix, RedisSettings
from casetape.settings_messages import fault_words, no_json, unknown, unreadable
from casetape.settings_values import CENTURY, LARGEST, Columns, Days, Mib, SettingsMapping, SubjectTemplate, Topic
from engines.failpoints import VARIABLE
from engines.opening import ClusterOptions, EmbeddedOptions, EngineOptions
from engines.topics import DEFAULT_PARTITIONS
from merge.policies.registry import Chosen, PolicyChoice
from schemas.errors import SettingsError
from schemas.keys import DEFAULT_TENANT, TENANT_PATTERN

PREFIX = "CASETAPE_"
CONFIG_VARIABLE = "CASETAPE_CONFIG"
FILE = Path("casetape.toml")
_NOT_SETTINGS = {CONFIG_VARIABLE, VARIABLE, "CASETAPE_REQUIRE_SERVICES"}
"""Variables with our prefix that say something else: where the file is, and what tests need."""
_OF_TESTS = f"{PREFIX}TEST_"
RETENTION: dict[Topic, float | None] = {"observations": 7.0}
"""By topic: days. What the settings say of a topic replaces what stands here of it, and of no other."""
_SECONDS = CENTURY * 86_400
STUCK_SECONDS = 180.0
"""Six times as long as a worker goes between two snapshots when all is well."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PolicySettings(_Section):
    """A merge policy and its options."""

    name: str = "worst"
    options: dict[str, Any] = Field(default_factory=dict)


class PolicyRule(PolicySettings):
    """A policy for one tenant, one subject type (what stands before the first `:` of a subject), or one of both."""

    tenant: str | None = Field(default=None, pattern=TENANT_PATTERN)
    subject_type: str | None = None

    @model_validator(mode="after")
    def _of_some(self) -> Self:
        if self.tenant is None and self.subject_type is None:
            raise ValueError("it names neither a tenant nor a subject_type: the policy of all cases is `policy`")
        if self.subject_type is not None and (not self.subject_type or ":" in self.subject_type):
            raise ValueError("its subject_type is what stands before the first `:` of a subject, such as host")
        return self


class _NotJson(ValueError):
    """A variable below a setting holds what is no JSON."""


class _Environment(EnvSettingsSource):
    """Variables; the name of a policy may stand for the policy, and what is no JSON is told by its variable's name."""

    def __call__(self) -> dict[str, Any]:
        """What the variables say."""
        return _one_policy(super().__call__(), self.current_state)

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        """The value of a list or a table. Raises SettingsError, and ValueError below the settings' own fields."""
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            if field is None or field is not Settings.model_fields.get(field_name):
                raise _NotJson(no_json(PREFIX, field_name, str(value))) from None
            if field_name == "policy":
                return {"name": value}
            named = f"variable {PREFIX}{field_name.upper()}"
            example = ', for example ["beaconing"]' if field_name == "detectors" else ""
            raise SettingsError(f"setting `{field_name}` ({named}): it must be JSON{example}") from None


class _File(TomlConfigSettingsSource):
    """The settings file; the name of a policy may stand for the policy."""

    def __call__(self) -> dict[str, Any]:
        """What the file says."""
        return _one_policy(super().__call__(), self.current_state)


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
    engine: EngineName = Field(default="embedded", description="embedded: one file in the home; cluster: Kafka, Redis")
    kafka: KafkaSettings = Field(default=KafkaSettings(), description="of the cluster engine")
    redis: RedisSettings = Field(default=RedisSettings(), description="of the cluster engine")
    prefix: Prefix = Field(default="casetape", description="of topics, groups and keys on Kafka and Redis")
    tenant: str = Field(default=DEFAULT_TENANT, pattern=TENANT_PATTERN, description="of what is fed")
    workers: int = Field(default=1, ge=1, le=64, description="detection processes of `run`")
    partitions: int = Field(default=DEFAULT_PARTITIONS, ge=1, le=1024, description="of new topics")
    detectors: tuple[str, ...] | None = Field(default=None, description="those to run; all there are, when not set")
    plugins: Path | None = Field(default=None, description="a folder of plug-in files")
    parameters: dict[str, dict[str, Any]] = Field(default_factory=dict, description="by detector")
    policy: PolicySettings = Field(
        default=PolicySettings(), description="how a case is assessed; a name may stand for it"
    )
    policies: tuple[PolicyRule, ...] = Field(default=(), description="policies of some tenants or subject types")
    subjects: dict[str, SubjectTemplate] = Field(
        default_factory=dict, description="by kind: whom an observation is about"
    )
    origin: str | None = Field(default=None, description="of records that name no sensor")
    mappings: dict[str, SettingsMapping] = Field(default_factory=dict, description="by name: how JSON lines are read")
    zeek_fields: dict[str, Columns] = Field(
        default_factory=dict, description="by stream: columns of logs without header"
    )
    lateness: float = Field(default=3600.0, ge=0, le=_SECONDS, description="how late a record may come, live")
    silence: float = Field(
        default=3600.0, gt=0, le=_SECONDS, description="after which a source's windows are concluded early, live"
    )
    session: float = Field(
        default=10.0, gt=0, le=86_400, description="after which a silent process loses its partitions"
    )
    call: float = Field(default=10.0, gt=0, le=86_400, description="how long a call into a plug-in may take")
    retention: dict[Topic, Days] = Field(
        default=RETENTION, description="by topic: days that records are kept; null or `forever`: for ever"
    )
    retention_mib: dict[Topic, Mib] = Field(
        default={}, description="by topic: MiB of records kept at most, as stored; null or left out: any number"
    )
    keep_versions: int = Field(
        default=1000,
        ge=0,
        le=int(LARGEST),
        description="the newest versions of a case that the store keeps beside the tape; 0: all",
    )
    keep_ledger: float = Field(
        default=400.0,
        gt=0,
        le=CENTURY,
        description="days for which the feed remembers a file after something of it was fed last",
    )
    stuck: float = Field(
        default=STUCK_SECONDS, gt=0, le=_SECONDS, description="after which a partition without progress is reported"
    )
    health: Address | None = Field(default=None, description="host:port at which a service answers /health and /ready")
    window_mib: int = Field(default=256, ge=1, le=1_048_576, description="memory for one worker's windows")

    @field_validator("retention")
    @classmethod
    def _beside_the_defaults(cls, given: dict[Topic, float | None]) -> dict[Topic, float | None]:
        return {**RETENTION, **given}

    @field_validator("policies")
    @classmethod
    def _one_each(cls, rules: tuple[PolicyRule, ...]) -> tuple[PolicyRule, ...]:
        places = [(rule.tenant, rule.subject_type) for rule in rules]
        twice = next((place for number, place in enumerate(places) if place in places[:number]), None)
        if twice is not None:
            named = zip(("tenant", "subject_type"), twice, strict=True)
            of = " and ".join(f"{name} `{one}`" for name, one in named if one is not None)
            raise ValueError(f"two of them are for {of}")
        return rules

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
        return init_settings, _Environment(settings_cls), _File(settings_cls, _config_file())

    def engine_options(self) -> EngineOptions:
        """What to open. Raises SettingsError."""
        if self.engine == "embedded":
            return EmbeddedOptions(self.home)
        return ClusterOptions(self.kafka.options(self.prefix), self.redis.options(self.prefix))

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
    if path is not None and not path.is_file():
        raise SettingsError(f"the settings file {path} {'is no file' if path.exists() else 'does not exist'}")
    strangers = sorted(name for name in os.environ if name.startswith(PREFIX) and not _known(name))
    if strangers:
        key = strangers[0].removeprefix(PREFIX).lower().partition("__")[0]
        raise SettingsError(unknown([key], Settings.model_fields, f"variable {strangers[0]}"))
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(fault_words(Settings, error, given, PREFIX, str(path or ""))) from None
    except PydanticSettingsError as error:
        cause = error.__cause__
        raise SettingsError(str(cause if isinstance(cause, _NotJson) else error)) from None
    except (ValueError, OSError) as error:
        # the one thing that is parsed outside of the models
        raise SettingsError(unreadable(path or FILE, error)) from None


def _one_policy(said: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A source's settings: a name for a policy is written out, and where a source that counts more names a policy, this
    one's goes whole: its options belong to another."""
    policy = said.get("policy")
    if isinstance(policy, str):
        said = {**said, "policy": {"name": policy}}
    above = before.get("policy")
    named_above = isinstance(above, Mapping) and "name" in above
    return {name: value for name, value in said.items() if name != "policy"} if named_above else said


def _known(variable: str) -> bool:
    name = variable.removeprefix(PREFIX).lower().partition("__")[0]
    return variable in _NOT_SETTINGS or variable.startswith(_OF_TESTS) or name in Settings.model_fields


def _config_file() -> Path | None:
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return FILE if FILE.exists() else None
