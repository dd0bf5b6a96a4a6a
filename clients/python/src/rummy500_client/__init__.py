"""The bot SDK and the rummy500 command: they know the protocol only."""

from rummy500_client.bot import Answer, Bot, LegalAction, Request

__all__ = ["Answer", "Bot", "LegalAction", "Request"]
