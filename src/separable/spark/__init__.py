"""Apache Spark: training, prediction and explanation on the executors of a cluster.

All computation is ``mapInArrow`` jobs, pure functions of (rows, current weights) whose sums are
merged in partition order. Needs the extra ``spark``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.spark.learning import fit
    from separable.spark.prediction import explain, predict
    from separable.spark.spark_partitions import SparkPartitions
    from separable.spark.training import train

#: Where each public name lives. The imports above tell type checkers the same.
_HOMES = {
    "SparkPartitions": "separable.spark.spark_partitions",
    "explain": "separable.spark.prediction",
    "fit": "separable.spark.learning",
    "predict": "separable.spark.prediction",
    "train": "separable.spark.training",
}

__all__ = ["SparkPartitions", "explain", "fit", "predict", "train"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
