"""The route that shows a page of a document as a picture, beside what was read from it."""

from __future__ import annotations

import asyncio

import structlog
from starlette.requests import Request
from starlette.responses import Response

from bot.http.context import context_of, evidence_scopes
from bot.http.errors import error_response
from knowledge.errors import ContentChanged, NotFound, PermanentError, TransientError

KEPT_S = 600  # by the reader's browser alone
MAX_PAGE = 100_000

log = structlog.get_logger(__name__)


async def page_image(request: Request) -> Response:
    """The page within the reader's scope; 404 where there is none, 409 when the file is not the indexed one."""
    context = context_of(request)
    chunk_id, page = request.path_params["chunk_id"], min(request.path_params["page"], MAX_PAGE)
    scopes = evidence_scopes(request, f"{chunk_id}/page/{page}")
    try:
        image = await asyncio.to_thread(context.knowledge.page_image, chunk_id, page, scope=scopes[-1][0])
    except ContentChanged:
        return error_response(request, 409, "page_changed")
    except NotFound as error:
        log.info("no page image", chunk=chunk_id, page=page, reason=str(error))
        return error_response(request, 404, "page_not_shown")
    except (PermanentError, TransientError) as error:
        log.warning("a page could not be drawn", chunk=chunk_id, page=page, reason=str(error))
        return error_response(request, 503, "page_failed")
    headers = {
        "cache-control": f"private, max-age={KEPT_S}",
        "etag": f'"{image.etag}"',
        "content-disposition": f'inline; filename="page-{page}.jpg"',
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(image.content, media_type=image.media_type, headers=headers)
