"""Operations on 32 lanes side by side, in single precision, as vectors of the processor.

A loop over lanes inside one over variables reads and writes its sums in memory for each variable,
and is begun anew for each; here sums stay in registers. What comes out are bounds and candidates
(boxes.py): products may be fused, since margins cover that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 32
TOGETHER = 4  # targets that a leaf is looked into for at once
_LANES = ir.VectorType(ir.FloatType(), WIDTH)
_FUSED = ("contract",)


def _row(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    """Where lane 0 is in the last axis of an array."""
    last = [*index, context.get_constant(types.intp, 0)]
    made = context.make_array(kind)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, kind, made, last, wraparound=False)
    return builder.bitcast(place, _LANES.as_pointer())


def _read(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    return builder.load(_row(context, builder, kind, array, *index), align=4)


def _write(context: Any, builder: Any, row: Any, kind: Any, array: Any, *index: Any) -> None:
    builder.store(row, _row(context, builder, kind, array, *index), align=4)


def _number(context: Any, builder: Any, kind: Any, array: Any, *index: Any) -> Any:
    made = context.make_array(kind)(context, builder, array)
    place = cgutils.get_item_pointer(context, builder, kind, made, list(index), wraparound=False)
    return builder.load(place)


def _all(builder: Any, number: Any) -> Any:
    """A number, in single precision, in all lanes."""
    if number.type == ir.DoubleType():
        number = builder.fptrunc(number, ir.FloatType())
    one = builder.insert_element(ir.Constant(_LANES, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, one, mask)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    """The larger of two numbers, or in each lane; the second if one is NaN."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _add_product(builder: Any, total: Any, a: Any, b: Any) -> None:
    """Add a product to a sum that is kept in a variable."""
    product = builder.fmul(a, b, flags=_FUSED)
    builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)


def _each_variable(
    context: Any, builder: Any, kind: Any, target: Any, step: Callable[[Any, Any], None]
) -> Any:
    """Take a step with each number of the target in all lanes; how many there are."""
    shape = context.make_array(kind)(context, builder, target).shape
    d = builder.extract_value(shape, 0)
    with cgutils.for_range(builder, d, intp=d.type) as loop:
        step(loop.index, _all(builder, _number(context, builder, kind, target, loop.index)))
    return d


def _limit(builder: Any, sign: str, d: Any, reach: Any, square: Any, limit: Any) -> Any:
    """What half of |x|^2 - 2 x.t is compared with, in all lanes.

    Half of |x|^2 - 2 x.t + |t|^2 is compared with half the limit. It is off by less than
    (d + 8) 2^-23 (|x|^2 + |t|^2).
    """
    number = ir.DoubleType()
    many = builder.fadd(builder.sitofp(d, number), number(8.0))
    size = builder.fadd(builder.fmul(reach, reach), square)
    margin = builder.fmul(builder.fmul(many, size), number(2.0**-23))
    margin = builder.fadd(margin, builder.fmul(limit, number(2.0**-22)))
    margin = builder.fadd(margin, number(1e-36))
    limit = builder.fmul(builder.fsub(limit, square), number(0.5))
    change = builder.fadd if sign == "<=" else builder.fsub
    return _all(builder, change(limit, margin))


def _bits(builder: Any, sign: str, numbers: Any, limit: Any) -> Any:
    """The lanes that compare so with a limit, as bits."""
    found = builder.fcmp_ordered(sign, numbers, limit)
    return builder.zext(builder.bitcast(found, ir.IntType(WIDTH)), ir.IntType(64))


def _candidates(sign: str) -> Any:
    @intrinsic
    def candidates(typing, single, half, reach, leaf, target, square, limit):
        """Lanes of a leaf whose squared distance to a target may be within a limit, as bits."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            values, halves, reaches, leaf, target, square, limit = arguments
            total = cgutils.alloca_once(builder, _LANES)
            builder.store(_read(context, builder, kinds[1], halves, leaf), total)

            def step(v: Any, at: Any) -> None:
                lane = _read(context, builder, kinds[0], values, leaf, v)
                product = builder.fmul(lane, at, flags=_FUSED)
                builder.store(builder.fsub(builder.load(total), product, flags=_FUSED), total)

            d = _each_variable(context, builder, kinds[4], target, step)
            reach = _number(context, builder, kinds[2], reaches, leaf)
            limit = _limit(builder, sign, d, reach, square, limit)
            return _bits(builder, sign, builder.load(total), limit)

        return types.int64(single, half, reach, leaf, target, square, limit), code

    return candidates


lanes_within = _candidates("<=")
lanes_beyond = _candidates(">=")


@intrinsic
def write_lanes_beyond(typing, single, half, reach, leaf, targets, squares, limits, found, row):
    """Write `lanes_beyond` of several targets at once: what is in a leaf is read once."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        values, halves, reaches, leaf, targets, squares, limits, found, row = arguments
        places = [context.get_constant(types.intp, place) for place in range(TOGETHER)]
        start = _read(context, builder, kinds[1], halves, leaf)
        totals = [cgutils.alloca_once_value(builder, start) for _ in places]
        shape = context.make_array(kinds[4])(context, builder, targets).shape
        d = builder.extract_value(shape, 1)
        with cgutils.for_range(builder, d, intp=d.type) as loop:
            lane = _read(context, builder, kinds[0], values, leaf, loop.index)
            for place, total in zip(places, totals, strict=True):
                at = _all(builder, _number(context, builder, kinds[4], targets, place, loop.index))
                product = builder.fmul(lane, at, flags=_FUSED)
                builder.store(builder.fsub(builder.load(total), product, flags=_FUSED), total)
        reach = _number(context, builder, kinds[2], reaches, leaf)
        made = context.make_array(kinds[7])(context, builder, found)
        for place, total in zip(places, totals, strict=True):
            square = _number(context, builder, kinds[5], squares, place)
            limit = _number(context, builder, kinds[6], limits, place)
            bits = _bits(
                builder, ">=", builder.load(total), _limit(builder, ">=", d, reach, square, limit)
            )
            to = [row, place]
            builder.store(
                bits,
                cgutils.get_item_pointer(context, builder, kinds[7], made, to, wraparound=False),
            )
        return context.get_dummy_value()

    return types.void(single, half, reach, leaf, targets, squares, limits, found, row), code


@intrinsic
def write_gaps(typing, low, high, block, target, out, level):
    """Write the squared distances from a target to the boxes of a block."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, zero = signature.args, ir.Constant(_LANES, [0.0] * WIDTH)
        low, high, block, target, out, level = arguments
        total = cgutils.alloca_once_value(builder, zero)

        def step(v: Any, at: Any) -> None:
            below = builder.fsub(_read(context, builder, kinds[0], low, block, v), at)
            above = builder.fsub(at, _read(context, builder, kinds[1], high, block, v))
            gap = _larger(builder, _larger(builder, below, above), zero)
            _add_product(builder, total, gap, gap)

        _each_variable(context, builder, kinds[3], target, step)
        _write(context, builder, builder.load(total), kinds[4], out, level)
        return context.get_dummy_value()

    return types.void(low, high, block, target, out, level), code


@intrinsic
def write_reaches(typing, low, high, centre, half, block, target, square, out):
    """Write squared distances from a target to the far corners of boxes and to their centres."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, zero = signature.args, ir.Constant(_LANES, [0.0] * WIDTH)
        low, high, centre, halves, block, target, square, out = arguments
        corner = cgutils.alloca_once_value(builder, zero)
        half = cgutils.alloca_once(builder, _LANES)
        builder.store(_read(context, builder, kinds[3], halves, block), half)

        def step(v: Any, at: Any) -> None:
            below = builder.fsub(at, _read(context, builder, kinds[0], low, block, v))
            above = builder.fsub(_read(context, builder, kinds[1], high, block, v), at)
            reach = _larger(builder, _larger(builder, below, above), zero)
            _add_product(builder, corner, reach, reach)
            middle = _read(context, builder, kinds[2], centre, block, v)
            product = builder.fmul(middle, at, flags=_FUSED)
            builder.store(builder.fsub(builder.load(half), product, flags=_FUSED), half)

        _each_variable(context, builder, kinds[5], target, step)
        first, second = (context.get_constant(types.intp, i) for i in range(2))
        gap = builder.load(half)
        gap = builder.fadd(builder.fadd(gap, gap), _all(builder, square))
        _write(context, builder, builder.load(corner), kinds[7], out, first)
        _write(context, builder, gap, kinds[7], out, second)
        return context.get_dummy_value()

    return types.void(low, high, centre, half, block, target, square, out), code


def _reduce(builder: Any, sign: str, lanes: Any) -> Any:
    """The least or the greatest number of all lanes, none of which is NaN."""
    half = WIDTH
    while half > 1:
        half //= 2
        places = [list(range(half)), list(range(half, 2 * half))]
        a, b = (
            builder.shuffle_vector(
                lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), half), some)
            )
            for some in places
        )
        lanes = builder.select(builder.fcmp_ordered(sign, a, b), a, b)
    return builder.extract_element(lanes, ir.IntType(32)(0))


def _extreme(sign: str) -> Any:
    @intrinsic
    def extreme(typing, numbers, row):
        """The first lane of a row that has its extreme, and that."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            lanes = _read(context, builder, signature.args[0], arguments[0], arguments[1])
            number = _reduce(builder, sign, lanes)
            same = builder.fcmp_ordered("==", lanes, _all(builder, number))
            bits = builder.bitcast(same, ir.IntType(WIDTH))
            lane = builder.zext(builder.cttz(bits, ir.IntType(1)(0)), ir.IntType(64))
            return context.make_tuple(builder, signature.return_type, [lane, number])

        return types.Tuple((types.int64, types.float32))(numbers, row), code

    return extreme


least_lane = _extreme("<")
greatest_lane = _extreme(">")


@intrinsic
def lanes_from(typing, numbers, row, least):
    """The lanes of a row with no less than a number, as bits."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, row, least = arguments
        lanes = _read(context, builder, signature.args[0], numbers, row)
        return _bits(builder, ">=", lanes, _all(builder, least))

    return types.int64(numbers, row, least), code


@intrinsic
def extent(typing, low, high, there, block, v):
    """The least low and the greatest high number of a variable; no lane counts that has NaN there.

    Infinite and inside out if there is none.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        low, high, there, block, v = arguments
        counts = _read(context, builder, kinds[2], there, block)
        counts = builder.fcmp_ordered("ord", counts, counts)
        ends = []
        for kind, array, sign, none in (
            (kinds[0], low, "<", np.inf),
            (kinds[1], high, ">", -np.inf),
        ):
            lanes = _read(context, builder, kind, array, block, v)
            lanes = builder.select(counts, lanes, ir.Constant(_LANES, [none] * WIDTH))
            ends.append(builder.fpext(_reduce(builder, sign, lanes), ir.DoubleType()))
        return context.make_tuple(builder, signature.return_type, ends)

    pair = types.Tuple((types.float64, types.float64))
    return pair(low, high, there, block, v), code


@intrinsic
def first_lane(typing, bits):
    """The first of the lanes that bits stand for."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.int64), code
