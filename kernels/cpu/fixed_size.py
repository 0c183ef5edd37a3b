"""The loops of the fixed-size methods, with this engine's set of records."""

from functools import partial

from ..generic import fixed_size
from .points import PointSet

mdav_groups = partial(fixed_size.mdav_groups, PointSet=PointSet)
vmdav_groups = partial(fixed_size.vmdav_groups, PointSet=PointSet)
diameter_groups = partial(fixed_size.diameter_groups, PointSet=PointSet)
centroid_groups = partial(fixed_size.centroid_groups, PointSet=PointSet)
