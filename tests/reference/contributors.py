"""Rules on contributors in fractions, one contributor after the other."""

from fractions import Fraction


def contributors(values, weights):
    """The amounts of a group, the largest first, a piece of weight for each; exact."""
    pieces = [
        (abs(Fraction(float(v))), max(Fraction(1), Fraction(float(w))))
        for v, w in zip(values, weights, strict=True)
        if v == v
    ]
    return sorted(pieces, key=lambda piece: -piece[0])


def held(pieces, count):
    """What the largest contributors hold: they are taken one after the other."""
    total, left = Fraction(0), Fraction(count)
    for amount, weight in pieces:
        taken = min(left, weight)
        total, left = total + taken * amount, left - taken
    return total


def breaks(values, weights, rule=None, p_percent=None):
    """Whether a group breaks a rule, exactly."""
    pieces = contributors(values, weights)
    total = sum(a * w for a, w in pieces)
    broken = False
    if rule is not None:
        broken = held(pieces, rule[0]) > Fraction(rule[1]) / 100 * total
    if p_percent is not None and pieces:
        rest = total - held(pieces, 2)
        broken |= rest < Fraction(p_percent) / 100 * pieces[0][0]
    return broken
