"""Models from plain data."""

import json

import phloat as ph
from phloat.files.text import parse
from phloat.format.kinds import Context


def from_plain(data) -> ph.io.Model:
    return ph.io.parse_model(json.dumps(data), "model.json")


def read_plain(kind, data):
    """The value of a kind that stands in plain data."""
    return kind.read(parse(json.dumps(data), "data.json"), Context())
