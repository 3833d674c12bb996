"""The result page in a real browser: it loads, plays, obeys, and shows the numbers of the run."""

import re

import numpy as np
import pytest
from chromium import Chromium, found
from pages import HOSTILE, TITLE

import phloat as ph
from phloat.view.modes import mode_shapes
from phloat.view.page.content import MAX_MODES, body_drawings
from phloat.view.scene import body_motion, pose_at

PREFIX = {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
UNIT = re.compile(r"^([GMkmµn]?)(rad/s|rad|m/s|N m|Pa|J|N|m|s)$")


def number(text: str) -> tuple[float, float]:
    """A value as shown, in SI units, and one unit of its last digit."""
    shown, _, unit = text.replace("−", "-").partition(" ")
    scale = 1.0
    if unit:
        prefix, _ = UNIT.match(unit).groups()
        scale = PREFIX[prefix]
    digits, _, power = shown.partition("e")
    last = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return float(shown) * scale, last * scale


def select(page, k: int, name: str) -> None:
    """A quantity in the k-th plot."""
    value = page(
        f"[...document.querySelectorAll('.plot')[{k}].querySelectorAll('option')].find(o => o.textContent === {name!r}).value"
    )
    page(
        f"(() => {{ const s = document.querySelectorAll('.plot select')[{k}]; s.value = {value!r};"
        "s.dispatchEvent(new Event('change')); })()"
    )
    page.settled()


def values(page, k: int) -> dict[str, str]:
    """What the k-th plot says at the cursor."""
    items = f"[...document.querySelectorAll('.plot')[{k}].querySelectorAll('li')]"
    pairs = page(f"{items}.map(item => [item.childNodes[1].textContent, item.lastChild.textContent])")
    return dict(pairs)


def go(page, frame: int) -> float:
    """To a frame by the slider; its time."""
    page.choose("#scrub", str(frame))
    page.settled()
    return page("window.phloat.now().time")


def output(result, time: float) -> int:
    k = int(np.abs(result.t - time).argmin())
    assert result.t[k] == time
    return k


@pytest.mark.parametrize("name", ["crank_slider", "arm", "plate", "modes", "swinging", "rotor", "hostile"])
def test_a_page_loads_and_has_nothing_to_complain_about(opened, name):
    page = opened(name, still=False)
    assert page("window.phloat.webgl")
    page.until("window.phloat.now().drawn > 5")
    assert page("window.phloat.now().playing")
    assert page.text("#made").startswith("Made by phloat")


def test_playing_moves_the_bodies_and_pausing_stops_them(opened):
    page = opened("arm")
    assert not page("window.phloat.now().playing")  # who asks for little motion is not made to watch it
    before = page("window.phloat.place('solid', 'C')")
    page.click("#play")
    page.until("window.phloat.now().time > 0.02")
    assert np.linalg.norm(np.subtract(page("window.phloat.place('solid', 'C')"), before)) > 1e-4
    assert page.text("#play") == "❚❚"
    page.click("#play")
    time = page("window.phloat.now().time")
    page.settled()
    assert page("window.phloat.now().time") == time


@pytest.mark.parametrize("name", ["crank_slider", "arm"])
def test_bodies_are_drawn_where_the_run_has_them(shared, written, name):
    result, page = written(name)[1], shared(name)
    for frame in (0, 37, 101):
        k = output(result, go(page, frame))
        for body, part in result.system.bodies.items():
            move = pose_at(body_motion(result, body, np.array([k])), 0)
            for port, point in part.ports.items():
                expected = move.r_P + move.A @ (point.x + point.Phi @ move.eta)
                assert np.abs(np.subtract(page(f"window.phloat.place({body!r}, {port!r})"), expected)).max() < 2e-5


def test_a_rail_reaches_from_its_body_to_what_slides_along_it(shared, written):
    result, page = written("telescope")[1], shared("telescope")
    for frame in (0, 20, 50):
        k = output(result, go(page, frame))
        low, high = np.array(page("window.phloat.rail('out')"))
        along = (high - low) / np.linalg.norm(high - low)
        boom, inner = (
            np.array(page(f"window.phloat.place({name!r}, {port!r})")) for name, port in (("boom", "C"), ("inner", "P"))
        )
        for point, slide in ((boom, 0.0), (inner, result["out.slide"][k])):
            margin = (point - low) @ along - slide
            assert (
                0.0 < margin == pytest.approx(np.linalg.norm(high - low) / 2 - 0.125, abs=1e-4)
            )  # as long at the other end
            assert np.linalg.norm(point - low - (margin + slide) * along) < 1e-4


def test_small_motions_of_a_plate_and_of_a_rod_on_its_edge_are_drawn_as_they_are(shared, written):
    result, page = written("plate")[1], shared("plate")
    k = output(result, go(page, 60))
    way, points = result.displacement("plate")[k], result.system.fields["plate"].points
    place = int(np.abs(way[:, 2]).argmax())
    faces = [page(f"window.phloat.place('plate', {n})") for n in (place, place + len(points))]
    assert np.mean(faces, axis=0) == pytest.approx(points[place] + way[place], abs=2e-6)
    assert faces[0][2] - faces[1][2] == pytest.approx(0.05, abs=1e-4)
    rod, v = result.system.fields["rod"], result.system.split
    turn = (rod.velocities[:, :v] @ result.way[k])[3:]  # of (v_P, ω), for small motions

    def rod_points() -> np.ndarray:
        count = page("window.phloat.points('rod')")
        return np.array([page(f"window.phloat.place('rod', {n})") for n in range(count)])

    drawn = rod_points()
    go(page, 0)
    rest = rod_points()  # a bar of 50 kg: m r²/2 = 1 and m (3r² + L²)/12 = 4.1667 kg m²
    assert np.ptp(rest, axis=0) == pytest.approx([0.4, np.sqrt(0.88), 0.4], abs=5e-3)
    moved = rest + result.displacement("rod")[k, 0] + np.cross(turn, rest - rod.points[0])
    assert np.abs(turn[0]) > 1e-4 and np.abs(drawn - moved).max() < 2e-6
    go(page, 60)
    assert number(page.text("#clock"))[0] == pytest.approx(result.t[k], abs=1e-6)


def test_plots_show_the_numbers_of_the_run(shared, written):
    result, page = written("crank_slider")[1], shared("crank_slider")
    ledger = ph.energy_ledger(result)
    k = output(result, go(page, 123))
    stress = body_drawings(result)[0]["rod"].stress(result["rod.sigma"][k]).max()
    expected = {
        "energy of the whole": {"kinetic": sum(p["kinetic"][k] for p in ledger.parts.values()), "H": ledger.energy[k]},
        "energy balance": {"supplied by crank pin": ledger.supplied["crank pin"][k]},
        "energy residual": {"residual": ledger.residual[k]},
        "rod: deformation at s = 0.5": dict(zip("xy", result.displacement("rod", s=0.5)[k], strict=True)),
        "rod: angle theta": {"theta": result["rod.theta"][k]},
        "rod: largest von Mises stress": {"largest": stress},
        "position of rod.C": dict(zip("xy", result.position("rod", s=1.0)[k], strict=True)),
        "velocity of slider.P": {"x": result["slider.v_P"][k, 0]},
        "rail.slide": {"slide": result["rail.slide"][k]},
        "crank pin.lam, force": dict(zip("xy", result["crank pin.lam"][k], strict=True)),
    }
    for name, lines in expected.items():
        select(page, 0, name)
        shown = values(page, 0)
        for line, value in lines.items():
            said, last = number(shown[line])
            assert abs(said - value) <= 0.5 * last + 2e-7 * abs(value), (name, line, shown[line], value)


def test_the_balance_shows_its_residual_in_a_scale_of_its_own(opened, written):
    result, page = written("crank_slider")[1], opened("crank_slider")
    residual = ph.energy_ledger(result).residual
    names = page("[...document.querySelectorAll('.plot select')].map(s => s.selectedOptions[0].textContent)")
    assert names == ["rail.slide", "position of rod.P", "rod: deformation at s = 0.5", "energy balance"]
    k = output(result, go(page, 123))
    said, last = number(values(page, 3)["residual"])
    assert abs(said - residual[k]) <= 0.5 * last + 2e-7 * abs(residual[k])
    below = page("window.phloat.residual(3)")
    assert below["size"] == pytest.approx(np.abs(residual).max(), rel=1e-6)
    assert below["low"] <= residual.min() / below["factor"] and below["high"] >= residual.max() / below["factor"]
    assert below["high"] - below["low"] < 2 * np.ptp(residual) / below["factor"]  # not in the scale of the energies
    select(page, 3, "rail.slide")
    assert "residual" not in values(page, 3) and page("window.phloat.residual(3)") is None


def test_inputs_are_shown_where_they_are_given(shared, written):
    result, page = written("arm")[1], shared("arm")
    output(result, go(page, 20))
    select(page, 0, "motor")
    assert values(page, 0) == {"motor": "3.0000 N m"}


def test_colours_by_stress_and_speed_have_a_bar_with_numbers(shared, written):
    result, page = written("arm")[1], shared("arm")
    k = output(result, go(page, 80))
    drawings, _ = body_drawings(result)
    assert page("document.getElementById('bar').hidden")
    page.choose("#colour", "stress")
    page.settled()
    poses = {name: pose_at(body_motion(result, name, np.array([k])), 0) for name in drawings}
    for name in ("plate", "solid"):
        expected = drawings[name].stress(poses[name].sigma)
        assert page(f"window.phloat.shades({name!r})") == pytest.approx(expected, abs=2e-3 * expected.max())
    assert re.fullmatch(r"von Mises stress \([GMk]?Pa\)", page.text("#bar-title"))
    page.choose("#colour", "speed")
    page.settled()
    for name, found_ in drawings.items():
        expected = np.linalg.norm(found_.velocity(poses[name]), axis=1)
        assert page(f"window.phloat.shades({name!r})") == pytest.approx(expected, abs=2e-3 * expected.max())
    low, middle, high = page("[...document.querySelectorAll('#bar-ticks span')].map(s => parseFloat(s.textContent))")
    assert low == 0 and middle == pytest.approx(high / 2, rel=0.02)
    assert page.text("#bar-title").startswith("speed (")


def test_deformation_is_magnified_about_the_undeformed_body(shared):
    page = shared("crank_slider")
    go(page, 123)
    middle = "window.phloat.place('rod', 17 * 6)"  # a point of the section in the middle
    true = np.array(page(middle))
    page.choose("#magnify", "3")
    page.settled()
    assert page.text("#magnify-value") == "× 10"
    ten = np.array(page(middle))
    page.choose("#magnify", "1")
    twice = np.array(page(middle))
    assert np.linalg.norm(ten - true) == pytest.approx(9 * np.linalg.norm(twice - true), rel=1e-3)
    assert np.linalg.norm(twice - true) > 1e-4


def test_keys_play_step_and_turn(shared):
    page = shared("crank_slider")

    def now() -> dict:
        return page("window.phloat.now()")

    page.press("ArrowRight")
    assert now()["frame"] == 1
    page.press("ArrowRight", shift=True)
    assert now()["frame"] == 11
    page.press("ArrowLeft")
    assert now()["frame"] == 10
    page.press("End")
    assert now()["frame"] == now()["frames"] - 1
    page.press("Home")
    assert now()["frame"] == 0
    page.press(" ")
    assert now()["playing"]
    page.press(" ")
    assert not now()["playing"]
    page("document.getElementById('view').focus()")
    before, frame = page("window.phloat.camera()"), now()["frame"]
    page.press("ArrowLeft")
    turned = page("window.phloat.camera()")
    assert turned != before
    assert now()["frame"] == frame
    page.press("+")
    assert np.linalg.norm(page("window.phloat.camera()")) < np.linalg.norm(turned)
    page.press("4")
    assert page("window.phloat.camera()") == pytest.approx(before)


def test_what_has_the_focus_can_be_seen(opened):
    page = opened("crank_slider")
    reached = []
    for _ in range(14):
        page.press("Tab")
        name, outline = page(
            "[document.activeElement.id || document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"
        )
        reached.append(name)
        assert outline == "solid"
    assert {"theme", "view", "play", "scrub", "speed"} <= set(reached)


def test_everything_that_can_be_used_says_what_it_is(shared):
    for name in ("crank_slider", "modes"):
        page = shared(name)
        silent = page(
            "[...document.querySelectorAll('button, select, input, canvas:not([aria-hidden])')]"
            ".filter(e => e.offsetParent !== null)"
            ".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).map(e => e.outerHTML)"
        )
        assert silent == []


def test_mouse_turns_zooms_and_a_click_on_a_plot_sets_the_time(shared):
    page = shared("arm")
    x, y = page.middle("#view")
    before = np.array(page("window.phloat.camera()"))
    page.drag((x, y), (x + 80, y + 30))
    turned = np.array(page("window.phloat.camera()"))
    assert np.linalg.norm(turned - before) > 0.05
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    page.settled()
    assert np.linalg.norm(page("window.phloat.camera()") - turned) > 0.01
    page.click("#views button[data-view=x]")
    assert abs(page("window.phloat.camera()")[0]) > 1.0
    page.click(".plot canvas")
    now = page("window.phloat.now()")
    assert 0.25 < now["time"] / 0.6 < 0.75 and not now["playing"]


def test_switches_hide_and_name_things(shared):
    page = shared("arm")
    page.click("#show-names")
    page.settled()
    assert page("[...document.querySelectorAll('#labels span')].map(s => s.textContent)") == ["hub", "plate", "solid"]
    shown = page.seen()
    for switch in ("#show-joints", "#show-grid", "#legend button"):
        page.click(switch)
        page.settled()
        after = page.seen()
        assert after != shown
        shown = after
    page.choose("#trail", "all")
    page.settled()
    assert page.seen() != shown


def test_plots_come_and_go(shared):
    page = shared("crank_slider")
    count = "document.querySelectorAll('.plot').length"
    before = page(count)
    page.click("#add-plot")
    assert page(count) == before + 1
    page.click(".plot button")
    assert page(count) == before


def test_dark_and_light(opened):
    brightness = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0)"
    )
    page = opened("crank_slider", dark=True)
    assert page(brightness) < 150
    page.click("#theme")
    assert page(brightness) > 600
    for theme in ("light", "dark"):
        page(f"document.documentElement.dataset.theme = {theme!r}")
        ink, soft, panel, ground = (luminance(page, name) for name in ("--ink", "--soft", "--panel", "--ground"))
        for text in (ink, soft):
            for back in (panel, ground):
                assert (max(text, back) + 0.05) / (min(text, back) + 0.05) > 4.5  # WCAG AA


def luminance(page, name: str) -> float:
    text = page(f"getComputedStyle(document.documentElement).getPropertyValue({name!r}).trim()")
    parts = np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", ["crank_slider", "modes"])
def test_on_a_phone_it_fits_and_can_be_touched(opened, name):
    page = opened(name, size=(390, 844), touch=True)
    assert page("document.documentElement.scrollWidth") <= 390
    assert page("document.querySelector('canvas.gl').clientHeight") > 300
    small = page(
        "[...document.querySelectorAll('button, select')].filter(e => e.offsetParent !== null)"
        ".filter(e => e.getBoundingClientRect().height < 26).map(e => e.outerHTML)"
    )
    assert small == []
    tops = page("['view', 'transport', 'side'].map((id) => document.getElementById(id).getBoundingClientRect().top)")
    assert tops == sorted(tops)


def test_two_fingers_zoom(opened):
    page = opened("crank_slider", size=(390, 844), touch=True)
    x, y = page.middle("#view")
    before = np.linalg.norm(page("window.phloat.camera()"))
    for kind, apart in (("touchStart", 30), ("touchMove", 60), ("touchMove", 90)):
        page.ask(
            "Input.dispatchTouchEvent",
            type=kind,
            touchPoints=[{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}],
        )
    page.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    assert np.linalg.norm(page("window.phloat.camera()")) < 0.6 * before


def test_names_are_text_and_never_code(opened):
    page = opened("hostile")
    assert page("window.broken") is None
    assert page.text("h1") == TITLE
    assert page("document.title") == TITLE
    assert HOSTILE in page.text("#legend")
    assert HOSTILE in page.text("#summary") and '"onload="x' in page.text("#summary")
    assert page("document.querySelectorAll('script').length") == 4
    assert page("document.querySelectorAll('img').length") == 0


def test_modes_swing_and_say_their_frequencies(opened, written):
    found_, page = written("modes")[1], opened("modes")
    assert number(page.text("#mode-list button span:nth-child(2)"))[0] == pytest.approx(found_.elastic[0], rel=1e-4)
    tip = "window.phloat.place('b', 0)"
    top = np.array(page(tip))
    go(page, 60)  # half a period
    assert np.linalg.norm(np.array(page(tip)) - top) > 1e-3
    page.click("#mode-list li:nth-child(3) button")
    assert page("window.phloat.now().mode") == 2
    assert f"{found_.elastic[2]:.5g}" in page.text("#subtitle")
    assert page("document.querySelectorAll('.plot').length") == 0


@pytest.mark.parametrize("name", ["swinging", "rotor", "modes"])
def test_modes_move_the_bodies_as_they_are_computed(shared, written, name):
    """Ports lie where `mode_shapes` has them: turned by true rotations, hanging on each other, at every phase and size."""
    page, shapes = shared(name), mode_shapes(written(name)[1], MAX_MODES)
    page.choose("#magnify", "3")
    for k, frame in ((0, 0), (1, 20), (2, 75)):
        page.click(f"#mode-list li:nth-child({k + 1}) button")
        phase = 2 * np.pi * go(page, frame) / 2.0
        for body, points in shapes.at_phase(k, phase).items():
            for port, point in shapes.bodies[body].drawn.ports.items():
                shown = page(f"window.phloat.place({body!r}, {port!r})")
                assert np.abs(np.subtract(shown, points[point])).max() < 1e-3 * shapes.size, (body, port)


def test_modes_have_phases_and_kinds(opened, written):
    found_, page = written("swinging")[1], opened("swinging")
    assert [go(page, frame) and page.text("#clock") for frame in (30, 60, 120)] == ["90°", "180°", "360°"]
    assert page.text("#mode-list li:nth-child(1) span:nth-child(4)") == found_.kinds[found_.rigid]
    assert found_.kinds[found_.rigid].startswith("swing of payload about")
    page.click("#mode-list li:nth-child(2) button")
    assert page.text("#subtitle").endswith(found_.kinds[found_.rigid + 1])
    assert page("window.phloat.triangles") > 150  # a beam with its section, and a block


def test_a_swing_does_not_make_a_body_larger(shared):
    page = shared("swinging")
    page.choose("#magnify", "7")  # × 4
    ends = "[window.phloat.place('payload', 0), window.phloat.place('payload', 7)]"
    lengths = [np.linalg.norm(np.subtract(*page(ends))) for frame in (0, 30, 60) if go(page, frame) >= 0]
    assert lengths == pytest.approx([lengths[1]] * 3, rel=1e-5)


def test_a_result_of_one_state_stands_still(opened):
    page = opened("one_state", still=False)
    assert not page("window.phloat.now().playing")
    assert page("window.phloat.now().frames") == 1
    page.press(" ")
    page.settled()
    assert page.text("#clock").startswith("0")


def test_a_page_works_inside_another_one(opened):
    page = opened("framed", ready="document.querySelector('iframe')?.contentWindow?.phloat")
    inner = "document.querySelector('iframe').contentWindow"
    assert page(f"{inner}.phloat.webgl")
    assert page(f"{inner}.document.querySelector('h1').textContent") == "inside"


def test_without_webgl_a_sentence_and_the_plots_remain(written):
    if found() is None:
        pytest.skip("no Chromium is installed: apt-get install chromium, or name one in $CHROMIUM")
    browser = Chromium(found(), "--disable-3d-apis")
    try:
        page = browser.page(written("crank_slider")[0].as_uri())
        assert not page("window.phloat.webgl")
        assert "cannot draw in 3-D" in page.text("#view")
        go(page, 50)
        assert values(page, 0)["slide"]
        page.press("ArrowRight")
        assert page("window.phloat.now().frame") in (50, 51)
    finally:
        browser.close()
