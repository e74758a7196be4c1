"""What goes wrong with a provider."""


class ProviderFailure(Exception):
    """The provider did not say who somebody is. `is_away`: it may do so in a moment."""

    def __init__(self, why: str, *, is_away: bool = False) -> None:
        super().__init__(why)
        self.is_away = is_away
