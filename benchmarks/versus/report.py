"""The tables, as text."""

import per_step

FAMILIES = "families"


def written(record, folder=None):
    """All tables; in a folder they become RESULTS.md, with pictures."""
    parts = [HEAD.format(machine=", ".join(f"{key} {value}" for key, value in record["machine"].items()))]
    problems = record.get("problems", {})
    if problems:
        parts += ["## Time to an accuracy", "", *summary(problems), *SUMMARY_NOTE]
    if "steps" in record:
        parts += ["## Time a step: chains", "", *chains(record["steps"]), *CHAIN_NOTE]
    if "solids" in record:
        parts += ["## Floating frames in both codes", "", *solids(record["solids"]), *SOLID_NOTE]
    if "start" in record:
        parts += ["## Start", "", *start(record)]
    for name, problem in problems.items():
        parts += [f"## {problem['title']}", "", *of_problem(name, problem)]
    if "operations" in record and "steps" in record:
        parts += ["## Operations", "", *operations(record["operations"], record["steps"])]
    text = "\n".join(parts) + "\n"
    if folder is not None:
        from pictures import drawn

        drawn(record, folder)
        (folder / "RESULTS.md").write_text(text, encoding="utf-8")
    return text


def milliseconds(run):
    return f"{1e3 * run['seconds']:.3g} ms" if run else "—"


def described(run):
    """A member in words: what it is made of and how it steps."""
    if not run:
        return "—"
    m = run["member"]
    pieces = f"{m['pieces']} × " if m.get("pieces", 1) > 1 else ""
    what = f"{pieces}{m['elements']} elements" if m.get("elements", 1) != 1 or pieces else "1 element"
    what = f"{m['modes']} modes" if m.get("modes") else what
    scheme = f", {m['scheme']}" if m.get("scheme", "midpoint") != "midpoint" else ""
    return f"{what}, {m['steps']} steps{scheme}"


def drift(run):
    return f"{run['drift'] / run['kinetic']:.1e}" if run and run.get("kinetic") else "—"


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def ours_and_theirs(families):
    """The quickest family of each code."""
    codes = {}
    for name, run in families.items():
        code = run["member"]["code"]
        if code not in codes or run["seconds"] < codes[code][1]["seconds"]:
            codes[code] = (name, run)
    return codes.get("phloat", ("", None))[1], codes.get("exudyn", ("", None))[1]


def ratio(ours, theirs):
    return f"{theirs['seconds'] / ours['seconds']:.2f}" if ours and theirs else "—"


def summary(problems):
    lines = [
        row(
            "problem",
            "accuracy",
            "phloat",
            "Exudyn",
            "Exudyn / phloat",
            "aim",
            "errors",
            "coordinates",
            "drift of energy",
        ),
        row(*["---"] * 9),
    ]
    for problem in problems.values():
        for target, families in problem["found"].items():
            ours, theirs = ours_and_theirs(families)
            if not ours and not theirs:
                continue
            lines.append(
                row(
                    problem["title"],
                    target,
                    milliseconds(ours),
                    milliseconds(theirs),
                    ratio(ours, theirs),
                    f"{problem['aim']:g}" if problem["aim"] and target == "0.0001" else "",
                    " / ".join(f"{run['error']:.1e}" if run else "—" for run in (ours, theirs)),
                    " / ".join(str(run["coordinates"]) if run else "—" for run in (ours, theirs)),
                    f"{drift(ours)} / {drift(theirs)}",
                )
            )
    return lines


def of_problem(name, problem):
    """What each family takes for each accuracy, and how good the references are."""
    lines = [
        f"![Time against error]({name}.png)",
        "",
        row(
            "accuracy",
            "family",
            "time",
            "a step",
            "member",
            "error",
            "coordinates",
            "iterations, factorisations a step",
            "drift",
            "model",
        ),
        row(*["---"] * 10),
    ]
    for target, families in problem["found"].items():
        for family, run in families.items():
            lines.append(
                row(
                    target,
                    family,
                    milliseconds(run),
                    f"{1e6 * run['seconds'] / run['steps']:.3g} µs",
                    described(run),
                    f"{run['error']:.1e}",
                    run["coordinates"],
                    f"{run['iterations']:.2f}, {run['factorisations']:.2f}",
                    drift(run),
                    f"{1e3 * run['build']:.2g} ms",
                )
            )
    good = ", ".join(f"{code} {value:.0e}" for code, value in problem["good"].items())
    return [
        *lines,
        "",
        f"References are good to about {good} in time (a fifteenth of the change from half the steps); the converged motion of "
        f"phloat's single frames and Exudyn's differ by {problem['apart']:.1e}.",
        "",
    ]


def chains(steps):
    lines = [
        row(
            "links",
            "phloat",
            "coordinates a link",
            "a step",
            "beside",
            "coordinates a link",
            "a step",
            "ratio",
            "drift",
        ),
        row(*["---"] * 9),
    ]
    for links, runs in steps.items():
        lines += _pairs(int(links), runs)
    return lines


solids = chains


def _pairs(links, runs):
    for ours, theirs in per_step.BESIDE.items():
        if ours in runs and theirs in runs:
            a, b = runs[ours], runs[theirs]
            yield row(
                links,
                ours,
                a["coordinates"] // links,
                f"{1e6 * a['step']:.3g} µs",
                f"{theirs}, {b['member'].get('solver', '')}, tolerance {b['member'].get('tolerance', 0):g}",
                b["coordinates"] // links,
                f"{1e6 * b['step']:.3g} µs",
                f"{b['step'] / a['step']:.2f}",
                f"{drift(a)} / {drift(b)}",
            )


def start(record):
    lines = [row("", "phloat", "Exudyn"), row(*["---"] * 3)]
    lines.append(row("import", *(f"{record['start'][code]:.2f} s" for code in ("phloat", "exudyn"))))
    for links, runs in record.get("steps", {}).items():
        a, b = runs.get("phloat, 2 elements"), runs.get("Exudyn, 2 cables")
        if a and b:
            lines.append(row(f"model of {links} links", f"{1e3 * a['build']:.3g} ms", f"{1e3 * b['build']:.3g} ms"))
    return [*lines, ""]


def operations(found, steps):
    """How many a second, beside what the core can do."""
    lines = [
        row("phloat's chain", "links", "operations a step", "a step", "a second", "of the peak"),
        row(*["---"] * 6),
    ]
    for elements, a_link in found["a link"].items():
        for links, runs in steps.items():
            run = runs.get(f"phloat, {elements} elements")
            if run:
                count = a_link * int(links)
                rate = count / run["step"]
                lines.append(
                    row(
                        f"{elements} elements a link",
                        links,
                        f"{count:.3g}",
                        f"{1e6 * run['step']:.3g} µs",
                        f"{rate / 1e9:.2f}e9",
                        f"{100 * rate / found['peak']:.1f} %",
                    )
                )
    return [
        *lines,
        "",
        "Operations are those of the algorithm (operations.py says how they were counted). The peak, "
        f"{found['peak'] / 1e9:.0f}e9 a second, is that of a product of large matrices on one thread.",
        "",
    ]


HEAD = """# phloat beside Exudyn

`python benchmarks/versus` with {machine}. How it is done, and why this is fair: [README.md](README.md). Seconds of the
processor, one thread, the shortest of several runs in turn. A ratio above 1 says that phloat is quicker.
"""
SUMMARY_NOTE = [
    "",
    "Errors are the largest over the samples, relative to the size named in README.md, against a converged reference of the same "
    "theory. Coordinates are all positions that the code steps; drift is the largest residual of the energy balance over the "
    "largest kinetic energy. A dash: not reached by any member of the family.",
    "",
]
CHAIN_NOTE = [
    "",
    "500 steps of 1 ms of links let go along the horizontal. Coordinates of phloat are 3 rigid ones a link and those of its "
    "deformation; Exudyn's are positions and slopes of nodes. Exudyn with the quicker of its dense and sparse LU and the "
    "quicker of two tolerances; phloat iterates to round-off, where loose to 1e-6 of the terms. "
    "Neither start of a run nor model is in the times.",
    "",
]
SOLID_NOTE = [
    "",
    "The same solid bars with the same 12 modes in both: 500 steps of 0.4 ms. Exudyn: ObjectFFRFreducedOrder (C++).",
    "",
]
