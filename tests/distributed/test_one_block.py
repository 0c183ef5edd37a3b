"""One block on a cluster gives the groups of one machine, to the label."""

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("pandas")

import pandas as pd
from dask import dataframe as dd

from helpers.cluster import computed
from helpers.strategies import KINDS, make_table
from microagg_gpu import microaggregate
from microagg_gpu.distributed import microaggregate as on_cluster


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_those_of_one_machine(client, kind, seed):
    frame = pd.DataFrame(make_table(kind, 90, 3, seed), columns=list("abc"))
    parts = dd.from_pandas(frame, npartitions=4, sort=False)
    alone = microaggregate(frame, 3, variable_weights=[1.0, 2.0, 0.5])
    result = on_cluster(parts, 3, variable_weights=[1.0, 2.0, 0.5], client=client)
    assert result.blocks == 1
    assert np.array_equal(computed(result.labels, client), alone.labels)
    assert result.loss == pytest.approx(alone.loss, abs=1e-9)
