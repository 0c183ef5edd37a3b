"""Operations on 32 lanes side by side, in single precision, as vectors of the processor.

A loop over lanes inside one over variables reads and writes its sums in memory for each variable,
and is begun anew for each; here sums stay in registers. What comes out are bounds and candidates
(boxes.py): products may be fused, since margins cover that.

The targets of all are points in double precision; a row of lanes is relative to an origin, in a
unit of 1 / scale.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

WIDTH = 32
_LANES = ir.VectorType(ir.FloatType(), WIDTH)
_FUSED = ("contract",)
# Targets farther out than this are taken as if they were here, nearer to all records: their squares
# must be numbers. Those of searches for the farthest are among the records.
_FAR = 2.0**30


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


def _relative(
    context: Any,
    builder: Any,
    signature: Any,
    arguments: Any,
    origin: int,
    step: Callable[..., Any],
) -> Any:
    """For each variable take a step with the target's value, relative to an origin.

    The arguments end with the index of the origin, the target and the scale. Returns the square
    of the target's distance to the origin.
    """
    row, target, scale = arguments[-3:]
    kinds = signature.args
    shape = context.make_array(kinds[-2])(context, builder, target).shape
    d = builder.extract_value(shape, 0)
    square = cgutils.alloca_once_value(builder, ir.DoubleType()(0.0))
    with cgutils.for_range(builder, d, intp=d.type) as loop:
        v = loop.index
        here = _number(context, builder, kinds[origin], arguments[origin], row, v)
        x = builder.fsub(_number(context, builder, kinds[-2], target, v), here)
        x = _larger(builder, builder.fmul(x, scale), ir.DoubleType()(-_FAR))
        x = builder.fneg(_larger(builder, builder.fneg(x), ir.DoubleType()(-_FAR)))
        builder.store(builder.fadd(builder.load(square), builder.fmul(x, x)), square)
        step(v, row, x)
    return builder.load(square)


def _candidates(sign: str) -> Any:
    @intrinsic
    def candidates(typing, single, length, origin, reach, limit, leaf, target, scale):
        """Lanes of a leaf whose squared distance to a target may be within a limit, as bits.

        |x|^2 - 2 x.t + |t|^2 is off by less than (d + 8) 2^-22 (|x|^2 + |t|^2).
        """

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            total = cgutils.alloca_once(builder, _LANES)
            values, lengths, _, reaches, limit, leaf = arguments[:6]
            builder.store(_read(context, builder, kinds[1], lengths, leaf), total)

            def step(v: Any, row: Any, x: Any) -> None:
                twice = _all(builder, builder.fmul(x, ir.DoubleType()(-2.0)))
                lane = _read(context, builder, kinds[0], values, row, v)
                _add_product(builder, total, lane, twice)

            square = _relative(context, builder, signature, arguments, 2, step)
            shape = context.make_array(kinds[6])(context, builder, arguments[6]).shape
            d = builder.sitofp(builder.extract_value(shape, 0), ir.DoubleType())
            many = builder.fadd(d, ir.DoubleType()(8.0))
            reach = _number(context, builder, kinds[3], reaches, leaf)
            size = builder.fadd(builder.fmul(reach, reach), square)
            margin = builder.fmul(builder.fmul(many, size), ir.DoubleType()(2.0**-22))
            if sign == "<=":
                limit = builder.fmul(limit, ir.DoubleType()(1.0 + 2.0**-22))
                margin = builder.fadd(margin, ir.DoubleType()(1e-36))
                limit = builder.fadd(limit, margin)
            else:
                limit = builder.fmul(limit, ir.DoubleType()(1.0 - 2.0**-22))
                margin = builder.fadd(margin, ir.DoubleType()(1e-36))
                limit = builder.fsub(limit, margin)
            distances = builder.fadd(builder.load(total), _all(builder, square))
            found = builder.fcmp_ordered(sign, distances, _all(builder, limit))
            return builder.zext(builder.bitcast(found, ir.IntType(WIDTH)), ir.IntType(64))

        kinds = single, length, origin, reach, limit, leaf, target, scale
        return types.int64(*kinds), code

    return candidates


lanes_within = _candidates("<=")
lanes_beyond = _candidates(">=")


@intrinsic
def write_gaps(typing, low, high, out, level, middle, block, target, scale):
    """Write the squared distances from a target to the boxes of a block."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        total = cgutils.alloca_once_value(builder, ir.Constant(_LANES, [0.0] * WIDTH))

        def step(v: Any, row: Any, x: Any) -> None:
            at = _all(builder, x)
            least = _read(context, builder, kinds[0], arguments[0], row, v)
            most = _read(context, builder, kinds[1], arguments[1], row, v)
            gap = _larger(builder, builder.fsub(least, at), builder.fsub(at, most))
            gap = _larger(builder, gap, ir.Constant(_LANES, [0.0] * WIDTH))
            _add_product(builder, total, gap, gap)

        _relative(context, builder, signature, arguments, 4, step)
        _write(context, builder, builder.load(total), kinds[2], arguments[2], arguments[3])
        return context.get_dummy_value()

    return types.void(low, high, out, level, middle, block, target, scale), code


@intrinsic
def write_reaches(typing, low, high, centre, length, out, middle, block, target, scale):
    """Write squared distances from a target to the far corners of boxes and to their centres.

    Returns the square of the target's distance to the middle of the block.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        corner = cgutils.alloca_once_value(builder, ir.Constant(_LANES, [0.0] * WIDTH))
        gap = cgutils.alloca_once(builder, _LANES)
        builder.store(_read(context, builder, kinds[3], arguments[3], arguments[6]), gap)

        def step(v: Any, row: Any, x: Any) -> None:
            at, twice = _all(builder, x), _all(builder, builder.fmul(x, ir.DoubleType()(-2.0)))
            least = _read(context, builder, kinds[0], arguments[0], row, v)
            most = _read(context, builder, kinds[1], arguments[1], row, v)
            reach = _larger(builder, builder.fsub(at, least), builder.fsub(most, at))
            reach = _larger(builder, reach, ir.Constant(_LANES, [0.0] * WIDTH))
            _add_product(builder, corner, reach, reach)
            _add_product(
                builder, gap, _read(context, builder, kinds[2], arguments[2], row, v), twice
            )

        square = _relative(context, builder, signature, arguments, 5, step)
        zero, one = (context.get_constant(types.intp, i) for i in range(2))
        gaps = builder.fadd(builder.load(gap), _all(builder, square))
        _write(context, builder, builder.load(corner), kinds[4], arguments[4], zero)
        _write(context, builder, gaps, kinds[4], arguments[4], one)
        return square

    kinds = low, high, centre, length, out, middle, block, target, scale
    return types.float64(*kinds), code


def _extreme(sign: str) -> Any:
    @intrinsic
    def extreme(typing, numbers, row):
        """The first lane of a row that has its extreme, and that."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            lanes = _read(context, builder, signature.args[0], arguments[0], arguments[1])
            best, half = lanes, WIDTH
            while half > 1:
                half //= 2
                places = [list(range(half)), list(range(half, 2 * half))]
                a, b = (
                    builder.shuffle_vector(
                        best, best, ir.Constant(ir.VectorType(ir.IntType(32), half), some)
                    )
                    for some in places
                )
                best = builder.select(builder.fcmp_ordered(sign, a, b), a, b)
            number = builder.extract_element(best, ir.IntType(32)(0))
            same = builder.fcmp_ordered("==", lanes, _all(builder, number))
            bits = builder.bitcast(same, ir.IntType(WIDTH))
            lane = builder.zext(builder.cttz(bits, ir.IntType(1)(0)), ir.IntType(64))
            return context.make_tuple(builder, signature.return_type, [lane, number])

        return types.Tuple((types.int64, types.float32))(numbers, row), code

    return extreme


least_lane = _extreme("<")
greatest_lane = _extreme(">")


@intrinsic
def first_lane(typing, bits):
    """The first of the lanes that bits stand for."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.int64), code
