"""Colours of lines: Okabe and Ito, told apart by everybody."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MOST_NAMED = 8  # lines that a legend can name


def cycle(count: int) -> list[str]:
    """As many colours as asked for, again from the first when they run out."""
    return [COLOURS[i % len(COLOURS)] for i in range(count)]
