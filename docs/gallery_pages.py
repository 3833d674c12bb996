"""The gallery: every example with its picture, its question and its code. The pictures are drawn by draw_gallery.py."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SECTIONS = {
    "The paper": ("four_bar", "crank_slider", "hinged_beam", "plate_with_rod"),
    "Motion": (
        "double_pendulum", "andrews", "heavy_top", "spatial_slider_crank", "spin_up", "satellite",
    ),
    "Plates, solids, other codes": (
        "robot_link", "satellite_panels", "spinning_disc", "ring_under_pressure", "mindlin_plate", "superelement",
    ),
    "Frequencies": ("beams", "space_frame", "rotating_blade", "pretwisted_blade", "beck_column"),
    "Control": ("active_four_bar", "flexible_arm", "servo_arm", "slewing_satellite"),
    "Many runs and gradients": (
        "uncertain_crank_slider", "identification", "boom_height", "panel_thickness", "slewing_arm_design",
    ),
}  # fmt: skip


def said(name: str) -> tuple[str, str]:
    """The question an example asks, the first line of its docstring, and what it says of it."""
    words = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text())) or ""
    question, _, rest = words.partition("\n\n")
    return " ".join(question.split()), rest


def pages() -> dict[str, str]:
    """The page with all pictures, and one for each example with its code."""
    made = {f"examples/{name}.md": _page(name) for names in SECTIONS.values() for name in names}
    made["examples/demo.md"] = (
        f"# demo\n\nThe paper's examples one after the other, as `./demo` runs them.\n"
        f"[Equation by equation](../paper.md): the function for each.\n\n{_code('demo')}"
    )
    contents = "\n".join(f"examples/{name}" for names in SECTIONS.values() for name in names)
    made["gallery.md"] = (
        "# Gallery\n\nEvery example asks a question whose answer is known from elsewhere, and a test compares the two. "
        "Each is a flat script of 25 to 60 lines in `examples/`.\n\n"
        + "\n\n".join(f"## {title}\n\n{_cards(names)}" for title, names in SECTIONS.items())
        + f"\n\n```{{toctree}}\n:hidden:\n\n{contents}\nexamples/demo\n```\n"
    )
    return made


def _cards(names: tuple[str, ...]) -> str:
    cards = [
        f"::::{{container}} card\n```{{image}} pictures/gallery/{name}.png\n:alt: {said(name)[0]}\n:target: examples/{name}.html\n"
        f"```\n\n[{name.replace('_', ' ')}](examples/{name}.md): {said(name)[0]}\n::::"
        for name in names
    ]
    return ":::::{container} gallery\n" + "\n".join(cards) + "\n:::::"


def _page(name: str) -> str:
    question, rest = said(name)
    return (
        f"# {name.replace('_', ' ')}\n\n**{question}**\n\n{rest}\n\n"
        f"![{question}](../pictures/gallery/{name}.png)\n\n{_code(name)}"
    )


def _code(name: str) -> str:
    text = f"`examples/{name}.py`:\n\n```python\n{(EXAMPLES / f'{name}.py').read_text()}```\n"
    file = EXAMPLES / f"models/{name}.yaml"
    if file.exists():
        text += f"\nThe same as a [model file](../files.md), `examples/models/{name}.yaml`:\n\n```yaml\n{file.read_text()}```\n"
    return text
