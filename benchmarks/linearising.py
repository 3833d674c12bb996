"""How long does it take to linearise a chain of flexible links, at rest without a load and hanging under gravity?"""

from measure import answer, measured, row, seconds

NOTE = """
Linearising: the chains of above, along x without gravity, and hanging along x under it, settled; `equilibrium` is not counted.
"""
LINKS = (8, 32, 128)


def measure(links):
    import chains

    import phloat as ph

    free = chains.chain(links, "xy")
    free = ph.connect(dict(free.bodies), [c.joint for c in free.joints.values()], plane="xy")
    at_rest = ph.place(free)
    hung = ph.connect(dict(free.bodies), [c.joint for c in free.joints.values()], gravity=(9.81, 0.0, 0.0), plane="xy")
    state = ph.settle(hung, ph.place(hung))
    kept = []
    out = {"free": seconds(lambda: kept.append(ph.linearise(free, at_rest)))}
    out["hanging"] = seconds(lambda: kept.append(ph.linearise(hung, state)))
    return out | {"rows": kept[0].rows.size, "loaded": kept[1].rows.size}


def rows(quick=False):
    found = []
    for links in LINKS[: 1 if quick else 3]:
        one = measured("linearising.py", links=links)
        found.append(row(f"linearise a chain of {links} links at rest", one["free"], "s", also={"rows": one["rows"]}))
        found.append(
            row(f"linearise a chain of {links} links that hangs", one["hanging"], "s", also={"rows": one["loaded"]})
        )
    return found


if __name__ == "__main__":
    answer(measure)
