from rummy500_client import Bot


class MyBot(Bot):
    """Melds and lays off whatever it can, draws from the stock, and throws its dearest card."""

    def act(self, request):
        plays = [action for action in request.legal if action.kind in ("meld", "layoff")]
        if plays:
            return plays[0]
        if request.can("draw"):
            return "draw"
        discards = [action for action in request.legal if action.kind == "discard"]
        if discards:
            return max(discards, key=lambda discard: request.points(discard.cards[0]))
        return request.legal[0]
