"""Verification: known answers from elsewhere, what phloat finds, and the difference. `phloat verify` prints the table.

Like the command line this is a user of phloat: it writes every case by the public names.
"""

from phloat.verification.case import Case, Row
from phloat.verification.report import Outcome, Report
from phloat.verification.verify import verify

__all__ = ["Case", "Outcome", "Report", "Row", "verify"]
