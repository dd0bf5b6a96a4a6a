"""The full rules of tables as messages, each made once: the sheet in them takes its time."""

from __future__ import annotations

from collections import OrderedDict

from rummy500.v1 import rules_pb2
from rummy500_catalog import Catalog
from rummy500_server.rules_wire import rules_message
from rummy500_server.table import Table

REMEMBERED = 64


class RulesMessages:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._made: OrderedDict[bytes, rules_pb2.Rules] = OrderedDict()

    def message(self, table: Table) -> rules_pb2.Rules:
        """To be read only."""
        choice = table.creation.choice
        key = repr((table.rules.digest, choice)).encode()
        if key not in self._made:
            self._made[key] = rules_message(self._catalog, table.rules, choice)
            if len(self._made) > REMEMBERED:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]
