"""The engine is chosen once, and honoured everywhere."""

import copy
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from microagg_gpu import InputError, microaggregate
from microagg_gpu.kernels import cpu, generic
from microagg_gpu.kernels.optional import HasDiameterLoop, HasLoops
from microagg_gpu.kernels.point_set import HasPointSet
from microagg_gpu.methods.common import point_set


def test_nothing_of_the_cpu_engine_runs_if_the_generic_one_is_asked_for():
    code = (
        "import sys, numpy as np; from microagg_gpu import microaggregate\n"
        "data = np.random.default_rng(0).normal(size=(30, 2))\n"
        "result = microaggregate(data, 3, engine='generic', refine_steps=2)\n"
        "print(result.engine, 'numba' in sys.modules, 'microagg_gpu.kernels.cpu' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["generic", "False", "False"]


def test_a_method_that_an_engine_cannot_run_is_an_input_error():
    engine = ModuleType("microagg_gpu.kernels.cuda")  # which has no PointSet
    with pytest.raises(InputError, match="engine 'cuda' cannot run this method"):
        point_set(np.zeros((4, 2)), engine)
    assert isinstance(generic, HasPointSet)
    assert isinstance(cpu, HasPointSet)
    assert isinstance(cpu, HasLoops)
    assert not isinstance(generic, HasLoops)
    assert not isinstance(cpu, HasDiameterLoop)


def test_a_result_can_be_copied():
    data = np.random.default_rng(0).normal(size=(30, 2))
    result = microaggregate(data, 3)
    assert copy.deepcopy(result).labels.tolist() == result.labels.tolist()
