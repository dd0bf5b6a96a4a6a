"""Log lines: facts with fields, as text for people or as JSON, on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.types import Processor

SECRET = frozenset(
    {"token", "secret", "seat_secret", "authorization", "seed", "hand", "hands", "stock", "card", "cards"}
)
"""Fields that are never written, whoever passes them: a log is read by people who may not see a hand."""


def configure_logs(log_format: str, log_level: str) -> None:
    """Sets logging up for this process, once, before the first server or channel."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_secrets,
    ]
    renderer: list[Processor] = (
        [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    level = logging.getLevelNamesMapping()[log_level.upper()]
    structlog.configure(
        processors=[*shared, *renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    handler.addFilter(_is_ours_to_tell)
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)


def _is_ours_to_tell(record: logging.LogRecord) -> bool:
    """gRPC tells as an error of ours when a caller was gone before its answer could be sent."""
    return record.exc_info is None or record.exc_info[0] is None or record.exc_info[0].__name__ != "ExecuteBatchError"


def without_secrets(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Takes out what a log may not hold."""
    for name in SECRET & event.keys():
        event[name] = "(withheld)"
    return event
