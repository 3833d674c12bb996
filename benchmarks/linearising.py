"""How long does it take to linearise a chain of flexible links: at rest without a load, hanging under gravity, in a spin?

And what is done before and after: its equilibrium or steady spin, and its twenty lowest modes.
"""

import math
import time

from measure import answer, measured, row

NOTE = """
Linearising: the chains of above, along x without gravity, hanging along x under it, at their equilibrium, and in a steady spin
about their hinge of 1 rad/s over the number of links. Times are those of the processor; the power of the number of links is
fitted from 128 to 1000.
"""
LINKS = (8, 32, 128, 1000)
COUNT = 20


def measure(links):
    if links <= 32:
        once(links)  # loads modules
    return once(links)


def once(links):
    import chains

    import phloat as ph

    chain = chains.chain(links, "xy")
    joints = [c.joint for c in chain.joints.values()]
    free = ph.connect(dict(chain.bodies), joints, plane="xy")
    hung = ph.connect(dict(chain.bodies), joints, plane="xy", gravity=(9.81, 0.0, 0.0))
    at_rest, near = ph.place(free), ph.place(hung)
    seconds, results = {}, {}

    def timed(name, function, *arguments, **options):
        begin = time.process_time()
        results[name] = function(*arguments, **options)
        seconds[name] = time.process_time() - begin
        return results[name]

    timed("free", ph.linearise, free, at_rest)
    timed("hanging", ph.linearise, hung, timed("equilibrium", ph.equilibrium, hung, near))
    timed("modes", ph.modes, results["hanging"], COUNT)
    timed("spinning", ph.linearise, free, timed("spin", ph.steady_spin, free, rate=1.0 / links))
    return seconds | {"rows": {name: results[name].rows.size for name in ("free", "hanging", "spinning")}}


def power(one, two, name):
    return math.log(two[name] / one[name]) / math.log(LINKS[-1] / LINKS[-2])


def rows(quick=False):
    found, results = [], {}
    for links in LINKS[: 1 if quick else None]:
        one = results[links] = measured("linearising.py", links=links)
        for name, text in (("free", "at rest"), ("hanging", "that hangs"), ("spinning", "that spins")):
            also = {"rows": one["rows"][name]}
            found.append(row(f"linearise a chain of {links} links {text}", one[name], "s", also=also))
        found.append(row(f"equilibrium of a chain of {links} links", one["equilibrium"], "s"))
        found.append(row(f"steady spin of a chain of {links} links", one["spin"], "s"))
        found.append(row(f"{COUNT} modes of a chain of {links} links that hangs", one["modes"], "s"))
    if not quick:
        for name in ("hanging", "spinning"):
            exponent = power(results[LINKS[-2]], results[LINKS[-1]], name)
            found.append(row(f"linearise chains, {name}: power of the number of links", exponent, ""))
    return found


if __name__ == "__main__":
    answer(measure)
