"""What the seats of a table have beyond the time of a decision: bank, start-up allowance and grace.

It is a fold of what was charged: the same entries leave the same times.
"""

from __future__ import annotations

from rummy500_server.clock_terms import ClockTerms


class Banks:
    """By seat, in milliseconds. A decision uses up its own time first, then the start-up allowance (of a seat's first
    decision only), then the bank, then the grace, which only a seat that is not connected gets."""

    def __init__(self, terms: ClockTerms, players: int) -> None:
        self._terms = terms
        self.bank = [terms.bank_ms] * players
        self.startup = [terms.startup_ms] * players
        self.grace = [terms.grace_ms] * players

    def more_ms(self, seat: int) -> int:
        """What the seat's next decision has beyond `decision_ms`, but for grace."""
        return self.startup[seat] + self.bank[seat]

    def charge(self, seat: int, spent_ms: int) -> None:
        """A decision of the seat took so long."""
        over = spent_ms - self._terms.decision_ms - self.startup[seat]
        self.startup[seat] = 0
        if over <= 0:
            return
        from_bank = min(over, self.bank[seat])
        self.bank[seat] -= from_bank
        self.grace[seat] = max(0, self.grace[seat] - (over - from_bank))

    def begin_turn(self, seat: int) -> None:
        self.bank[seat] = min(self.bank[seat] + self._terms.increment_ms, self._terms.most_bank_ms)
