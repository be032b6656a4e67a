"""Permissions files: TOML with a table `[default]` and a table `[users.NAME]` per person.

    [default]
    deny = ["salaries", "customers.email"]

    [users.ada]
    allow = ["customers", "orders"]

Both lists are as `Database.open` takes them. A person with a table of their own has that one alone, not the default
too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from ..errors import SettingsError
from ..record_files import read_toml_file
from ..validation import check_argument, describe_fault
from .egress import Egress, Level, MaskKind
from .session import Identity, Permissions, Policy, Session

_Entry = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, strict=True)]


class _PermissionLists(BaseModel):
    model_config = ConfigDict(extra="forbid")

    allow: tuple[_Entry, ...] | None = None
    deny: tuple[_Entry, ...] = ()

    def permissions(self) -> Permissions:
        return Permissions.of(self.allow, self.deny)


class _EgressRules(BaseModel):
    model_config = ConfigDict(extra="forbid")

    default: Level = "values"
    columns: dict[_Entry, Level] = {}
    mask: Annotated[tuple[MaskKind, ...], BeforeValidator(lambda kind: [kind] if isinstance(kind, str) else kind)] = ()

    def egress(self) -> Egress:
        levels: dict[str, Level] = {name.lower(): level for name, level in self.columns.items()}
        kinds: tuple[MaskKind, ...] = get_args(MaskKind)
        return Egress(self.default, tuple(sorted(levels.items())), tuple(kind for kind in kinds if kind in self.mask))


def parse_egress(rules: Mapping[str, object]) -> Egress:
    """Return the egress rules from a mapping as in the table `[egress]`."""
    try:
        return _EgressRules.model_validate(dict(rules)).egress()
    except ValidationError as error:
        raise SettingsError(f"egress is wrong: {_format_first_error(error)}") from None


class _PermissionsFileContent(BaseModel):
    model_config = ConfigDict(extra="forbid")

    egress: _EgressRules = _EgressRules()
    default: _PermissionLists | None = None
    users: dict[str, _PermissionLists] = {}


@dataclass(frozen=True)
class PermissionsFile:
    """The content of a permissions file.

    Attributes:
        default: For whoever has no table; everything if the file has an `[egress]` alone, None if there is no
            `[default]` otherwise.
        users: By name.
        egress: What may leave for a model, whoever asks: the table `[egress]` (docs/egress.md).
    """

    path: Path
    default: Permissions | None = None
    users: dict[str, Permissions] = field(default_factory=dict[str, Permissions])
    egress: Egress = field(default_factory=Egress)

    @classmethod
    def read(cls, path: str | Path) -> PermissionsFile:
        """Read a permissions file."""
        path = Path(path)
        try:
            content = _PermissionsFileContent.model_validate(read_toml_file(path))
        except ValidationError as error:
            raise SettingsError(f"the permissions {path} are wrong: {_format_first_error(error)}") from None
        default = content.default.permissions() if content.default else None
        if default is None and content.egress.model_fields_set and not content.users:
            default = Permissions()  # it says what may leave, and nothing of who may read what
        users = {name: lists.permissions() for name, lists in content.users.items()}
        return cls(path, default, users, content.egress.egress())

    def allow_unnamed(self) -> PermissionsFile:
        """Return these rules, changed so that anonymous people may read everything."""
        return replace(self, users={**self.users, "": Permissions()})

    def of(self, name: str) -> Permissions:
        """Return a person's permissions; the default if the file has no table for the name."""
        permissions = self.users.get(name, self.default)
        if permissions is None:
            problem = f"neither a user {name!r} nor a [default]" if name else "no [default], so name a user"
            names = f"; it names {', '.join(sorted(filter(None, self.users)))}" if self.users else ""
            raise SettingsError(f"the permissions file {self.path} has {problem}{names}")
        return permissions


@dataclass(frozen=True)
class AccessRules:
    """The rules for who may read what: those for everybody and those per person."""

    permissions: Permissions = field(default_factory=Permissions)
    file: PermissionsFile | None = None

    @classmethod
    def of(
        cls,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        permissions: PermissionsFile | str | Path | None = None,
    ) -> AccessRules:
        """Return the access rules from an allow list, a deny list and a permissions file."""
        file = PermissionsFile.read(permissions) if isinstance(permissions, str | Path) else permissions
        check_argument("permissions", file, "the path of a permissions file", PermissionsFile)
        return cls(Permissions.of(allow, deny), file)

    def __bool__(self) -> bool:
        return bool(self.permissions) or self.file is not None

    def session(self, identity: Identity, base: Policy) -> Session:
        """Return a person's session under these rules and a given policy."""
        session = Session(identity, base)
        if self.file is not None:
            session = session.narrow(self.file.of(identity.name))
            egress = self.file.egress
            # Never laid over other rules, as two sets of levels may each hide what the other shows.
            if egress != Egress() and base.egress not in (Egress(), egress):
                raise SettingsError(f"egress is given both here and in {self.file.path}: give it once")
            if egress != Egress():
                session = replace(session, policy=replace(session.policy, egress=egress))
        return session.narrow(self.permissions)


def _format_first_error(error: ValidationError) -> str:
    detail = error.errors()[0]
    if detail["type"] == "extra_forbidden":
        *above, _ = detail["loc"]
        choices = "allow and deny" if above else "[default], [users.NAME] and [egress]"
        choices = "default, columns and mask" if error.title == _EgressRules.__name__ or "egress" in above else choices
        return f"{describe_fault(detail)}; there are {choices}"
    return describe_fault(detail)
