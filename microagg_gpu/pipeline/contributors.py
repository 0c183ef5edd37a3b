"""Rules on contributors as a constraint: what was found, changed, listed or left out."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import measures
from ..errors import InputError, option
from ..measures.contributors import Rule, RuleCheck, amounts, check_rule
from ..settings import Settings
from .exchange import Exchange
from .problem import Problem, numbers_only


@dataclass(frozen=True)
class Repair:
    """What a rule on contributors found and changed.

    Attributes
    ----------
    before, after : RuleCheck
        The groups of the method (and of its refinement), and those that are published.
    loss_before : float
        The loss of the groups before.
    unrepaired : list of int
        The groups that still break the rule, as numbered in the labels; empty if they were
        suppressed.
    suppressed : int
        Records that were left out because their group could not be repaired.
    """

    before: RuleCheck
    after: RuleCheck
    loss_before: float
    unrepaired: list[int]
    suppressed: int

    def __str__(self) -> str:
        if not self.before.broken:
            return str(self.after)
        history = (
            f"before their repair {self.before.broken:,} of {self.before.groups:,} groups broke "
            f"the rule, at a loss of {self.loss_before:.4f} %"
        )
        left = f", {self.suppressed:,} records are left out" if self.suppressed else ""
        return f"{self.after}{left}; {history}"

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "sentence": str(self), "rule": self.after.rule, "groups": self.after.groups,
            "broken": self.after.broken, "broken_records": self.after.broken_records,
            "broken_before": self.before.broken, "groups_before": self.before.groups,
            "loss_before": self.loss_before, "suppressed": self.suppressed,
            "unrepaired": self.unrepaired,
            "by_variable": [
                {**row, "groups_before": old["groups"], "share_before": old["share"]}
                for row, old in zip(self.after.by_variable, self.before.by_variable, strict=True)
            ],
        }  # fmt: skip


def rule_of(settings: Settings) -> Rule | None:
    """The rule that settings ask for, if any."""
    rule = Rule(settings.dominance, settings.p_percent)
    return None if rule == Rule(None, None) else rule


def obey(
    problem: Problem, labels: np.ndarray, rule: Rule, settings: Settings, loss: float
) -> tuple[Problem, np.ndarray, Repair]:
    """Groups that obey a rule as far as they can, without those that cannot if asked for.

    Parameters
    ----------
    labels : int array of shape (m,) or (m, p)
        Groups of at least k within their cells.
    loss : float
        Their loss.

    Returns
    -------
    problem : Problem
        The records that are published.
    labels : int array
        Their groups.
    repair : Repair
    """
    numbers_only(problem.table, "rules on contributors are for", "dominance", "p_percent")
    suppress = settings.unrepaired == "suppress"
    if suppress and labels.ndim > 1:
        raise InputError(
            "individual ranking has no groups of whole records to suppress: leave out ",
            option("unrepaired", "suppress"),
        )
    names, sampling = problem.table.names, problem.sampling
    before = check_rule(problem.values, labels, rule, names, sampling)
    size, cells = amounts(problem.values), problem.cells.cell
    if before.broken and labels.ndim == 1:
        labels = Exchange(problem.filled, size, labels, problem.k, rule, cells, sampling).repaired()
    elif before.broken:
        columns = [
            Exchange(
                problem.filled[:, [j]], size[:, [j]], labels[:, j], problem.k, rule, cells, sampling
            ).repaired()
            for j in range(labels.shape[1])
        ]
        labels = np.stack(columns, axis=1)
    after = check_rule(problem.values, labels, rule, names, sampling)
    dropped = 0
    if suppress and after.broken:
        stays = ~_breaking(problem, labels, rule)
        if not stays.any():
            raise InputError(
                f"every group breaks {rule} and none can be repaired, so nothing is left: choose "
                "a larger k, or a weaker rule"
            )
        dropped = int(np.count_nonzero(~stays))
        problem, labels = problem.only(stays), labels[stays]
        after = check_rule(problem.values, labels, rule, names, problem.sampling)
    return problem, labels, Repair(before, after, loss, [], dropped)


def with_unrepaired(repair: Repair, problem: Problem, labels: np.ndarray, rule: Rule) -> Repair:
    """The same, with the numbers of the groups that still break the rule."""
    if not repair.after.broken or labels.ndim > 1:
        return repair
    broken = labels[_breaking(problem, labels, rule)]
    return replace(repair, unrepaired=np.unique(broken).tolist())


def _breaking(problem: Problem, labels: np.ndarray, rule: Rule) -> np.ndarray:
    """Whether the group of each record breaks the rule."""
    found = measures.dominance(
        problem.values, labels, rule.dominance, rule.p_percent, sampling_weight=problem.sampling
    )
    return np.any(found.breaking, axis=1)
