"""Errors as data: the reasons are those of the contract, and each becomes what API law 8 says."""

from __future__ import annotations

import re
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from rummy500.v1 import refusal_pb2
from rummy500_engine.refusals import Refusal, Refused
from rummy500_engine.terms import RulesRefused, VariantError
from rummy500_server.status import DETAILS, Failure, Reason, Rejection, bad_request, rejection_of

CONTRACT = Path(__file__).resolve().parents[2] / "proto/rummy500/v1/refusal.proto"


def rejected(error: Exception) -> Rejection:
    rejection = rejection_of(error)
    assert rejection is not None
    return rejection


def detail(rejection: Rejection, kind: type[Message]) -> Message | None:
    """A detail as it stands in the trailers."""
    ((key, serialized),) = rejection.trailers()
    assert key == DETAILS
    status = status_pb2.Status.FromString(serialized)
    assert (status.code, status.message) == (rejection.number, rejection.sentence)
    for packed in status.details:
        message = kind()
        if packed.Unpack(message):
            return message
    return None


def test_the_reasons_are_those_of_the_contract_with_their_status_codes() -> None:
    text = CONTRACT.read_text()
    stated = {
        name: grpc.StatusCode[code]
        for code, name in re.findall(r"// ([A-Z_]+)[.,](?:[^\n]*\n\s*//)*[^\n]*\n\s*ERROR_REASON_(\w+) =", text)
        if code in grpc.StatusCode.__members__
    }

    assert set(refusal_pb2.ErrorReason.keys()) == {"ERROR_REASON_UNSPECIFIED"} | {
        f"ERROR_REASON_{reason.name}" for reason in Reason
    }
    assert {reason.name: reason.kind.code for reason in Reason} == stated


def test_the_refusals_of_the_engine_are_those_of_the_contract() -> None:
    assert set(refusal_pb2.RefusalReason.keys()) == {"REFUSAL_REASON_UNSPECIFIED"} | {
        f"REFUSAL_REASON_{refusal.name}" for refusal in Refusal
    }


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
def test_every_failure_carries_its_reason_and_when_to_come_back(reason: Reason) -> None:
    rejection = rejected(Failure(reason, "a sentence", retry_after=2.5, limit=7))

    info = detail(rejection, error_details_pb2.ErrorInfo)
    retry = detail(rejection, error_details_pb2.RetryInfo)
    assert isinstance(info, error_details_pb2.ErrorInfo)
    assert (rejection.code, info.reason, info.domain, dict(info.metadata)) == (
        reason.kind.code,
        reason.name,
        "rummy500",
        {"limit": "7"},
    )
    needs_retry = reason.kind.code in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)
    assert (retry is not None) == needs_retry
    if isinstance(retry, error_details_pb2.RetryInfo):
        assert retry.retry_delay.ToMilliseconds() == 2_500


def test_a_refused_action_is_a_failed_precondition_with_its_code() -> None:
    rejection = rejected(Refused(Refusal.NOT_A_MELD, "7S 8S JC is neither a set nor a run"))

    info = detail(rejection, error_details_pb2.ErrorInfo)
    assert isinstance(info, error_details_pb2.ErrorInfo)
    assert (rejection.code, info.reason, rejection.sentence) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "NOT_A_MELD",
        "7S 8S JC is neither a set nor a run",
    )


def test_a_refusal_of_a_variant_keeps_the_variants_code() -> None:
    assert rejected(Refused("CALL_RUMMY_TOO_LATE", "too late")).reason == "CALL_RUMMY_TOO_LATE"


def test_a_bad_request_names_each_field() -> None:
    rejection = rejected(bad_request("seats", "2 to 8", ("title", "at most 64 characters")))

    named = detail(rejection, error_details_pb2.BadRequest)
    assert isinstance(named, error_details_pb2.BadRequest)
    assert rejection.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(each.field, each.description) for each in named.field_violations] == [
        ("seats", "2 to 8"),
        ("title", "at most 64 characters"),
    ]


def test_refused_rules_name_the_field() -> None:
    rejection = rejected(RulesRefused("option target is 0; allowed: 1 to 10000", field="options.target"))

    named = detail(rejection, error_details_pb2.BadRequest)
    assert isinstance(named, error_details_pb2.BadRequest)
    assert (rejection.reason, named.field_violations[0].field) == ("RULES_REFUSED", "options.target")


def test_a_broken_variant_names_its_distribution() -> None:
    error = VariantError(variant="odd", hook="rummy500_pack", distribution="odd-rules", problem="raised KeyError")

    info = detail(rejected(error), error_details_pb2.ErrorInfo)
    assert isinstance(info, error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"variant": "odd", "distribution": "odd-rules"}


def test_a_limit_names_itself_in_quota_failure() -> None:
    rejection = rejected(Failure(Reason.TOO_MANY_TABLES, "100 tables are open", limit=100))

    quota = detail(rejection, error_details_pb2.QuotaFailure)
    assert isinstance(quota, error_details_pb2.QuotaFailure)
    assert quota.violations[0].description == "100 tables are open"


def test_a_mistake_of_ours_is_no_rejection() -> None:
    assert rejection_of(KeyError("seat")) is None


def test_a_sentence_is_cut_at_512_bytes() -> None:
    for text in ("x", "ü", "🂡"):
        sentence = rejected(Failure(Reason.NO_SUCH_TABLE, text * 2_000)).sentence
        assert 500 < len(sentence.encode()) <= 512
