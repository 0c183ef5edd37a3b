"""What was done, as attributes of a result: each is a part of its provenance."""

from typing import Any

from ..measures.sensitive import ClosenessCheck
from .contributors import Repair
from .provenance import Provenance, Refinement


class Described:
    """The parts of the provenance of a result."""

    provenance: Provenance

    @property
    def k(self) -> int:
        """The least number of records in a group, as asked for."""
        return self.provenance.settings.k

    @property
    def method(self) -> str:
        """The method."""
        return self.provenance.settings.method

    @property
    def options(self) -> dict[str, Any]:
        """Options of the method, as given."""
        return dict(self.provenance.settings.options)

    @property
    def device(self) -> str:
        """Where the method ran."""
        return self.provenance.device

    @property
    def engine(self) -> str:
        """The engine that ran the method."""
        return self.provenance.engine

    @property
    def seconds(self) -> float:
        """How long the method took."""
        return self.provenance.seconds

    @property
    def names(self) -> list[str]:
        """The variables that were protected."""
        return self.provenance.names

    @property
    def dropped(self) -> int:
        """Records left out for missing values."""
        return self.provenance.dropped

    @property
    def suppressed(self) -> int:
        """Records left out because their stratum has fewer than k."""
        return self.provenance.suppressed

    @property
    def merged(self) -> list[str]:
        """Strata that were merged, as 'a + b'."""
        return self.provenance.merged

    @property
    def refined(self) -> Refinement | None:
        """What the refinement started from."""
        return self.provenance.refined

    @property
    def dominance(self) -> Repair | None:
        """What the rule on contributors found and changed, if one was given."""
        return self.provenance.dominance

    @property
    def sensitive(self) -> str | None:
        """The sensitive column, which is published as it is and in which k is not counted."""
        column = self.provenance.roles.sensitive
        return None if column is None else str(column)

    @property
    def closeness(self) -> ClosenessCheck | None:
        """What the groups give away of the sensitive column, if one was named."""
        return self.provenance.closeness

    @property
    def found_by(self) -> str:
        """What won, for method "best" and for t-closeness."""
        return self.provenance.found_by

    @property
    def blocks(self) -> list[list[str]] | None:
        """The blocks of variables that were grouped by themselves, if there are any."""
        blocks = self.provenance.settings.blocks
        return None if blocks is None else [[str(name) for name in block] for block in blocks]

    @property
    def unit(self) -> str:
        """The columns that name the units, if k counts units."""
        return ", ".join(map(str, self.provenance.roles.unit or ()))
