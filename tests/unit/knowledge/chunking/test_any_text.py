"""Whatever a document holds, the chunkers neither fail nor lose text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking import chunk_document
from knowledge.chunking.contents import contents_pieces
from knowledge.chunking.pieces import take_apart
from knowledge.chunking.splitting import LIMIT_CHARS
from knowledge.types import Block
from tests.unit.knowledge.chunking.documents import document

LINES = st.sampled_from(
    [
        "여비규정",
        "제정 2001. 3. 1.",
        "제1장 총 칙",
        "제2장 복무",
        "제1조(목적) 이 규정은 여비를 정한다.",
        "제1조(시행일) 시행한다.",
        "제2조(지급기준) 별표 1과 같다.",
        "제2조의2(특례) 제2조에 따른다.",
        "제3조",
        "제3조 삭제",
        "① 숙박비는 실비로 한다.",
        "부  칙",
        "부칙 <2010. 3. 1.>",
        "[별표 1] 여비 지급 기준",
        "[별지 제1호 서식]",
        "목 차",
        "제1조(목적) ········ 7",
        "제2조(지급기준) ········ 8",
        "별표와 같다.",
        "근로계약서",
        "x" * 3000,
        "가나다라 " * 500,
    ]
)
WORDS = st.text(alphabet="가나다제조장별표부칙의12 ()[]<>①.|·\t", max_size=60)
TEXTS = st.lists(LINES | WORDS | st.text(max_size=30), max_size=25).map("\n".join)
ROWS = st.lists(st.lists(LINES | WORDS, min_size=3, max_size=3).map(tuple), min_size=1, max_size=8).map(tuple)
BLOCKS = st.lists(
    st.one_of(
        TEXTS.map(lambda text: Block(kind="paragraph", text=text)),
        TEXTS.map(lambda text: Block(kind="heading", text=text, level=1)),
        TEXTS.map(lambda text: Block(kind="note", text=text)),
        ROWS.map(lambda rows: Block(kind="table", text="", rows=rows)),
    ),
    max_size=8,
)


def squeeze(text: str) -> str:
    return "".join(text.split())


@given(BLOCKS)
@settings(max_examples=400, deadline=None)
def test_no_text_is_lost_and_no_chunk_is_too_long(blocks: list[Block]) -> None:
    drafts = chunk_document(document(blocks))
    together = squeeze("".join(draft.text for draft in drafts))
    pieces = take_apart(blocks)
    dropped = contents_pieces(pieces)
    for index, piece in enumerate(pieces):
        if index in dropped:
            continue
        for start in range(0, len(piece.text), 50):  # a long line may be divided, with a title put between
            for word in piece.text[start : start + 50].split():
                assert len(word) > 200 or squeeze(word) in together
    for draft in drafts:
        assert draft.text.strip()
        assert len(draft.text) <= LIMIT_CHARS
        assert draft.index_text.endswith(draft.text)
        assert draft.first_block is not None
        assert draft.last_block is not None
        assert draft.first_block <= draft.last_block < len(blocks)


@given(BLOCKS)
@settings(max_examples=100, deadline=None)
def test_chunks_are_the_same_every_time(blocks: list[Block]) -> None:
    assert chunk_document(document(blocks)) == chunk_document(document(blocks))
