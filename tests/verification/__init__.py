"""Verification: known answers from elsewhere, what phloat finds, and the difference. `phloat verify` prints the table.

The cases are written by the public names of phloat.
"""

from verification.case import Case, Row
from verification.report import Outcome, Report, table
from verification.verify import chosen, verify

__all__ = ["Case", "Outcome", "Report", "Row", "chosen", "table", "verify"]
