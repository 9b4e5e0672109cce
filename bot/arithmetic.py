"""Values that a sentence computes: "15일 + 1일 = 16일" stands when the sum is right and its operands are evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations

from bot.quantities import Quantity, quantities_of

_OPERATORS = {"+": "+", "-": "-", "−": "-", "–": "-", "×": "*", "x": "*", "X": "*", "*": "*", "÷": "/", "/": "/"}
_NOISE = re.compile(r"[()（）\s]|[가-힣]{1,4}(?=\s|$)|\*\*")
_EQUALS = re.compile(r"^[\s()]*(?:=|＝|≈|⇒|→)[\s()]*(?:총|약)?\s*$")
_SUMS_UP = re.compile(
    r"더하|더한|더해|합하|합한|합쳐|합산|합계|총|모두|차이|더 (?:비싸|많|적|저렴|싸)|빼|뺀|곱하|곱한|곱해|"
    r"difference|plus|total|sum|minus|times|add|altogether",
    re.IGNORECASE,
)
_TIMES = re.compile(r"[×xX*✕]\s*$")
_CONDITION = re.compile(r"\s?(?:간)?(?:이면|라면|면|일 때|동안|치)")
_CLOSE = Decimal("0.005")


def computed_values(text: str, quantities: Sequence[Quantity]) -> dict[int, tuple[Quantity, ...]]:
    """Place of a result that follows an "=" -> its operands, where the calculation is right."""
    found: dict[int, tuple[Quantity, ...]] = {}
    operands: list[Quantity] = []
    operators: list[str] = []
    for number, quantity in enumerate(quantities):
        if number == 0:
            operands, operators = [quantity], []
            continue
        between = text[quantities[number - 1].end : quantity.start]
        operator = _OPERATORS.get(_NOISE.sub("", between))
        if operator is not None:
            operands.append(quantity)
            operators.append(operator)
        elif _EQUALS.match(between) and operators and _is_right(operands, operators, quantity):
            found[quantity.start] = tuple(operands)
            operands, operators = [quantity], []
        else:
            operands, operators = [quantity], []
    return found


def is_multiplier(
    quantity: Quantity, text: str, results: Mapping[int, Sequence[Quantity]], asked: Sequence[Quantity]
) -> bool:
    """Whether a number says how many times something is taken in a right calculation, and the condition in front of it
    says the same: "12개월이면 300,000원 × 12 = 3,600,000원". One that the question gives otherwise is not."""
    counts = [q for operands in results.values() for q in operands[1:] if _TIMES.search(text[: q.start])]
    same = [q for q in counts if q.value == quantity.value]
    if not same or any(q.unit == quantity.unit and q.value != quantity.value for q in asked):
        return False
    if _CONDITION.match(text, quantity.end):
        return True
    others = quantities_of(text)
    return quantity.start in [q.start for q in same] and any(
        q.value == quantity.value and _CONDITION.match(text, q.end) for q in others
    )


def is_total(text: str, result: Quantity, supported: Sequence[Quantity]) -> bool:
    """Whether the sentence says that it sums up, and the result is a sum, difference or product of what it names."""
    if not _SUMS_UP.search(text):
        return False
    same = [q for q in supported if q.unit == result.unit]
    if len(same) > 1 and sum(q.value for q in same) == result.value:
        return True
    operations: tuple[Callable[[Decimal, Decimal], Decimal], ...] = (lambda a, b: a + b, lambda a, b: abs(a - b))
    if any(operation(a.value, b.value) == result.value for a, b in combinations(same, 2) for operation in operations):
        return True
    return any(
        a.value * b.value == result.value and result.unit in (a.unit, b.unit)
        for a, b in combinations(supported, 2)
        if a.value not in (0, 1) and b.value not in (0, 1)
    )


def _factor(quantity: Quantity) -> Decimal:
    """Half of something is 50% of it."""
    return quantity.value / 100 if quantity.unit == "%" else quantity.value


def _is_right(operands: Sequence[Quantity], operators: Sequence[str], result: Quantity) -> bool:
    values = [operands[0].value if result.unit == "%" else _factor(operands[0])]
    signs: list[str] = []
    for operator, operand in zip(operators, operands[1:], strict=True):
        if operator == "*":
            values[-1] *= _factor(operand) if result.unit != "%" else operand.value
        elif operator == "/":
            if operand.value == 0:
                return False
            values[-1] /= operand.value
        else:
            signs.append(operator)
            values.append(operand.value)
    total = values[0]
    for sign, value in zip(signs, values[1:], strict=True):
        total = total + value if sign == "+" else total - value
    factors = {q.unit for q in operands}
    return abs(total - result.value) < _CLOSE and (result.unit is None or result.unit in factors or None in factors)
