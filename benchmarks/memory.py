"""A million steps: how much memory they need, and how much of it grows with their number."""

from measure import answer, measured, peak_MB, row, seconds

NOTE = """
Memory is the peak of a process that simulates a planar pendulum of 2 elements with steps of 1 ms and keeps every 100th state. The
result itself, its books and multipliers included, holds the number of bytes beside it.
"""


def measure(steps):
    from chains import chain

    import phloat as ph

    system = chain(1, "xy", elements=2)
    state, kept = ph.place(system), []
    taken = seconds(
        lambda: kept.append(ph.simulate(system, state, t_end=steps * 1e-3, dt=1e-3, output=100, progress=False))
    )
    peak, (result,) = peak_MB(), kept
    books = result.accounts
    held = (result.t, result.e, result.lam, books.bodies, books.losses, books.works, books.springs)
    return {
        "peak": peak,
        "seconds": taken,
        "rows": len(result),
        "held": sum(array.nbytes for array in held) / 2**20,
    }


def rows(quick=False):
    counts = (1_000, 2_000) if quick else (100_000, 1_000_000)
    few, many = (measured("memory.py", steps=count) for count in counts)
    said = [f"{count:,}".replace(",", " ") for count in counts]
    also = {"states kept": many["rows"], "MB of results": many["held"], "s": many["seconds"]}
    return [
        row(f"{said[1]} steps of a pendulum: peak memory", many["peak"], "MB", also=also),
        row(f"{said[1]} steps: more than {said[0]} need", many["peak"] - few["peak"], "MB"),
    ]


if __name__ == "__main__":
    answer(measure)
