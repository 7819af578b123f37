"""The official ranking of a campaign by human judgments: the rule, and its boards."""
