# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a comparison on this host (`python -m`). Standard input contains the request.

Progress lines go to standard error. The result is one line on standard output.
"""

from __future__ import annotations

import asyncio
import sys

from duet.base.errors import DuetError
from duet.base.failures import Failure
from duet.base.files import sha256_of
from duet.guests import ensure_root
from duet.kernels import KernelSettings
from duet.kernels.arms import arm_spec, find_image
from duet.kernels.links import find_layouts
from duet.measure import MeasurePlan, Progress
from duet.plugins.cluster.measuring.limits import REQUEST_BYTES
from duet.plugins.cluster.measuring.request import Facts, Request, Result, counts_of, line_of
from duet.runs.measure import prepare_measurement


async def work(request: Request) -> Result:
    """Run the requested comparison as `duet measure` does.

    Raises:
        DuetError: the comparison cannot run here.
    """
    plan, settings = request.plan(), KernelSettings.default()
    measuring = await prepare_measurement(plan, settings, "", tell, at_once=request.at_once)
    kernels, root = await asyncio.to_thread(kernel_digests, plan, settings), await ensure_root()
    found = await measuring.run()
    facts = Facts(
        host=found.host,
        kernels=kernels,
        root=await asyncio.to_thread(sha256_of, root.image),
        waited_share=measuring.waited_share,
    )
    (table,) = found.tables
    arms = list(found.arms)
    return Result(facts=facts, arms=arms, counts=counts_of(table), partial=found.partial)


def tell(step: Progress) -> None:
    """Print a line of progress."""
    print(step, file=sys.stderr, flush=True)


def kernel_digests(plan: MeasurePlan, settings: KernelSettings) -> dict[str, str]:
    """Return the SHA-256 of each arm's kernel on this host, and of its relinked kernel.

    The keys are names of arms. For relinked kernels, they are names such as "srcu link 1".
    """
    found = {arm: sha256_of(find_image(plan.folder, arm, settings).bzimage) for arm in plan.arms}
    for arm in plan.arms if plan.link else ():
        images = find_layouts(arm_spec(plan.folder, arm), plan.layouts, settings)
        found[f"{arm} link {plan.link}"] = sha256_of(images[(plan.link or 0) - 1].bzimage)
    return found


def main() -> int:
    """Read the request, run it, and write the result."""
    try:
        request = Request.read(sys.stdin.buffer.read(REQUEST_BYTES + 1))
        line = line_of(asyncio.run(work(request)))
    except DuetError as error:
        line = line_of(Result(failure=Failure.of(error)))
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
