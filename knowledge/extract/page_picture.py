"""One page of a document as a picture for a reader: what a scanner or a camera saw, beside what OCR made of it."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from knowledge.errors import NotFound, UnreadableFile, UnsupportedFormat

if TYPE_CHECKING:
    from PIL.Image import Image

MEDIA_TYPE = "image/jpeg"
_DPI = 150
_MAX_SIDE_PX = 2_400
_QUALITY = 80
_WITH_PICTURES = frozenset(["docx", "hwp", "hwpx", "xlsx", "odf"])  # each picture inside counts as a page


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureTask:
    """A page, from 1, of a file with its content."""

    name: str
    content: bytes
    page: int


def picture_of_page(task: PictureTask) -> bytes:
    """The page as JPEG. Raises NotFound for a page that is not there, UnsupportedFormat and UnreadableFile."""
    from knowledge.extract.sniff import sniff

    found = sniff(task.content, name=task.name).format
    if found == "image":
        return _encoded(_picture(task))
    if found == "pdf":
        return _encoded(_rendered(task, task.content))
    if found == "doc":  # as OCR reads those without text
        from knowledge.extract.office import convert

        return _encoded(_rendered(task, convert(task.content, name=task.name, suffix=".doc", to="pdf")))
    if found == "pptx" or found in _WITH_PICTURES:
        return _encoded(_picture(_inside(task, found)))
    raise UnsupportedFormat(f"{task.name} has no pages that could be shown as pictures; open the file itself.")


def _rendered(task: PictureTask, content: bytes) -> Image:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(f"{task.name} cannot be opened as PDF; open the file itself.") from error
    try:
        if not 1 <= task.page <= len(document):
            raise _no_such_page(task, len(document))
        page: Any = document[task.page - 1]
        longest = max(page.get_width(), page.get_height(), 1.0)
        drawn: Image = page.render(scale=min(_DPI / 72, _MAX_SIDE_PX / longest)).to_pil()
        return drawn.convert("RGB")
    except pypdfium2.PdfiumError as error:
        raise UnreadableFile(f"Page {task.page} of {task.name} cannot be drawn; open the file itself.") from error
    finally:
        document.close()


def _inside(task: PictureTask, kind: str) -> PictureTask:
    """The task for the picture that stands for a page: the largest of a slide, the n-th of other documents."""
    if kind == "pptx":
        from knowledge.extract.slides import slide_pictures

        on_slide = slide_pictures(task.content, task.page)
        if not on_slide:
            raise NotFound(f"Slide {task.page} of {task.name} is no picture; open the file itself.")
        return PictureTask(name=task.name, content=max(on_slide, key=len), page=1)
    from knowledge.extract.embedded_pictures import pictures_of

    pictures = pictures_of(task.content)
    if not 1 <= task.page <= len(pictures):
        raise _no_such_page(task, len(pictures))
    return PictureTask(name=task.name, content=pictures[task.page - 1], page=1)


def _picture(task: PictureTask) -> Image:
    import PIL.Image
    import PIL.ImageOps

    from knowledge.extract.images import count_pages, open_picture

    count = count_pages(task.content, name=task.name)
    if not 1 <= task.page <= count:
        raise _no_such_page(task, count)
    try:
        with warnings.catch_warnings(), open_picture(task.content, name=task.name) as image:
            warnings.simplefilter("ignore")
            image.seek(task.page - 1)
            upright = PIL.ImageOps.exif_transpose(image)
            layer = upright.convert("RGBA")
            paper = PIL.Image.new("RGBA", layer.size, "white")
            made = PIL.Image.alpha_composite(paper, layer).convert("RGB")
    except (OSError, ValueError, SyntaxError, EOFError, TypeError, IndexError) as error:
        raise UnreadableFile(f"{task.name} is a damaged or cut off picture; open the file itself.") from error
    made.thumbnail((_MAX_SIDE_PX, _MAX_SIDE_PX))
    return made


def _no_such_page(task: PictureTask, count: int) -> NotFound:
    return NotFound(f"{task.name} has {count} pages, so there is no page {task.page}.")


def _encoded(picture: Image) -> bytes:
    """JPEG without what the camera wrote about itself and its place."""
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_QUALITY, optimize=True)
    return out.getvalue()
