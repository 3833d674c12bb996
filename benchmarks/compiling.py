"""What the first run after an installation waits for: the kernel, compiled into an empty cache."""

from tempfile import TemporaryDirectory

from measure import answer, measured, row, seconds

NOTE = """
Compilation is what the first run of a process with an empty cache takes longer than the second one in that process; of the next
process, with the cache now full, the same difference is what loading it takes.
"""


def measure():
    """`place` and `simulate` of a short chain, the first and the second time."""
    from chains import chain

    import phloat as ph

    system = chain(2, "xy")

    def step():
        ph.simulate(system, ph.place(system), t_end=0.01, dt=1e-3)

    first, second = seconds(step), seconds(step)
    return first - second


def rows(quick=False):
    with TemporaryDirectory() as cache:
        compiled, loaded = (measured("compiling.py", environment={"NUMBA_CACHE_DIR": cache}) for _ in range(2))
    return [
        row("compilation, once per installation", compiled, "s"),
        row("loading what was compiled, once per process", loaded, "s"),
    ]


if __name__ == "__main__":
    answer(measure)
