"""Built-in players: each gets what a remote bot gets, decoded, and nothing else."""

from rummy500_bots.decision import Bot, Decision
from rummy500_bots.registry import BotKind, BotRefused, BotSetting, BotSpec, built_in, kinds

__all__ = ["Bot", "BotKind", "BotRefused", "BotSetting", "BotSpec", "Decision", "built_in", "kinds"]
