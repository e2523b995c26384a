"""Apache Spark: training, prediction and explanation on the executors of a cluster.

All computation is ``mapInArrow`` jobs, pure functions of (rows, current weights) whose sums are
merged in partition order. Needs the extra ``spark``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.spark.cluster_learning import fit
    from separable.spark.cluster_training import train
    from separable.spark.prediction import explain, predict
    from separable.spark.spark_partitions import SparkPartitions

#: Where each public name lives. The imports above tell type checkers the same.
_HOMES = {
    "SparkPartitions": "separable.spark.spark_partitions",
    "explain": "separable.spark.prediction",
    "fit": "separable.spark.cluster_learning",
    "predict": "separable.spark.prediction",
    "train": "separable.spark.cluster_training",
}

__all__ = ["SparkPartitions", "explain", "fit", "predict", "train"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
