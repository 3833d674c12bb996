"""The page that ./demo leaves: examples moving in frames, the table, figures; it needs the files beside it and nothing else."""

import json
import shutil

import demo
import pytest


@pytest.fixture
def index(tmp_path, monkeypatch, written):
    """An index of two pages, with a hostile name."""
    monkeypatch.setattr(demo, "RESULTS", tmp_path)
    rows = [demo.Row("largest <u>", 2.0, 1.99, "Fig. <8>", 1.98), demo.Row("angle & place", -1.0, -1.0, "exact")]
    examples = []
    for name, seen in (("crank_slider", "magnify=3"), ("plate", "colour=speed&magnify=2")):
        shutil.copy(written(name)[0], tmp_path / f"{name}.html")
        examples.append(
            demo.Example(f"<b>{name}</b>", "How far & why?", rows, f"{name}.html", seen, {}, {"numbers": "a.csv"})
        )
    demo.write_index(examples)
    return tmp_path / "index.html"


def test_the_examples_move_in_their_frames(index, chromium):
    page = chromium.page(index.as_uri(), size=(1000, 900), still=False, ready="document.querySelector('#moving')")
    assert page("document.querySelectorAll('iframe').length") == 2
    assert page("document.querySelector('h2').innerText") == "<b>crank_slider</b>"
    assert page("document.querySelector('td:nth-child(4)').innerText") == "−0.500 %"
    assert page("document.querySelector('td:nth-child(6)').innerText") == "−1.000 %"  # with the authors' choices
    assert page("document.querySelector('td:last-child').innerText") == "Fig. <8>"
    assert page("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.errors() == []
    page.close()


def test_a_page_in_a_frame_is_the_view_alone_and_plays(written, chromium):
    address = written("crank_slider")[0].as_uri()
    page = chromium.page(f"{address}#only=view&magnify=3&colour=speed", size=(500, 300), still=False)
    seen = "getComputedStyle(document.getElementById('{}')).display"
    assert page(seen.format("transport")) == page(seen.format("side")) == page(seen.format("options")) == "none"
    assert page("document.getElementById('view').clientHeight") == 300
    assert page("scrollY") == 0 and page("document.documentElement.scrollHeight") <= 300
    assert page("document.getElementById('magnify-value').textContent") == "× 10"
    assert page("document.getElementById('colour').value") == "speed"
    page.until("window.phloat.now().playing && window.phloat.now().drawn > 2")
    assert page.errors() == []
    page.close()


@pytest.mark.parametrize("wish", ["only=all", "colour=taste&magnify=99&speed=-1", "magnify", "%00=%", "only=view=view"])
def test_wishes_that_cannot_be_met_are_left_aside(written, chromium, wish):
    page = chromium.page(f"{written('crank_slider')[0].as_uri()}#{wish}", size=(900, 600))
    assert page("document.getElementById('colour').value") == "body"
    assert page("document.getElementById('magnify-value').textContent") in ("× 1", "× 1000")
    assert page("getComputedStyle(document.getElementById('transport')).display") == "flex"
    assert page.errors() == []
    page.close()


@pytest.mark.long
def test_the_demo_leaves_examples_that_move_and_agree_with_their_references(tmp_path, monkeypatch, chromium, capsys):
    monkeypatch.setattr(demo, "RESULTS", tmp_path)
    demo.main()
    assert "quantity" in capsys.readouterr().out
    rows = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert len(rows) == 35
    assert all(row["source"] for row in rows)
    assert max(abs(row["phloat"] / row["reference"] - 1) for row in rows) < 0.01
    authors = [abs(row["authors"] / row["reference"] - 1) for row in rows if row["authors"] is not None]
    assert len(authors) == 23 and max(authors) < 0.01
    page = chromium.page(
        (tmp_path / "index.html").as_uri(), size=(1000, 900), still=False, ready="document.querySelector('#moving')"
    )
    assert page("document.querySelectorAll('iframe').length") == 5
    assert page("document.querySelectorAll('tbody tr').length") == 35
    addresses = page(
        "[...document.querySelectorAll('[href], [src]')].map((e) => e.getAttribute('href') ?? e.getAttribute('src'))"
    )
    assert all((tmp_path / address.partition("#")[0]).stat().st_size for address in addresses)
    assert page.errors() == []
    page.close()
    for name in ("four_bar", "crank_slider", "hinged_beam", "plate_with_rod", "plate_without_rod"):
        assert (tmp_path / f"{name}.html").stat().st_size < 5e6
        shown = chromium.page((tmp_path / f"{name}.html").as_uri(), still=False)
        shown.until("window.phloat.now().playing && window.phloat.now().drawn > 2")
        assert shown.errors() == []
        shown.close()
