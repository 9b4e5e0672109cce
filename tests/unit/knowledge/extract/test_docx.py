"""Word documents: what python-docx leaves out is read too, and nothing twice."""

import docx
import pytest

from knowledge.errors import UnreadableFile
from knowledge.extract import extract
from knowledge.types import Block, Extraction
from tests.fixtures.documents.docx_writer import level, numbered, numbering, replace_member, save, with_paragraph_xml


def read(document: object) -> Extraction:
    return extract(save(document), name="rules.docx")


def texts(extraction: Extraction) -> list[str]:
    return [block.text for block in extraction.blocks]


def table(extraction: Extraction) -> Block:
    return next(block for block in extraction.blocks if block.kind == "table")


def test_paragraphs_headings_and_tables_keep_the_order_of_the_body() -> None:
    document = docx.Document()
    document.add_heading("취업규칙", level=1)
    document.add_paragraph("제1조(목적) 목적을 정한다.")
    grid = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for row in grid.rows for c in row.cells], ["직급", "숙박비", "임원", "100,000"], strict=True
    ):
        cell.text = text
    document.add_paragraph("끝.")
    extraction = read(document)
    assert [(block.kind, block.level) for block in extraction.blocks] == [
        ("heading", 1),
        ("paragraph", None),
        ("table", None),
        ("paragraph", None),
    ]
    assert table(extraction).rows == (("직급", "숙박비"), ("임원", "100,000"))
    assert (extraction.title, extraction.status) == ("취업규칙", "ok")


KOREAN_LEVELS = numbering(
    [
        level(0, "decimal", "제%1조"),
        level(1, "decimalEnclosedCircle", "%2"),
        level(2, "decimal", "%3."),
        level(3, "ganada", "%4."),
    ]
)


def test_automatic_numbers_of_articles_paragraphs_and_items_are_written_out() -> None:
    document = with_paragraph_xml(
        numbered("(목적)", 0),
        numbered("회사는 정한다.", 1),
        numbered("직원은 따른다.", 1),
        numbered("첫째", 2),
        numbered("하나", 3),
        numbered("둘", 3),
        numbered("(정의)", 0),
        numbered("용어의 뜻.", 1),
        numbering=KOREAN_LEVELS,
    )
    assert texts(read(document)) == [
        "제1조 (목적)",
        "① 회사는 정한다.",
        "② 직원은 따른다.",
        "1. 첫째",
        "가. 하나",
        "나. 둘",
        "제2조 (정의)",
        "① 용어의 뜻.",
    ]


def test_a_start_override_begins_again_and_instances_share_the_counter_otherwise() -> None:
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    document = with_paragraph_xml(
        numbered("a", 0, 1),
        numbered("b", 0, 2),
        numbered("c", 0, 3),
        numbered("d", 0, 3),
        numbering=numbering([level(0, "decimal", "%1.")], instances={1: "", 2: "", 3: override}),
    )
    assert texts(read(document)) == ["1. a", "2. b", "1. c", "2. d"]


def test_a_level_that_never_restarts_goes_on_counting() -> None:
    levels = [level(0, "decimal", "제%1장"), level(1, "decimal", "제%2조", extra='<w:lvlRestart w:val="0"/>')]
    document = with_paragraph_xml(
        numbered("총칙", 0),
        numbered("(목적)", 1),
        numbered("복무", 0),
        numbered("(시간)", 1),
        numbering=numbering(levels),
    )
    assert texts(read(document)) == ["제1장 총칙", "제1조 (목적)", "제2장 복무", "제2조 (시간)"]


def test_numbers_of_a_deeper_level_show_those_above() -> None:
    levels = [level(0, "decimal", "%1."), level(1, "decimal", "%1.%2.")]
    document = with_paragraph_xml(numbered("a", 0), numbered("b", 1), numbered("c", 1), numbering=numbering(levels))
    assert texts(read(document)) == ["1. a", "1.1. b", "1.2. c"]


def test_insertions_are_kept_and_deletions_dropped() -> None:
    document = with_paragraph_xml(
        "<w:p><w:r><w:t>숙박비는 </w:t></w:r><w:del><w:r><w:delText>50,000</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>70,000</w:t></w:r></w:ins><w:moveFrom><w:r><w:t>옛 말</w:t></w:r></w:moveFrom>"
        "<w:r><w:t>원이다.</w:t></w:r></w:p>"
    )
    assert texts(read(document)) == ["숙박비는 70,000원이다."]


def test_text_boxes_are_read_once_though_word_writes_them_twice() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>상자 속 안내</w:t></w:r></w:p></w:txbxContent>"
    document = with_paragraph_xml(
        "<w:p><w:r><w:t>본문</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:inline>"
        f"<a:graphic><a:graphicData uri='x'><wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic>"
        f"</wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape>"
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert texts(read(document)) == ["본문", "상자 속 안내"]


def test_content_controls_around_text_and_paragraphs_are_transparent() -> None:
    document = with_paragraph_xml(
        "<w:sdt><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>제1조 </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>(목적)</w:t></w:r>"
        "</w:sdtContent></w:sdt></w:p></w:sdtContent></w:sdt>"
    )
    assert texts(read(document)) == ["제1조 (목적)"]


def test_hidden_text_and_field_codes_do_not_show() -> None:
    document = with_paragraph_xml(
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF x</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>별표 1</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>숨김</w:t></w:r></w:p>'
    )
    assert texts(read(document)) == ["별표 1"]


def test_merged_cells_stand_in_every_row_and_column_they_cover() -> None:
    document = docx.Document()
    grid = document.add_table(rows=3, cols=3)
    for row, line in enumerate([["구분", "숙박비", ""], ["임원", "서울", "100,000"], ["", "기타", "80,000"]]):
        for column, text in enumerate(line):
            grid.cell(row, column).text = text
    grid.cell(0, 1).merge(grid.cell(0, 2))
    grid.cell(1, 0).merge(grid.cell(2, 0))
    assert table(read(document)).rows == (
        ("구분", "숙박비", "숙박비"),
        ("임원", "서울", "100,000"),
        ("임원", "기타", "80,000"),
    )


def test_a_nested_table_is_read_in_its_cell_in_order() -> None:
    document = docx.Document()
    cell = document.add_table(rows=1, cols=2).cell(0, 1)
    cell.text = "앞"
    inner = cell.add_table(rows=2, cols=2)
    for row, line in enumerate([["급", "금액"], ["1급", "50,000"]]):
        for column, text in enumerate(line):
            inner.cell(row, column).text = text
    cell.add_paragraph("뒤")
    document.tables[0].cell(0, 0).text = "표"
    assert table(read(document)).rows == (("표", "앞\n급 / 금액\n1급 / 50,000\n뒤"),)


def test_headers_and_footers_come_once_and_page_numbers_not_at_all() -> None:
    document = docx.Document()
    document.add_paragraph("본문")
    document.sections[0].header.paragraphs[0].text = "대외비"
    document.sections[0].footer.paragraphs[0].text = "- 3 -"
    second = document.add_section()
    second.header.is_linked_to_previous = False
    second.header.paragraphs[0].text = "대외비"
    assert texts(read(document)) == ["대외비", "본문"]


def test_footnotes_follow_the_paragraph_that_refers_to_them() -> None:
    content = save(
        with_paragraph_xml(
            '<w:p><w:r><w:t>연차</w:t><w:footnoteReference w:id="2"/></w:r></w:p>',
            "<w:p><w:r><w:t>끝</w:t></w:r></w:p>",
        )
    )
    notes = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>회계연도 기준</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    content = replace_member(content, "word/footnotes.xml", notes.encode())
    rels = _member(content, "word/_rels/document.xml.rels").replace(
        b"</Relationships>",
        b'<Relationship Id="rIdN" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"'
        b' Target="footnotes.xml"/></Relationships>',
    )
    content = replace_member(content, "word/_rels/document.xml.rels", rels)
    extraction = extract(content, name="a.docx")
    assert [(block.kind, block.text) for block in extraction.blocks] == [
        ("paragraph", "연차(주1)"),
        ("note", "주1) 회계연도 기준"),
        ("paragraph", "끝"),
    ]


def _member(content: bytes, name: str) -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(name)


def plain() -> bytes:
    document = docx.Document()
    document.add_paragraph("본문")
    return save(document)


def test_entity_declarations_are_refused() -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]>'
        + _member(plain(), "word/document.xml").split(b"?>", 1)[1]
    )
    with pytest.raises(UnreadableFile, match=r"declares a document type in word/document\.xml"):
        extract(replace_member(plain(), "word/document.xml", bomb), name="a.docx")


def test_a_zip_bomb_is_refused_before_it_is_unzipped() -> None:
    with pytest.raises(UnreadableFile, match=r"word/media/x\.xml unzips to 30 MiB .*zip bomb"):
        extract(replace_member(plain(), "word/media/x.xml", b"\0" * (30 * 1024**2)), name="a.docx")


def test_a_document_without_text_says_so() -> None:
    with pytest.raises(UnreadableFile, match=r"a\.docx is a Word document without text"):
        extract(save(docx.Document()), name="a.docx")


@pytest.mark.parametrize("damage", [b"<broken", b"", b"<w:x xmlns:w='y'/>"])
def test_a_damaged_body_is_unreadable(damage: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.docx"):
        extract(replace_member(plain(), "word/document.xml", damage), name="a.docx")
