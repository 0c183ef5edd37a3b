"""Device functions that round as every engine must: see "What numbers promise" in CONTRIBUTING.

A literal such as ``1.0`` is double precision in Numba and would make a single precision kernel
compute in doubles, so these functions hold none.
"""

from numba import config, cuda

SIMULATED = bool(config.ENABLE_CUDASIM)

if SIMULATED:

    @cuda.jit(device=True)
    def product(a, b):
        """A product that is rounded before it is added to anything."""
        return a * b

else:
    from llvmlite import ir
    from numba.cuda.extending import intrinsic

    @intrinsic
    def product(typingctx, a, b):
        """A product that is rounded before it is added to anything.

        The compiler would fuse ``a * b + c`` and round once; the instruction ``mul.rn`` forbids it.
        """

        def codegen(context, builder, signature, arguments):
            kind = arguments[0].type
            name = f"llvm.nvvm.mul.rn.{'d' if isinstance(kind, ir.DoubleType) else 'f'}"
            known = builder.module.globals.get(name)
            rounded = known or ir.Function(builder.module, ir.FunctionType(kind, [kind] * 2), name)
            return builder.call(rounded, arguments)

        return a(a, a), codegen


@cuda.jit(device=True)
def squared_distance(columns, slot, target, row):
    """Squared distance of a column to a row, the variables added in order."""
    difference = columns[0, slot] - target[row, 0]
    total = product(difference, difference)
    for j in range(1, columns.shape[0]):
        difference = columns[j, slot] - target[row, j]
        total += product(difference, difference)
    return total


@cuda.jit(device=True)
def row_distance(a, i, b, j):
    """Squared distance of a row to a row of another matrix, the variables added in order."""
    difference = a[i, 0] - b[j, 0]
    total = product(difference, difference)
    for v in range(1, a.shape[1]):
        difference = a[i, v] - b[j, v]
        total += product(difference, difference)
    return total


@cuda.jit(device=True)
def two_sum(a, b):
    """Return s = fl(a + b) and the exact error (a + b) - s."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@cuda.jit(device=True)
def add(total, row, j, x):
    """Add x to a sum carried as three numbers, ``total[row, :, j]``."""
    total[row, 0, j], error = two_sum(total[row, 0, j], x)
    total[row, 1, j], error = two_sum(total[row, 1, j], error)
    total[row, 2, j] += error


@cuda.jit(device=True)
def rounded(total, row, j):
    """The sum ``total[row, :, j]``, correctly rounded."""
    high, low = two_sum(total[row, 0, j], total[row, 1, j])
    low, rest = two_sum(low, total[row, 2, j])
    high, low = two_sum(high, low)
    # Half way between two numbers, what is left decides.
    if (low < -low and rest < -rest) or (low > -low and rest > -rest):
        other = high + (low + low)
        if other - high == low + low:
            high = other
    return high
