from rummy500_client import Bot
from rummy500_client.insight import Insights


class GoodBot(Bot):
    """Takes what lets it lay more, lays what earns most, and throws what neither it nor the others need."""

    def __init__(self):
        self.insights = Insights()

    def act(self, request):
        insight = self.insights.of(request)
        if request.can("call"):
            return next(action for action in request.legal if action.kind == "call")
        if request.can("draw") or request.can("take"):
            return self.draw(request, insight)
        if request.can("pass"):
            return "pass"
        plays = insight.best_plays()
        discards = insight.discards_after(plays)
        if discards:
            plays.append("discard " + max(discards, key=lambda card: self.value_without(insight, card, plays)))
        return plays

    def draw(self, request, insight):
        """The take after which most could be laid, if that is more than without it; else the stock."""
        takes = [action for action in request.legal if action.kind == "take"]
        best = max(takes, key=insight.points_after, default=None)
        if best and insight.points_after(best) > insight.points_now():
            return best
        return "draw" if request.can("draw") else request.legal[-1]

    def value_without(self, insight, card, plays):
        """What the hand is worth without the card, less what others would make of it."""
        return insight.worth_without(card, plays) - 2 * insight.danger(card, plays)
