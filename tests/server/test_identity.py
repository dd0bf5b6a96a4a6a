"""Who a caller is comes from the token alone."""

from __future__ import annotations

import hashlib

import pytest

from rummy500_server.door import Door
from rummy500_server.identity import ANONYMOUS, Principal, digest_of, digest_sent
from rummy500_server.status import Failure, Reason

TOKEN = "0123456789abcdef"


def test_a_bearer_token_is_known_by_its_digest() -> None:
    principal = Door().admit([("user-agent", "x"), ("authorization", f"Bearer {TOKEN}")])

    assert principal == Principal(hashlib.sha256(TOKEN.encode()).hexdigest())
    assert principal.is_same(digest_of(TOKEN))
    assert TOKEN not in repr(principal)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(scheme: str) -> None:
    assert digest_sent([("authorization", f"{scheme} {TOKEN}")]) == digest_of(TOKEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        "Bearer short",
        f"Bearer {'x' * 65}",
        "Bearer 0123456789 abcdef",
    ],
)
def test_a_malformed_authorization_is_refused(text: str) -> None:
    with pytest.raises(Failure) as failed:
        digest_sent([("authorization", text)])
    assert failed.value.reason is Reason.NO_TOKEN


def test_nobody_is_the_same_as_anonymous() -> None:
    assert Door().admit([]) == ANONYMOUS
    assert not ANONYMOUS.is_same(None)
    assert not ANONYMOUS.is_same(digest_of(TOKEN))
    assert not Principal(digest_of(TOKEN)).is_same(None)
    with pytest.raises(Failure):
        ANONYMOUS.required()
