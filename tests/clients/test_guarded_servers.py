"""Servers that ask for tokens and speak TLS, as people and bots meet them; and that no secret is told anywhere."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.clients.running import PATIENCE, command, environment, rummy500
from tests.server.certificates import Certificates, issue

from rummy500_client.examples import mybot
from rummy500_server.commands.token import add_token
from rummy500_server.identity import Role

MYBOT = f"{mybot.__file__}:MyBot"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return issue(tmp_path_factory.mktemp("certificates"))


@contextmanager
def guarded_server(directory: Path, *flags: str) -> Iterator[str]:
    """A server that logs everything into `server.log` in the directory: its address."""
    serve = [sys.executable, "-m", "rummy500_server", "serve", "--port", "0", "--database", str(directory / "games.db")]
    with (directory / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*serve, "--log-level", "debug", *flags],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment(directory),
        )
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)


# --- TLS


def asked(address: str, *flags: str, state: Path) -> str:
    """What `rummy500 variants` says of the server: its error, or `ok`."""
    ended = rummy500("variants", "--server", address, *flags, state=state)
    if ended.returncode == 0:
        return "ok"
    (sentence,) = ended.stderr.splitlines()
    return sentence.removeprefix("rummy500: ")


def test_whom_a_client_cannot_trust_it_tells_in_one_sentence(certificates: Certificates, state: Path) -> None:
    flags = ("--tls-cert", certificates.server_cert, "--tls-key", certificates.server_key)
    with guarded_server(state, *flags, "--tls-client-ca", certificates.ours_ca) as address:
        own = ("--cert", certificates.client_cert, "--key", certificates.client_key)
        assert asked(address, "--ca", certificates.ours_ca, *own, state=state) == "ok"
        assert "whom you trust signed: give its CA with --ca FILE" in asked(address, "--tls", *own, state=state)
        assert "perhaps it wants TLS (--tls or --ca FILE), or a certificate of yours" in asked(address, state=state)
        without = asked(address, "--ca", certificates.ours_ca, state=state)
        assert "a certificate of yours (--cert FILE --key FILE)" in without
        assert "--cert and --key belong together" in asked(address, "--cert", own[1], state=state)
        assert "missing.pem cannot be read: No such file" in asked(address, "--ca", "missing.pem", state=state)
        assert "is no certificate or key in PEM" in asked(address, "--ca", str(state / "server.log"), state=state)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("expired", "shows a certificate that has expired: its host must renew it"),
        ("elsewhere", "shows a certificate of another name"),
        ("", "speaks no TLS: leave out --tls, --ca, --cert and --key"),
    ],
)
def test_a_certificate_that_is_not_right_is_told(
    certificates: Certificates, state: Path, name: str, sentence: str
) -> None:
    directory = certificates.directory
    flags = ("--tls-cert", f"{directory}/{name}.cert", "--tls-key", f"{directory}/{name}.key") if name else ()
    with guarded_server(state, *flags) as address:
        assert sentence in asked(address, "--ca", certificates.ours_ca, state=state)


# --- tokens and invitations


@dataclass
class Spies:
    """What other users of the machine may see: the arguments of all processes, while a session goes on."""

    seen: set[str] = field(default_factory=set)
    _is_over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        while not self._is_over.wait(0.05):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    self.seen.add((process / "cmdline").read_text(errors="replace").replace("\0", " "))
                except OSError:
                    continue

    @contextmanager
    def at_work(self) -> Iterator[None]:
        thread = threading.Thread(target=self.look)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()


def test_a_guarded_server_is_played_on_and_tells_no_secret(certificates: Certificates, state: Path) -> None:
    """A host's session with everything in it: a match with bots of its own, a private table, a guest, a spectator."""
    tokens = state / "tokens"
    player, fan = add_token(tokens, "anna", Role.PLAYER), add_token(tokens, "fan", Role.SPECTATOR)
    seed = "5eed" * 16
    flags = ("--tls-cert", certificates.server_cert, "--tls-key", certificates.server_key)
    said: list[str] = []
    spies = Spies()

    def run(*arguments: str, at: str = "anna", code: int = 0, token: str = "") -> str:
        home = state / at
        home.mkdir(exist_ok=True)
        told = {"RUMMY500_SERVER": address, "RUMMY500_CA": certificates.ours_ca, "RUMMY500_TOKEN": token}
        ended = rummy500(*arguments, state=home, at=state, **told)
        assert ended.returncode == code, ended.stderr
        said.append(ended.stderr)
        return ended.stdout.strip()

    with (
        guarded_server(state, *flags, "--tokens", str(tokens), "--require-token") as address,
        spies.at_work(),
    ):
        match = json.loads(
            run(*("match", "run", "--bot", MYBOT, "--bot", "builtin:easy", "--deals", "1"), "--json", token=player)
        )
        table = run("tables", "create", "--private", "--option", "target=1", token=player)
        guest = run("tables", "invite", table, "--uses", "1", token=player)
        watching = run("tables", "invite", table, "--spectator", token=player)
        (state / "invitation").write_text(guest + "\n")
        run("tables", "join", table, "--name", "ben", "--invitation-file", "invitation", at="ben")
        bot = subprocess.Popen(
            command("bot", "run", MYBOT, "--name", "own", "--games", "1"),
            env=environment(state, RUMMY500_SERVER=address, RUMMY500_CA=certificates.ours_ca)
            | {"RUMMY500_TOKEN": "a-bot-that-nobody-registered"},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert "this server asks for a token that it knows" in bot.communicate(timeout=PATIENCE)[1]
        run("tables", "create", at="fan", code=1, token=fan)
        run("tables", "list", at="eve", code=1)
        run("tables", "show", table, at="fan", code=1, token=fan)
        shown = run("tables", "show", table, "--json", at="fan", token=watching)
        listed = run("tables", "list", "--json", at="fan", token=fan)
        run("tables", "revoke", table, token=player)
        run("tables", "show", table, at="fan", code=1, token=watching)
        run("play", "--seed", seed, "--bots", "easy", "--option", "target=1", token=player)
        run("tables", "close", table, token=player)

    own = [json.loads((home / "rummy500" / "seats.json").read_text()) for home in (state / "anna", state / "ben")]
    secrets = {player, fan, guest, watching, *(seat["secret"] for seats in own for seat in seats)}
    secrets.add((state / "eve" / "rummy500" / "token").read_text().strip())
    assert match["state"] == "MATCH_STATE_FINISHED"
    assert [seat.get("name") for seat in json.loads(shown)["seats"]] == ["ben", ""]
    assert table not in listed
    assert "the role player or host; the token of fan has the role spectator" in "".join(said)
    told = {
        "log": (state / "server.log").read_text(),
        "errors": "".join(said),
        "what others see": shown + listed,
        "arguments": "\n".join(spies.seen),
        "database": database_text(state),
    }
    assert "request.refused" in told["log"]
    assert "--private" in told["arguments"]
    for place, text in told.items():
        assert not [secret for secret in secrets if secret in text], place
    assert seed not in told["log"] + told["errors"]
    assert (state / "games.db").stat().st_mode & 0o777 == 0o600


def database_text(state: Path) -> str:
    with sqlite3.connect(state / "games.db") as database:
        return "\n".join(database.iterdump()) + "".join(
            path.read_bytes().decode("latin-1") for path in state.glob("games.db*")
        )


def test_secrets_are_read_from_files_and_refused_where_they_cannot_be(server: str, state: Path) -> None:
    (state / "short").write_text("short\n")
    for flags in (["--token-file", "short"], ["--token-file", "missing"]):
        ended = rummy500("tables", "list", "--server", server, *flags, state=state)
        assert ended.returncode == 2
        assert len(ended.stderr.splitlines()) == 1
    typed = rummy500(
        *("tables", "join", "t-000000000000", "--name", "ben", "--server", server, "--invitation-file", "-"),
        state=state,
        typed="short\n",
    )
    assert "a token is 16 to 64 printable ASCII characters" in typed.stderr
