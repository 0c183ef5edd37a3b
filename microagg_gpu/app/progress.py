"""How far the work is: phases as the worker tells them, with what is left of them."""

import time
from dataclasses import dataclass, field
from typing import Any

COMPILING = "compiling, once"


@dataclass
class Phase:
    """A part of the work that runs: how far it is, and since when."""

    name: str
    begun: float
    fraction: float | None = None
    loss: float | None = None
    seconds: float | None = None  # when it has ended

    def left(self, now: float) -> float | None:
        """Seconds to its end, if that can be said."""
        spent = now - self.begun
        if self.seconds is not None or not self.fraction or self.fraction < 0.02 or spent < 0.5:
            return None
        return spent * (1 - self.fraction) / self.fraction


@dataclass
class Busy:
    """What runs: opening, exploring or protecting."""

    step: str
    phases: list[Phase] = field(default_factory=list)
    compiling: bool = False

    def take(self, message: dict[str, Any]) -> None:
        """Note what the worker tells."""
        now = time.monotonic()
        if "compiling" in message:
            self.compiling = message["compiling"]
            if self.compiling:
                self.phases.append(Phase(COMPILING, now))
            for phase in self.phases:
                if phase.name == COMPILING and phase.seconds is None and not self.compiling:
                    phase.seconds = now - phase.begun
            return
        known = [p for p in self.phases if p.name == message["phase"] and p.seconds is None]
        if not known and message.get("ended"):
            return
        if not known:
            known = [Phase(message["phase"], now)]
            self.phases += known
        phase = known[-1]
        if phase.fraction is None and message["fraction"] is not None and not message.get("ended"):
            # Refinement is announced with its method, and begins when that is done.
            for other in self.phases:
                if other is not phase and other.seconds is None and other.begun <= phase.begun:
                    other.seconds = now - other.begun
                    phase.begun = now
        phase.fraction, phase.loss = message["fraction"], message["loss"]
        if message.get("ended"):
            phase.seconds = now - phase.begun

    def now(self) -> Phase | None:
        """The phase that works."""
        open_ = [phase for phase in self.phases if phase.seconds is None]
        moving = [phase for phase in open_ if phase.fraction is not None]
        moving = [phase for phase in open_ if phase.name == COMPILING] or moving
        return (moving or open_)[-1] if open_ else None
