"""Every setting is a flag and an environment variable, and a bad one is one clear sentence."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

import pytest

import rummy500_server
from rummy500_server.settings import BadSetting, Settings, add_flags, flag, read_settings, text_of, variable

SERVER = Path(rummy500_server.__file__).parent


def read(*flags: str, **environment: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    return read_settings(vars(parser.parse_args(flags)), environment)


def other_value(name: str) -> str:
    """A value that is allowed and not the default."""
    field = next(each for each in fields(Settings) if each.name == name)
    if isinstance(field.default, bool):
        return text_of(not field.default)
    if field.metadata["choices"]:
        return str(next(choice for choice in field.metadata["choices"] if choice != field.default))
    return (
        str(field.default + 1) if isinstance(field.default, int) and field.default < 1_024 else _smaller(field.default)
    )


def _smaller(default: object) -> str:
    return str(default - 1) if isinstance(default, int) else f"other-{default}"


@pytest.mark.parametrize("name", [each.name for each in fields(Settings)])
def test_a_flag_goes_before_the_environment_and_that_before_the_default(name: str) -> None:
    default, value = text_of(getattr(Settings(), name)), other_value(name)
    given = ("--no-" + flag(name)[2:],) if default == "false" else (flag(name), default)

    assert text_of(getattr(read(), name)) == default
    assert text_of(getattr(read(**{variable(name): value}), name)) == value
    assert text_of(getattr(read(*given, **{variable(name): value}), name)) == default


def test_the_lines_of_print_config_are_environment_variables_that_give_the_same_settings() -> None:
    settings = Settings(port=0, database="games.db", decision_ms=50)

    assert read(**dict(line.split("=", 1) for line in settings.lines())) == settings


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"RUMMY500_PORT": "many"}, "RUMMY500_PORT is 'many': it must be a whole number"),
        ({"RUMMY500_PORT": "70000"}, "--port is 70000: it may be 0 to 65535"),
        ({"RUMMY500_LOG_FORMAT": "xml"}, "--log-format is 'xml': it may be console or json"),
        ({"RUMMY500_INSECURE": "yes"}, "RUMMY500_INSECURE is 'yes': it may be true or false"),
        ({"RUMMY500_PROT": "1"}, "RUMMY500_PROT is no setting"),
    ],
)
def test_a_bad_setting_is_named_with_what_it_may_be(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadSetting, match=sentence):
        read(**environment)


@pytest.mark.parametrize("name", [each.name for each in fields(Settings)])
def test_every_setting_has_a_user(name: str) -> None:
    readers = [path for path in SERVER.rglob("*.py") if f"settings.{name}" in path.read_text()]
    assert readers


def test_the_variables_of_the_client_are_no_settings_and_no_mistakes() -> None:
    assert read(RUMMY500_SERVER="127.0.0.1:1", RUMMY500_TOKEN="x", RUMMY500_NAME="anna") == Settings()
