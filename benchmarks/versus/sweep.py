"""Work against accuracy: every member once, then the best of each family again and again in turn, the shortest time counted."""

import numpy as np

SPACE = (
    "elements",
    "modes",
    "axial",
    "pieces",
    "frame",
    "tolerance",
    "solver",
)  # what a member is made of, less its steps


def reference(worker, problem, wanted):
    """Values, and how far they are from those with half the steps."""
    fine = answered(worker, problem, wanted.member)
    coarse = answered(worker, problem, wanted.member | {"steps": wanted.member["steps"] // 2})
    change = np.abs(fine - coarse).max() / problem.scale
    return ((4 * fine - coarse) / 3, change / 15) if wanted.extrapolated else (fine, change / 15)


def answered(worker, problem, member):
    answer = ask(worker, problem, member)
    if "failed" in answer:
        raise SystemExit(f"{problem.title}: the reference of {member} failed: {answer['failed']}")
    return np.array(answer["values"])


def ask(workers, problem, member, **more):
    code = member["code"]
    return workers[code].ask(problem.module, problem.common | member | more)


def swept(workers, problem, say):
    """{family: [run, …]}: time and error of every member, {reference: (values, how good)}."""
    known = {name: reference(workers, problem, _coded(wanted)) for name, wanted in problem.references.items()}
    families = {}
    for name, family in problem.families.items():
        say(name)
        runs = [
            _run(workers, problem, {"code": family.code} | member, known[family.reference][0])
            for member in family.members
        ]
        families[name] = unlucky([run for run in runs if run])
    return families, known


def unlucky(runs):
    """Errors of space and time that cancel do not count: a run is no better than the worst with more steps, and no better than the
    finest run in time of the same mesh or modes, whatever its scheme."""
    alike, finest = {}, {}
    for run in sorted(runs, key=lambda run: -run["member"]["steps"]):
        member = run["member"]
        key = tuple(sorted((name, value) for name, value in member.items() if name != "steps"))
        alike[key] = run["error"] = max(run["seen"], alike.get(key, 0.0))
        fine = ("order 4" in member.get("scheme", ""), member["steps"])
        if fine > finest.get(_space(member), (fine, 0.0))[0] or _space(member) not in finest:
            finest[_space(member)] = fine, run["seen"]
    for run in runs:
        run["error"] = max(run["error"], finest[_space(run["member"])][1])
    return runs


def _space(member):
    return tuple(sorted((name, value) for name, value in member.items() if name in SPACE))


def _coded(wanted):
    member = {"code": wanted.code} | wanted.member
    return type(wanted)(wanted.code, member, wanted.extrapolated)


def _run(workers, problem, member, values):
    answer = ask(workers, problem, member)
    if "failed" in answer:
        return None
    error = float(np.abs(np.array(answer.pop("values")) - values).max()) / problem.scale
    return {"member": member, "seen": error, **answer} if np.isfinite(error) else None


def front(runs):
    """Those that no other beats in both time and error, from rough to fine."""
    best, out = np.inf, []
    for run in sorted(runs, key=lambda run: (run["error"], run["seconds"])):
        if run["seconds"] < best:
            best = run["seconds"]
            out.append(run)
    return out[::-1]


def timed_again(workers, problem, families, repeats, near=1.25):
    """For every target the members of each family that come near its best, run in turn; {target: {family: run}}."""
    found = {}
    for target in problem.targets:
        close = {}
        for name, runs in families.items():
            good = [run for run in runs if run["error"] <= target]
            least = min((run["seconds"] for run in good), default=0.0)
            close[name] = [run for run in good if run["seconds"] <= near * least][:4]
        turns = [run for runs in close.values() for run in runs]
        for _ in range(repeats):
            for run in turns:  # the codes alternate
                again = ask(workers, problem, run["member"])
                for part in ("seconds", "build"):
                    run[part] = min(run[part], again.get(part, run[part]))
        found[target] = {name: min(runs, key=lambda r: r["seconds"]) for name, runs in close.items() if runs}
    return found


def weighed(workers, problem, found):
    """The energy drift of every run that is in the table, relative to the largest kinetic energy."""
    for runs in found.values():
        for run in runs.values():
            if "drift" not in run:
                answer = ask(workers, problem, run["member"], energy=True)
                if "drift" in answer:
                    run |= {"drift": answer["drift"], "kinetic": answer["kinetic"]}
