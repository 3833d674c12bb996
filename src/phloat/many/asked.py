"""What an ensemble asks, in words and as fingerprints: a sweep goes on only with the question that it began with."""

from __future__ import annotations

from typing import Any

import numpy as np

from phloat.many.fingerprint import fingerprint
from phloat.many.question import Question
from phloat.many.samples import Samples
from phloat.many.store import VERSION, Description
from phloat.system.state import State
from phloat.system.system import System

DIGITS = 6  # to which two starts are the same: they were found by iterations, perhaps on two machines


def asked(question: Question, drawn: Samples) -> Description:
    """The description of an ensemble of which nothing has been run."""
    arguments = {("keep" if name == "output" else name): value for name, value in question.arguments.items()}
    parts: dict[str, Any] = {"system": _written(question.system), "parameters": (drawn.keys, drawn.values)}
    parts |= {"start": _start(question.start), "output": question.output, **arguments}
    plain = {name: value for name, value in arguments.items() if isinstance(value, (int, float, str))}
    return {
        "format": "phloat ensemble",
        "version": VERSION,
        "samples": len(drawn),
        "parameters": list(drawn.names),
        "sampling": drawn.sampling,
        "levels": [list(level) for level in drawn.levels],
        "arguments": plain,
        "question": {name: fingerprint(part) for name, part in parts.items()},
        "outputs": None,
        "complex": [],
        "single": True,
        "finished": False,
    }


def differences(there: Description, here: Description) -> list[str]:
    """The parts of two questions that are not the same."""
    a, b = there["question"], here["question"]
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]


def _written(system: System) -> object:
    """What a system was written with: its arrays follow from that, to round-off, which machines do not share."""
    bodies = {name: (body.made or body) for name, body in system.bodies.items()}
    joints = {name: (c.joint, len(c.free), len(c.locked), len(c.driven)) for name, c in system.joints.items()}
    elements = {name: element.recipe for name, element in system.elements.items()}
    actuators = {name: actuator.recipe for name, actuator in system.actuators.items()}
    return bodies, joints, elements, actuators, np.asarray(system.gravity), system.plane, dict(system.layout.shapes)


def _start(start: object) -> object:
    if not isinstance(start, State):
        return start
    scale = float(np.abs(start.e).max(initial=0.0)) or 1.0
    return dict(start.layout.shapes), np.round(start.e / scale, DIGITS) + 0.0, f"{scale:.{DIGITS}e}"
