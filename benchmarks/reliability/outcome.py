"""What came of a case."""

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Whether a case ended in an error sentence as it should, and all that is wrong."""

    refused: bool = False
    faults: list[str] = field(default_factory=list)
