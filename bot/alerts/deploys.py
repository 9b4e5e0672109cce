"""Which deployments an alert is judged by: the one that runs, and the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.alerts.alert import Deploy

PRODUCTION = "production"


def running_and_before(deploys: Sequence[Deploy], environment: str | None) -> list[Deploy]:
    """The deployment that runs in an environment, and the one before it, of `deploys` of one service, the latest first.

    Without an environment that of production counts, or the only one that is told of. One commit that was deployed
    several times in a row is one deployment, since the first of them. Commits of another repository than that of the
    latest deployment say nothing about the one before.
    """
    told = {deploy.environment for deploy in deploys} - {None}
    if environment is None and told:
        environment = PRODUCTION if PRODUCTION in told else next(iter(told)) if len(told) == 1 else None
    fitting = [deploy for deploy in deploys if deploy.environment in (None, environment)]
    found: list[Deploy] = []
    for deploy in fitting:
        if deploy.repository not in (None, fitting[0].repository):
            continue
        if found and found[-1].revision == deploy.revision:
            found[-1] = deploy
        elif len(found) == 2:
            break
        else:
            found.append(deploy)
    return found
