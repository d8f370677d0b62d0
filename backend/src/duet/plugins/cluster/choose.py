# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens the pool that the settings name, without importing the other backends."""

from __future__ import annotations

from duet.plugins.cluster.types import Pool, PoolSettings


def open_pool(settings: PoolSettings) -> Pool:
    """Return the pool. The caller enters it with `async with`.

    Raises:
        InfraError: the backend's commands are not installed.
        InputError: a required setting is missing.
    """
    if settings.pool == "slurm":
        from duet.plugins.cluster.slurm.pool import SlurmPool

        return SlurmPool(settings)
    if settings.pool == "kubernetes":
        from duet.plugins.cluster.kubernetes.pool import KubernetesPool

        return KubernetesPool(settings)
    from duet.plugins.cluster.local import LocalPool

    return LocalPool()
