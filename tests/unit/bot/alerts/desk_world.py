"""A small company with its alerts: a real store, a real index, the real desk; the platform and the model are fakes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from bot.alerts.alert import Alert, Thrown, Trace, TraceFrame
from bot.alerts.desk import AlertDesk
from bot.alerts.fingerprint import fingerprint
from bot.alerts.services import Service, Services
from bot.alerts.store import FaultStore, Limits
from bot.channels import ChannelPolicy, Channels
from bot.compose_alerts import assemble_desk
from bot.store import Store
from bot.types import Author
from knowledge.types import Scope
from tests.fakes.chat_platform import FakePlatform
from tests.unit.bot.company import open_company, write_company
from tests.unit.bot.times import Clock, counting_ids

BOT = Author(id="hook", display_name="alertmanager", is_bot=True)
CHANGE = """--- a/payments.py
+++ b/payments.py
@@ -9,3 +9,3 @@
         for attempt in range(max_attempts):
-            if payment.charge():
+            if payment is not None and payment.charge():
                 return attempt + 1
"""
NO_TOOL = json.dumps({"tool": "none", "argument": ""})
CAUSE = "`retry_declined` raises PaymentDeclined when no attempt succeeds [1]."
TRACE = """[pay] ERROR payment failed
Traceback (most recent call last):
  File "/app/payments.py", line 12, in retry_declined
    raise PaymentDeclined(payment.id)
PaymentDeclined: card was declined"""


def finding(cause: str, diff: str | None = None) -> str:
    fix = {"evidence": 1, "diff": diff} if diff else None
    return json.dumps({"summary": cause, "cause": cause, "fix": fix, "confidence": "medium", "next_steps": []})


@contextmanager
def open_world(folder: Path, *, clock: Clock | None = None):
    """Opened again on the same folder it is the same company after a restart."""
    if not (folder / "shop").exists():
        write_company(folder)
    clock = clock or Clock()
    store = Store.open(folder / "bot.sqlite3", clock=clock)
    try:
        with open_company(folder, clock=clock) as knowledge:
            knowledge.sync()
            yield SimpleNamespace(
                folder=folder,
                clock=clock,
                store=store,
                knowledge=knowledge,
                platform=FakePlatform(new_id=counting_ids()),
            )
    finally:
        store.close()


def build(world, *, model=None, scope=None, limits=None, service=None, channels=None, language="en") -> AlertDesk:
    policy = ChannelPolicy(scope=scope or Scope.everything(), language=language)
    desk = assemble_desk(
        faults=FaultStore(world.store, clock=world.clock, limits=limits or Limits()),
        store=world.store,
        library=world.knowledge,
        services=Services([service or Service(name="pay", repositories=("shop",))]),
        channels=channels or Channels(default=policy, direct=policy),
        model=lambda: model,
        link=lambda locator, chunk_id: None,
        readable=lambda reply, thread: reply,
        clock=world.clock,
    )
    desk.threads.platforms = {world.platform.name: world.platform}
    return desk


def alert(
    world, *, symbol="retry_declined", message="card declined", status="firing", service="pay",
    error_class="PaymentDeclined", line=10,
) -> Alert:  # fmt: skip
    frame = TraceFrame(file="app/payments.py", line=line, symbol=symbol, in_app=True)
    trace = Trace(
        language="python",
        thrown=(Thrown(error_class=error_class, message=message, frames=(frame,)),),
        is_truncated=False,
    )
    key, sequence = fingerprint(
        service=service, traces=[trace], error_class=error_class, message=message, title=error_class
    )
    return Alert(
        format="trace", service=service, environment=None, severity="error", status=status, title=error_class,
        error_class=error_class, message=message, traces=(trace,), fingerprint=key, sequence=sequence,
        is_truncated=False, raw=f"{error_class}: {message}", posted_at=world.clock(),
    )  # fmt: skip
