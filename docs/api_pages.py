"""The pages of the API reference: every public name of phloat, by task. Where a name belongs follows from where it is made."""

import re
from dataclasses import dataclass
from types import ModuleType

import phloat


@dataclass(frozen=True)
class Group:
    """A page: names that are made in these modules, but for what an earlier page has."""

    title: str
    says: str
    modules: tuple[str, ...]

    @property
    def page(self) -> str:
        return self.title.lower().replace(",", "").replace(" ", "_")


GROUPS = (
    Group("Bodies", "What a mechanism is made of: recipes, and the one value that `discretise` makes of them.",
          ("phloat.bodies",)),
    Group("Meshes", "Meshes of plates and solids: shapes, files, arrays.", ("phloat.fem",)),
    Group("Joints, springs, forces", "What stands between ports, all of it in the list of joints.", ("phloat.joints",)),
    Group("Systems", "Connecting bodies, their numbers by name, and the paper's matrices.",
          ("phloat.system", "phloat.algebra")),
    Group("Initial states", "States are computed: each of these gives one that the joints allow.",
          ("phloat.motion.initial", "phloat.analysis.steady_spin")),
    Group("Motion", "Running a mechanism, its inputs and events, what comes out, and where the energy went.",
          ("phloat.motion.simulate", "phloat.motion.inputs.signals", "phloat.motion.inputs.drives", "phloat.motion.inputs.moves",
           "phloat.motion.inputs.commands", "phloat.motion.run.events", "phloat.motion.run.task",
           "phloat.motion.result", "phloat.motion.ledger", "phloat.linear.time.march")),
    Group("Schemes", "How `simulate` steps: `scheme=…`.", ("phloat.motion.schemes", "phloat.linear.time")),
    Group("Files and saved runs", "Models as files, runs on disk.", ("phloat.files", "phloat.motion")),
    Group("Linear systems", "Linearising, connecting linear systems, modes, frequency curves, poles.",
          ("phloat.analysis.linearise", "phloat.analysis.campbell", "phloat.linear.form", "phloat.linear.analysis")),
    Group("Reduction", "Fewer states, with structure, ports and rigid modes kept.",
          ("phloat.analysis.pod", "phloat.linear.reduction")),
    Group("Control", "Controllers, the closed loop and its certificate.",
          ("phloat.control.closed_loop", "phloat.control.energy_shaping", "phloat.control.feedback",
           "phloat.control.input_shaping", "phloat.control.optimal", "phloat.control.passive", "phloat.control.sampled",
           "phloat.control.servo", "phloat.control.coupling")),
    Group("Export and import", "Linear systems and mechanisms in other tools, and back.", ("phloat.control",)),
    Group("Many runs", "Ensembles over distributions and grids.", ("phloat.many", "phloat.random")),
    Group("Gradients", "How frequencies, transfer functions and runs depend on numbers of a system.",
          ("phloat.analysis", "phloat.twin")),
    Group("Looking", "Pictures, films, pages.", ("phloat.view",)),
    Group("Errors and warnings", "All errors are sentences: what was found, what is there, what to try.",
          ("phloat.errors",)),
)  # fmt: skip


def module_of(thing: object) -> str:
    """Where a public thing is made; a module is where it is."""
    return getattr(thing, "__module__", None) or getattr(thing, "__name__", "")


def group_of(module: str) -> Group | None:
    """The group that names this module or the nearest package above it."""
    found = [
        (len(prefix), group)
        for group in GROUPS
        for prefix in group.modules
        if module == prefix or module.startswith(f"{prefix}.")
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def place_of(thing: object) -> Group | None:
    """The group of a public thing; errors and warnings stand together, wherever they are made."""
    raised = isinstance(thing, type) and issubclass(thing, Exception)
    return group_of("phloat.errors" if raised else module_of(thing))


def public() -> dict[str, object]:
    """Every public name, `phloat.Beam`, `phloat.control.lqr` …, with what it means."""
    names = {f"phloat.{name}": getattr(phloat, name) for name in phloat.__all__}
    for space in sorted({*phloat.NAMESPACES} - {"shapes"}):
        module = getattr(phloat, space)
        names |= {f"phloat.{space}.{name}": getattr(module, name) for name in phloat.public_names(module)}
    return names | {"phloat.shapes": phloat.shapes}


def grouped() -> dict[Group, list[str]]:
    """The names of each group: values first, verbs after them."""
    places = {name: place_of(thing) for name, thing in public().items()}
    order = sorted(places, key=lambda name: ("twin." in name, name.rpartition(".")[2][:1].islower(), name.lower()))
    return {group: [name for name in order if places[name] == group] for group in GROUPS}


def pages() -> dict[str, str]:
    """The text of every page of the reference, by its path."""
    things = public()
    made = {}
    for group, names in grouped().items():
        blocks = [_block(name, things[name]) for name in names]
        made[f"reference/{group.page}.md"] = f"# {group.title}\n\n{group.says}\n\n" + "\n".join(blocks)
    listed = "\n".join(f"| [{g.title}](reference/{g.page}.md) | {_links(g, names)} |" for g, names in grouped().items())
    contents = "\n".join(f"reference/{group.page}" for group in GROUPS)
    made["reference.md"] = (
        "# Reference\n\nEvery public name, by task: after `import phloat as ph` they are `ph.name` and `ph.namespace.name`. "
        "Values are frozen and "
        "called by nouns; functions are verbs.\n\n| | |\n|---|---|\n"
        f"{listed}\n\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"
    )
    return made


def _links(group: Group, names: list[str]) -> str:
    modules = {name for name in names if isinstance(getattr(phloat, name.removeprefix("phloat."), None), ModuleType)}
    places = {name: f"reference/{group.page}.md" if name in modules else f"#{name}" for name in names}
    return ", ".join(f"[`{name.removeprefix('phloat.')}`]({place})" for name, place in places.items())


def _block(name: str, thing: object) -> str:
    if isinstance(thing, type):
        return f"```{{eval-rst}}\n.. autoclass:: {name}\n   :members:\n```\n"
    if callable(thing):
        return f"```{{eval-rst}}\n.. autofunction:: {name}\n```\n"
    return f"```{{eval-rst}}\n.. automodule:: {module_of(thing)}\n   :members:\n```\n"


SECTIONS = ("Parameters", "Returns", "Raises", "Warns", "Examples", "Notes", "See Also", "Attributes")


def as_rst(lines: list[str]) -> None:
    """Our docstrings are plain text with `code` in it, equations that stand in, and sections; this says so to Sphinx, in place."""
    text, literal, section, session = [], False, "", False
    k = 0
    while k < len(lines):
        line = lines[k]
        if line in SECTIONS and lines[k + 1 : k + 2] == ["-" * len(line)]:
            section, literal, session = line, False, False
            text += ["", f".. rubric:: {line}", ""]
            k += 2
            continue
        session = bool(line) and (session or line.startswith(">>> "))
        stands_in = line.startswith("    ") and not section
        if stands_in and not literal:
            while text and not text[-1]:
                text.pop()
            text += ["", "::", ""]
        literal = stands_in or (literal and not line and not section)
        text.append(
            line if literal or session else _plain(line)
        )  # under a section, name and indented text: a definition list
        if section and not session and line and not any(near.startswith(" ") for near in lines[k : k + 2]):
            text.append("")  # a name without indented text
        k += 1
    lines[:] = [*text, ""]


def _plain(line: str) -> str:
    """A line with its `code` kept and everything else taken as it stands."""
    parts = re.split(r"(`+[^`]+`+)", line)
    for k, part in enumerate(parts):
        code = re.fullmatch(r"`+([^`]+)`+", part)
        parts[k] = f"``{code[1]}``" if code else re.sub(r"([*|\\]|_(?!\w))", r"\\\1", part)
    return "".join(parts)
