"""Runs of GitHub Actions and pipelines of GitLab CI: only those that failed are alerts."""

from __future__ import annotations

from bot.alerts.payloads.told import Json, Told, at, first, joined, mapping, objects, text, text_at

_FAILED = ("failure", "failed", "timed_out", "startup_failure", "action_required")


def read_github(payload: Json) -> list[Told] | str | None:
    """A workflow_run, workflow_job, check_run or deployment_status event; a sentence when nothing failed."""
    kind = next(
        (k for k in ("workflow_run", "workflow_job", "check_run", "check_suite", "deployment_status") if k in payload),
        None,
    )
    if "repository" not in payload or not (kind or {"sender", "pusher", "hook"} & payload.keys()):
        return None
    if kind is None:
        return "is an event of GitHub that tells of no run; send workflow_run, check_run or deployment_status"
    run = mapping(payload.get(kind))
    outcome = first(run.get("conclusion"), run.get("state"), run.get("status"), payload.get("action"))
    name = first(run.get("name"), run.get("workflow_name"), at(payload, "workflow", "name"), kind)
    if outcome not in (*_FAILED, "error", "success"):
        return f"tells that {name} is {outcome or 'under way'}, which is no fault"
    repository = text_at(payload, "repository", "name")
    failed = [text_at(step, "name") for step in objects(run.get("steps")) if text_at(step, "conclusion") in _FAILED]
    name = text_at(run, "app", "name") or name if kind == "check_suite" else name
    branch = first(run.get("head_branch"), at(run, "check_suite", "head_branch"), at(payload, "deployment", "ref"))
    title = f"{name} {'passed' if outcome == 'success' else 'failed'} on {branch or repository}"
    output = joined(at(run, "output", "title"), at(run, "output", "summary"), at(run, "output", "text"))
    steps = f"Failed step: {', '.join(failed)}" if failed else ""
    return [
        Told(
            format="github",
            title=title,
            message=first(at(run, "output", "title"), steps, run.get("display_title"), run.get("description"), title),
            text=joined(title, steps, output, at(run, "head_commit", "message"), run.get("description")),
            service=repository,
            environment=first(at(payload, "deployment", "environment"), run.get("environment")),
            severity="info" if outcome == "success" else "error",
            status="resolved" if outcome == "success" else "firing",
            rule=f"{name} {branch} {' '.join(failed)}".strip(),
            labels={"repository": text_at(payload, "repository", "full_name"), "branch": branch, "workflow": name},
            revision=first(run.get("head_sha"), at(payload, "deployment", "sha")),
            url=first(run.get("html_url"), run.get("target_url")),
            dedup_key=f"github:{text_at(payload, 'repository', 'full_name')}:{name}:{branch}",
        )
    ]


def read_gitlab(payload: Json) -> list[Told] | str | None:
    """A pipeline or job event; a sentence when nothing failed."""
    kind = text_at(payload, "object_kind")
    if kind not in ("pipeline", "build", "deployment"):
        is_gitlab = bool(kind) and ("project" in payload or "event_name" in payload)
        return f"is a {kind[:40]} event of GitLab, which tells of no run" if is_gitlab else None
    attributes = mapping(payload.get("object_attributes"))
    status = first(attributes.get("status"), payload.get("build_status"), payload.get("status"))
    name = first(payload.get("build_name"), attributes.get("name"), kind)
    if status not in ("failed", "success"):
        return f"tells that {name} is {status or 'under way'}, which is no fault"
    if kind == "build" and status == "failed" and payload.get("build_allow_failure") is True:
        return f"tells that {name} failed, which is allowed to fail"
    project = mapping(payload.get("project"))
    branch = first(attributes.get("ref"), payload.get("ref"))
    failed = [
        first(build.get("name"))
        for build in objects(payload.get("builds"))
        if text_at(build, "status") == "failed" and build.get("allow_failure") is not True
    ]
    jobs = f"Failed job: {', '.join(failed)}" if failed else ""
    title = f"{name} {'passed' if status == 'success' else 'failed'} on {branch}"
    path = first(project.get("path_with_namespace"), payload.get("project_name"))
    return [
        Told(
            format="gitlab",
            title=title,
            message=first(jobs, payload.get("build_failure_reason"), at(payload, "commit", "title"), title),
            text=joined(title, jobs, payload.get("build_failure_reason"), at(payload, "commit", "message")),
            service=first(path.rpartition("/")[2], project.get("name")),
            environment=first(at(payload, "environment", "name"), payload.get("environment")),
            severity="info" if status == "success" else "error",
            status="resolved" if status == "success" else "firing",
            rule=f"{name} {branch} {' '.join(failed)}".strip(),
            labels={"repository": path, "branch": branch},
            revision=first(
                attributes.get("sha"),
                payload.get("sha"),
                payload.get("short_sha"),
                at(payload, "commit", "sha"),
                at(payload, "commit", "id"),
            ),
            url=first(attributes.get("url"), payload.get("deployable_url"), text(project.get("web_url"))),
            dedup_key=f"gitlab:{path}:{name}:{branch}",
        )
    ]
