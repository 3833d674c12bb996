"""Result pages: how large they are, how long they take to write, and how smoothly they play in a headless Chromium."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import EXAMPLES, HERE, answer, measured, row

sys.path[:0] = [EXAMPLES, str(HERE.parent / "tests" / "browser")]

SIZE = (1280, 800)
NOTE = """
Pages: the paper's crank-slider (8 elements, 2667 outputs), a chain of 64 planar links of 2 elements (2000 outputs), and a floating
plate of 50 × 50 cells, 5000 triangles, drawn with both faces. Frames are those of `requestAnimationFrame` over three seconds of
playing, by body and by stress, in a window of 1280 × 800 pixels of a headless Chromium that draws on the processor (SwiftShader),
at most 60 a second and fewer where other work shares the cores; a graphics card does better. "ms a frame" is what the page itself
computes: deformation, colours, plots. Without Chromium only sizes are measured.
"""


def crank_slider(quick):
    import crank_slider as example

    return example.stiffened


def chain(quick):
    import phloat as ph

    alu, links = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33), 8 if quick else 64
    link = ph.Beam(length=0.25, section=ph.Rectangle(0.02, 0.004), material=alu).discretise(2)
    joints = [ph.Revolute("ground", "link 0.P")]
    joints += [ph.Revolute(f"link {k}.C", f"link {k + 1}.P") for k in range(links - 1)]
    system = ph.connect({f"link {k}": link for k in range(links)}, joints, plane="xy", gravity=(0, -9.81, 0))
    state = ph.place(system, {f"link {k}.theta": 0.0 for k in range(links)})
    return ph.simulate(system, state, t_end=0.1 if quick else 4.0, dt=2e-3)


def plate(quick):
    import phloat as ph

    alu = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)
    recipe = ph.Plate.rectangle(1.0, 1.0, thickness=0.01, material=alu, frame="left", ports={"root": "left"})
    body = recipe.discretise(8 if quick else 50).reduced(modes=6)
    system = ph.connect({"plate": body}, [ph.Weld("ground", "plate.root")], gravity=(0, 0, -9.81))
    return ph.simulate(system, ph.place(system), t_end=0.1 if quick else 1.0, dt=2e-3)


PAGES = {"crank-slider": crank_slider, "64-link chain": chain, "plate of 5000 triangles": plate}


def measure(name, quick):
    from chromium import Chromium, found

    import phloat as ph

    result = PAGES[name](quick)
    with TemporaryDirectory() as folder:
        begin = time.perf_counter()
        file = ph.to_html(result, Path(folder) / "page.html")
        out = {"s to write": time.perf_counter() - begin, "MB": file.stat().st_size / 1e6}
        if found():
            browser = Chromium(found())
            try:
                out |= played(browser, file.as_uri(), 0.5 if quick else 3.0)
            finally:
                browser.close()
    return out


def played(browser, url, seconds):
    """Frames a second by colour, and what the page works for each."""
    begin = time.perf_counter()
    page = browser.page(url, size=SIZE, still=False)
    out = {"s to open": time.perf_counter() - begin}
    for by in ("body", "stress"):
        page.choose("#colour", by)
        page.until("window.phloat.now().drawn > 10")
        before = page("({...window.phloat.now(), at: performance.now()})")
        browser.wait(seconds)
        after = page("({...window.phloat.now(), at: performance.now()})")
        count, passed = after["drawn"] - before["drawn"], (after["at"] - before["at"]) / 1e3
        out[f"frames/s by {by}"] = count / passed
        out[f"ms a frame by {by}"] = (after["worked"] - before["worked"]) / max(count, 1)
    return out


def rows(quick=False):
    out = []
    for name in PAGES:
        found = measured("pages.py", name=name, quick=quick)
        out.append(row(f"page of the {name}", found.pop("MB"), "MB", also=found))
    return out


if __name__ == "__main__":
    answer(measure)
