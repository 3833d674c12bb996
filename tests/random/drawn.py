"""How many examples Hypothesis tries, the same ones every time."""

from hypothesis import HealthCheck, Phase, given, settings


def tried(count: int):
    """So many examples, deterministic, however long they take."""
    return settings(
        max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )


def some(strategy, count: int, made) -> list:
    """What is made of so many different ones; those drawn one after the other are often alike."""
    found: dict = {}

    @settings(tried(8 * count), phases=[Phase.generate])
    @given(strategy)
    def collect(plan):
        if plan not in found:
            found[plan] = made(plan)

    collect()
    return list(found.values())[:: -(len(found) // count)][:count]
