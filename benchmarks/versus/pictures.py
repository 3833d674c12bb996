"""Time against error for each problem, and time a step against the number of links: log-log."""

import sweep

OURS, THEIRS = ("#1f5fa8", "#4fa3d9", "#7a6fc0"), ("#c8501e", "#e2a03f")
LINES = (*OURS, *THEIRS)


def drawn(record, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for name, problem in record.get("problems", {}).items():
        figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
        for (family, runs), colour in zip(problem["families"].items(), _colours(problem), strict=True):
            points = [run for run in runs if run["error"] > 0.0]
            axes.loglog(
                [r["error"] for r in points], [1e3 * r["seconds"] for r in points], ".", color=colour, alpha=0.25, ms=5
            )
            best = sweep.front(points)
            axes.loglog(
                [r["error"] for r in best], [1e3 * r["seconds"] for r in best], "o-", color=colour, label=family, ms=4
            )
        axes.set(
            title=problem["title"],
            xlabel="largest error against the converged motion",
            ylabel="time of the processor, ms",
            xlim=(None, 3e-2),
        )
        axes.invert_xaxis()
        _finish(axes, figure, folder / f"{name}.png", plt)
    if "steps" in record:
        figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
        for k, family in enumerate(next(iter(record["steps"].values()))):
            points = [(int(n), 1e6 * runs[family]["step"]) for n, runs in record["steps"].items() if family in runs]
            style = "o-" if family.startswith("phloat") else "s--"
            axes.loglog(*zip(*points, strict=True), style, label=family, color=LINES[k], ms=4)
        axes.set(title="Chains of flexible links", xlabel="links", ylabel="time a step, µs")
        axes.set_xticks([2, 8, 32, 64], ["2", "8", "32", "64"])
        axes.minorticks_off()
        _finish(axes, figure, folder / "steps.png", plt)


def _colours(problem):
    """Blues for phloat, browns for the peer."""
    ours, theirs = iter(OURS), iter(THEIRS)
    return [next(ours if family.startswith("phloat") else theirs) for family in problem["families"]]


def _finish(axes, figure, path, plt):
    axes.grid(which="both", alpha=0.2)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
