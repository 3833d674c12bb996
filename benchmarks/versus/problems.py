"""What is run: for each problem its families of members (code, elements, steps, settings), and what their errors are against."""

from dataclasses import dataclass, field
from itertools import product

LINK = {"length": 1.0, "width": 0.02, "height": 0.02, "E": 1e9, "rho": 2700.0}
THIN = {"length": 0.5, "width": 0.02, "height": 0.005, "E": 70e9, "rho": 2700.0}  # benchmarks/chains.py
TOLERANCES = (1e-3, 1e-4)  # of Exudyn's Newton: looser ones spoil the accuracy first
SOLVERS = ("EigenDense", "EigenSparse")


def grid(**axes):
    """Every combination; an axis that is no tuple is the same for all."""
    axes = {name: values if isinstance(values, tuple) else (values,) for name, values in axes.items()}
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


@dataclass(frozen=True)
class Family:
    """Members of one code; their errors are against the reference of this name."""

    code: str
    members: list
    reference: str


@dataclass(frozen=True)
class Reference:
    """A fine run, extrapolated over its steps where it is of second order: (4 fine − half as fine) / 3."""

    code: str
    member: dict
    extrapolated: bool = False


@dataclass(frozen=True)
class Problem:
    """Work against accuracy: `scale` is what errors are relative to; `common` goes to every member."""

    title: str
    module: str
    scale: float
    families: dict
    references: dict
    common: dict = field(default_factory=dict)
    aim: float | None = None  # the ratio hoped for at 1e-4
    targets: tuple = (1e-3, 1e-4, 1e-5)


CRANK_SLIDER = Problem(
    "Crank-slider of the paper",
    "crank_slider",
    0.01537,
    {
        "phloat": Family(
            "phloat",
            grid(elements=(4, 6), steps=(400, 800, 1600, 3200))
            + grid(elements=(8, 12), steps=(3200, 6400, 12800))
            + grid(elements=(4, 5, 6), steps=(800, 1200, 1600, 3200), scheme="loose")
            + grid(elements=(8, 12), steps=(3200, 6400, 12800, 16000), scheme="loose")
            + grid(elements=(8, 12, 16), steps=(480, 960, 1280, 1920), scheme=("order 4", "order 4, loose")),
            "phloat",
        ),
        "phloat, rod in modes": Family(
            "phloat",
            grid(elements=24, modes=(3, 5, 6), axial=0, steps=(1200, 1600, 2400, 12800), scheme="loose")
            + grid(elements=24, modes=(3, 5, 6), axial=0, steps=(960, 1280, 1440, 1600, 2560), scheme="order 4, loose"),
            "phloat",
        ),
        "phloat, rod in two pieces": Family(
            "phloat",
            grid(elements=(3, 4, 6), steps=(800, 1600, 12800), pieces=2)
            + grid(elements=(3, 4, 6), steps=(800, 1200, 1600, 6400, 12800, 16000), pieces=2, scheme="loose")
            + grid(elements=(6, 8), steps=(960, 1280, 1600), pieces=2, scheme="order 4, loose"),
            "exudyn",
        ),
        "Exudyn, ANCF cables": Family(
            "exudyn",
            grid(elements=(4, 5, 6), steps=(400, 800, 1200, 1600, 3200), tolerance=TOLERANCES, solver=SOLVERS)
            + grid(
                elements=(8, 12, 16, 24),
                steps=(3200, 6400, 12800, 16000, 25600),
                tolerance=TOLERANCES,
                solver="EigenSparse",
            ),
            "exudyn",
        ),
    },
    {
        "phloat": Reference("phloat", {"elements": 24, "steps": 2560, "scheme": "order 4"}),
        "exudyn": Reference("exudyn", {"elements": 32, "steps": 51200, "tolerance": 1e-7}, extrapolated=True),
    },
    aim=5.0,
)

DOUBLE_PENDULUM = Problem(
    "Flexible double pendulum",
    "pendulum",
    1.0,
    {
        "phloat": Family(
            "phloat",
            grid(elements=(2, 3, 4, 5, 6), steps=(400, 600, 800, 1000, 2000, 4000), frame="pinned")
            + grid(elements=(2, 3, 4, 5, 6), steps=(400, 600, 800, 1000, 2000, 4000), frame="pinned", scheme="loose")
            + grid(elements=(3, 4, 5, 6), steps=(100, 150, 200, 300, 400), frame="pinned", scheme="order 4, loose")
            + grid(elements=16, modes=(2, 3, 4), axial=0, steps=(400, 600, 800, 1000), frame="pinned", scheme="loose"),
            "exudyn",
        ),
        "phloat, links in two pieces": Family(
            "phloat",
            grid(pieces=2, elements=(1, 2), steps=(400, 800, 2000, 4000), frame="pinned")
            + grid(pieces=2, elements=(3, 4), steps=(800,), frame="pinned", scheme="order 4"),
            "exudyn",
        ),
        "Exudyn, ANCF cables": Family(
            "exudyn",
            grid(elements=(2, 3, 4, 5), steps=(400, 600, 800, 1000, 2000, 4000), tolerance=TOLERANCES, solver=SOLVERS)
            + grid(elements=(6, 8, 12), steps=(2000, 4000, 8000, 16000), tolerance=TOLERANCES, solver="EigenSparse"),
            "exudyn",
        ),
    },
    {
        "phloat": Reference("phloat", {"elements": 12, "steps": 1600, "frame": "pinned", "scheme": "order 4"}),
        "exudyn": Reference("exudyn", {"elements": 32, "steps": 16000, "tolerance": 1e-7}, extrapolated=True),
    },
    {"links": 2, "link": LINK, "t_end": 2.0, "samples": 100},
    aim=3.0,
)

CHAIN = Problem(
    "Chain of eight links",
    "pendulum",
    0.5,
    {
        "phloat": Family(
            "phloat",
            grid(elements=(1, 2, 3), steps=(100, 200, 500, 1000, 2000), frame="pinned", scheme=("midpoint", "loose"))
            + grid(elements=(2, 3), steps=(100, 200), frame="pinned", scheme=("order 4", "order 4, loose")),
            "exudyn",
        ),
        "Exudyn, ANCF cables": Family(
            "exudyn",
            grid(
                elements=(1, 2, 3, 4),
                steps=(100, 200, 500, 1000, 2000, 4000),
                tolerance=TOLERANCES,
                solver="EigenSparse",
            ),
            "exudyn",
        ),
    },
    {
        "phloat": Reference("phloat", {"elements": 5, "steps": 400, "frame": "pinned", "scheme": "order 4"}),
        "exudyn": Reference("exudyn", {"elements": 8, "steps": 8000, "tolerance": 1e-6}, extrapolated=True),
    },
    {"links": 8, "link": THIN, "t_end": 1.0, "samples": 25},
    aim=3.0,
)

SPIN_UP = Problem(
    "Spin-up beam",
    "spin_up",
    0.576,
    {
        "phloat": Family(
            "phloat",
            grid(elements=(2, 3, 4, 6), steps=(400, 800, 1600, 3200), scheme=("midpoint", "loose"))
            + grid(elements=(4, 6, 8), steps=(200, 400), scheme=("order 4", "order 4, loose")),
            "phloat",
        ),
        "Exudyn, ANCF cables": Family(
            "exudyn",
            grid(
                elements=(4, 6, 8, 12),
                steps=(2000, 4000, 8000, 16000),
                tolerance=1e-4,
                absolute=1e-4,
                solver="EigenDense",
                anew=True,
                rho=0.9,
            ),
            "exudyn",
        ),
    },
    {
        "phloat": Reference("phloat", {"elements": 16, "steps": 2000, "scheme": "order 4"}),
        "exudyn": Reference(
            "exudyn",
            {"elements": 16, "steps": 16000, "tolerance": 1e-6, "absolute": 1e-5, "rho": 0.9, "anew": True},
            extrapolated=True,
        ),
    },
)

HINGED_BEAM = Problem(
    "Hinged spatial beam of the paper",
    "hinged_beam",
    141.42,
    {
        "phloat": Family(
            "phloat",
            grid(elements=(1, 2, 3), steps=(200, 400, 800, 1600, 3200, 6400), scheme=("midpoint", "loose")),
            "phloat",
        ),
        "Exudyn, spatial ANCF beams": Family(
            "exudyn",
            grid(elements=(4, 8, 16), steps=(200, 400, 800, 1600), tolerance=TOLERANCES, solver="EigenSparse"),
            "exudyn",
        ),
    },
    {
        "phloat": Reference("phloat", {"elements": 6, "steps": 12800}, extrapolated=True),
        "exudyn": Reference("exudyn", {"elements": 32, "steps": 3200, "tolerance": 1e-5}, extrapolated=True),
    },
)

SOLID_CRANK = Problem(  # its stiff static modes ring: less than 1e-2 takes steps that nobody would make, in either code
    "Crank-slider with a solid rod, floating frames in both codes",
    "solid_crank",
    0.0382,
    {
        "phloat": Family("phloat", grid(modes=6, steps=(400, 800, 1600, 3200), scheme=("midpoint", "loose")), "phloat"),
        "Exudyn, ObjectFFRFreducedOrder": Family(
            "exudyn",
            grid(modes=6, steps=(400, 800, 1600, 3200), tolerance=TOLERANCES, solver="EigenDense"),
            "exudyn",
        ),
    },
    {
        "phloat": Reference("phloat", {"modes": 6, "steps": 25600}, extrapolated=True),
        "exudyn": Reference("exudyn", {"modes": 6, "steps": 25600, "tolerance": 1e-5}, extrapolated=True),
    },
    targets=(1e-2,),
)

PROBLEMS = {
    "crank-slider": CRANK_SLIDER,
    "double-pendulum": DOUBLE_PENDULUM,
    "chain": CHAIN,
    "spin-up": SPIN_UP,
    "hinged-beam": HINGED_BEAM,
    "solid-crank": SOLID_CRANK,
}
