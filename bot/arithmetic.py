"""Values that a sentence computes: "15일 + 1일 = 16일" stands when the sum is right and its operands are evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import combinations

from bot.quantities import Quantity

_OPERATORS = {"+": "+", "-": "-", "−": "-", "–": "-", "×": "*", "x": "*", "X": "*", "*": "*", "÷": "/", "/": "/"}
_NOISE = re.compile(r"[()（）\s]|[가-힣]{1,4}(?=\s|$)|\*\*")
_EQUALS = re.compile(r"^[\s()]*(?:=|＝|≈|⇒|→)[\s()]*(?:총|약)?\s*$")
_SUMS_UP = re.compile(
    r"더하|더한|더해|합하|합한|합쳐|합산|합계|총|모두|빼|뺀|곱하|곱한|곱해|plus|total|sum|minus|times|add|altogether",
    re.IGNORECASE,
)
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


def _is_right(operands: Sequence[Quantity], operators: Sequence[str], result: Quantity) -> bool:
    values = [operands[0].value]
    signs: list[str] = []
    for operator, operand in zip(operators, operands[1:], strict=True):
        if operator == "*":
            values[-1] *= operand.value
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
