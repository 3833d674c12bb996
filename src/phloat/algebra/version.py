"""The version of phloat, which saved files carry."""

__version__ = "0.1.0"
