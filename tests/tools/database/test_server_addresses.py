"""How a server is named: what a URL may hold, passwords that are never told, drivers that are missing."""

from __future__ import annotations

import sys

import pytest
from tableturn.tools.database import Database, Identity
from tableturn.tools.database.server.address import add_schemas_to_url, hide_url_secrets, parse_server_url
from tableturn.tools.errors import DatabaseUnavailable, SettingsError

SECRET = "s3cr3t-horse"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:{}@127.0.0.1:1/x",
        "mariadb://ann:{}@127.0.0.1:1/x",
        "postgres://ann:{}@127.0.0.1:1/x?sslmode=nonsense",
        "postgresql://ann:{}@[x/y",
        "mysql://ann:{}@127.0.0.1:x/y",
        "mysql://ann:{}@h/y?nosuch=1",
        "postgresql://h/y?password={}&nosuch=1",
        "nosuch://ann:{}@h/y",
        "://ann:{}@h",
    ],
)
def test_passwords_are_never_told(url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        Database.open(url.format(SECRET))
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_certificate_is_named() -> None:
    for name in ("ssl_ca", "ssl_cert", "ssl_key"):
        with pytest.raises(DatabaseUnavailable, match=f"no file /nosuch.pem, which {name} in the URL names"):
            Database.open(f"mysql://ann:{SECRET}@127.0.0.1:1/x?{name}=/nosuch.pem")


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "sqlalchemy+postgresql+psycopg", "sqlalchemy+mysql+pymysql"])
def test_no_part_of_a_password_with_an_at_is_told(scheme: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="%40") as caught:
        Database.open(f"{scheme}://ann:p@{SECRET}@127.0.0.1:1/x")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("password", ["a@b", "a/b", "a?b#c", "a:b@c"])
def test_passwords_end_at_the_last_at(password: str) -> None:
    assert hide_url_secrets(f"mysql://ann:{password}@h:3306/x") == "mysql://ann:***@h:3306/x"


def test_urls_without_a_password_are_told_whole() -> None:
    for url in ("mysql://ann@h:3306/x", "postgresql:///x?host=/tmp", "shop.sqlite", "mysql://ann@corp@h:3306/x"):
        assert hide_url_secrets(url) == url


@pytest.mark.parametrize("name", ["acme\0", "\0", "a\ud800", "\udfffb"])
def test_names_that_no_server_can_be_told(name: str) -> None:
    with pytest.raises(SettingsError, match="not valid text"):
        Identity(name=name)
    assert Identity(name="Ünal 😀").name == "Ünal 😀"


@pytest.mark.parametrize(
    ("scheme", "module", "extra"), [("postgresql", "psycopg", "postgres"), ("mysql", "pymysql", "mysql")]
)
def test_missing_drivers_are_named(monkeypatch: pytest.MonkeyPatch, scheme: str, module: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DatabaseUnavailable, match=rf"tableturn\[{extra}\]"):
        Database.open(f"{scheme}://me@127.0.0.1:1/x")


def test_schemas_are_put_into_the_url() -> None:
    assert add_schemas_to_url("postgresql://a@b/c", "sales,public") == "postgresql://a@b/c?schema=sales%2Cpublic"
    assert parse_server_url(add_schemas_to_url("mysql://a@b/c?x=1", "s")).schemas == ("s",)
    for url in ("shop.db", "sqlite:///shop.db", "postgresql://a@b/c?schema=s"):
        with pytest.raises(SettingsError, match="schemas"):
            add_schemas_to_url(url, "s")
