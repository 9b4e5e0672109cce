"""References inside a regulation, normalised."""

import pytest

from knowledge.chunking.references import find_references


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("별표 1과 같다.", ("별표 1",)),
        ("별표1, 3 기준표의 한도내", ("별표 1", "별표 3")),
        ("별표 1 및 2에 따른다.", ("별표 1", "별표 2")),
        ("[별표 2의2]에 따른다.", ("별표 2의2",)),
        ("별표 #2와 별 표 제1호", ("별표 2", "별표 1")),
        ("별지 제3호 서식에 의한다.", ("별지 3",)),
        ("제12조 및 제7조의2에 따라", ("제12조", "제7조의2")),
        ("「근로기준법」 제60조에 따른 연차", ()),
        ("근로기준법 제60조, 제61조 및 제62조에 따른", ()),
        ("법 제5조제1항과 시행령 제3조에 따라", ()),
        ("이 규정 제5조에 따라", ("제5조",)),
        ("「직제규정」별표3에 따른 본부장", ()),
        ("산업안전보건법 시행규칙 제98조 별표 18에 따른", ()),
        ("부칙 제2조에 따라", ("제2조", "부칙")),
        ("별표 1의 금액 중 2명에게", ("별표 1",)),
        ("별표 Ⅱ에 따른다", ("별표 2",)),
        ("[별표 가]에 따라", ("별표 가",)),
        ("제12의2조에 따라", ("제12조의2",)),
        ("붙임 1의 양식과 부표 2", ("붙임 1", "부표 2")),
        ("as set out in Appendix A and Article 5", ("Appendix A", "Article 5")),
        ("under Article 60 of the Labor Standards Act", ()),
    ],
)
def test_references(text: str, expected: tuple[str, ...]) -> None:
    assert find_references(text) == expected


def test_an_appendix_without_number_means_the_only_one_there_is() -> None:
    assert find_references("지급액은 별표와 같다.", appendices=["별표 1", "별지 1"]) == ("별표 1",)
    assert find_references("지급액은 별표와 같다.", appendices=["별표 1", "별표 2"]) == ()
    assert find_references("지급액은 별표와 같다.", appendices=["별표"]) == ("별표",)


def test_a_section_does_not_refer_to_itself() -> None:
    text = "제3조(여비) 여비는 별표 1에 따른다.\n제4조(정산) 제3조에 따라 정산한다."
    assert find_references(text, own=["제3조"]) == ("별표 1",)
