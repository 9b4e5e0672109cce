"""Code cut into what a clause of an answer may rest on: statements with the conditions under which they run, comments.

No grammar is used: evidence is a stretch of a file in any language, often without its beginning. Blocks are told by
indentation, which formatted code has in every language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.code_lines import Line, code_lines

GuardKind = Literal["if", "passed", "catch", "case", "loop", "ended"]
UnitKind = Literal["statement", "return", "throw", "header", "caller", "comment"]

_CONDITIONAL = re.compile(
    r"(?P<word>else\s+if|elif|elsif|elseif|if|unless|while|until|guard)\b\s*(?P<rest>.*)$", re.DOTALL
)
_ELSE = re.compile(r"(?:else|default)\b\s*(?P<rest>.*)$", re.DOTALL)
_LOOP = re.compile(r"(?:for|foreach|loop|each)\b|.*\.(?:forEach|each)\b.*[{|]\s*(?:\|[^|]*\|)?$", re.DOTALL)
_CATCH = re.compile(r"(?:catch|except|rescue)\b\s*(?P<cond>.*?)\s*[{:]?$", re.DOTALL)
_CASE = re.compile(
    r"(?:case\b\s*(?P<case>.+?)\s*(?::(?!:)|->|=>|\bthen\b)|(?P<when>[^=;{}]+?)\s*(?:->|=>)(?=\s))\s*(?P<rest>.*)$",
    re.DOTALL,
)
_DEFINES = re.compile(
    r"(?:(?:export|public|private|protected|internal|static|final|async|abstract|override|suspend|open|default|data|"
    r"pub(?:\([a-z]+\))?|sealed|virtual)\s+)*(?:def|class|fun|func|function|fn|interface|struct|enum|object|module|"
    r"impl|trait|record|type|CREATE\s+TABLE|resource)\b|"
    r"(?!(?:if|for|while|switch|catch|return|else|match|with|try|synchronized|using|when|do)\b)"
    r"(?:[\w<>\[\],.?]+\s+)*\w+\s*\([^;]*\)\s*(?:throws\s[\w,\s.]+|:\s*[\w<>\[\]|\s.,?]+|->\s*[^{]+)?\s*\{$|"
    r"(?:export\s+)?(?:const|let|var|val)\s+\w+[^=]*=\s*(?:async\s+)?(?:function\b|\([^)]*\)[^=]*=>|\w+\s*=>)\s*\{?$",
    re.DOTALL | re.IGNORECASE,
)
_EXITS = re.compile(r"(?:return|throw|raise|continue|break|next|exit|panic!?|process\.exit|sys\.exit|abort|fail)\b")
_RETURNS = re.compile(r"(?:return|yield)\b")
_THROWS = re.compile(
    r"(?:throw|raise|panic!?|reject)\b|.*\b(?:orElseThrow|checkNotNull|requireNonNull|Err)\b", re.DOTALL
)
_ANNOTATION = re.compile(r"@\w|#\[|\[\w+[(\]]")
_TERNARY = re.compile(
    r"(?P<before>.*?(?:=|return|\()\s*)(?P<cond>[^?=(]+?)\s\?\s(?P<yes>[^:?]+?)\s:\s(?P<no>.+)$", re.DOTALL
)
_EITHER = re.compile(r"(?P<before>(?:return|.*?=)\s+)(?P<yes>.+?)\s+if\s+(?P<cond>.+?)\s+else\s+(?P<no>.+)$", re.DOTALL)
_TRAILING = re.compile(r"(?P<what>.*?\S)\s+(?P<word>if|unless)\s+(?P<cond>.+)$", re.DOTALL)
_ELVIS = re.compile(r"(?P<left>.*?)\?:\s*(?P<what>(?:throw|return)\b.+)$", re.DOTALL)
_SHELL = re.compile(r"(?P<cond>\[.*?\]|test\s[^&|]+?)\s*(?P<word>&&|\|\|)\s*(?P<what>.+)$", re.DOTALL)
_OR_THROW = re.compile(r"(?P<left>.*?)\.(?:orElseThrow|ok_or|ok_or_else)\(", re.DOTALL)
# what is generated or packed is no code that anybody explains; each line costs about its length squared to read
LONGEST_LINE_CHARS, MOST_LINES = 400, 400
_DEEPEST = 30  # blocks in each other
_SECTION = re.compile(r"\[{1,2}[\w.\"' -]+\]{1,2}$")
_PLACE = re.compile(r"\((?P<path>\S+)(?: lines \d+-\d+)?, commit [0-9a-f]+\)")  # as bot.prompting writes it
_CLOSERS = re.compile(r"^[})\];,]+\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n{2,}")


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which a statement runs; `negated` when it runs where the condition does not hold. A "passed"
    one is that of an earlier statement that left: what follows it runs otherwise. "ended" is a loop that came to its
    end."""

    text: str
    negated: bool
    kind: GuardKind


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """One statement, header, caller or sentence of a comment."""

    number: int  # of the piece of evidence
    index: int  # its place among the units of the piece
    kind: UnitKind
    text: str
    written: tuple[str, ...]  # its lines, as they stand in the file
    opener: tuple[str, ...] = ()  # the line of its innermost condition, else of the key that it stands under
    guards: tuple[Guard, ...] = ()
    header: str = ""  # signatures of what it stands in
    keys: str = ""  # what else it stands in: keys of configuration, "with", "try"

    @property
    def told(self) -> tuple[Guard, ...]:
        """The conditions that a clause about it has to tell."""
        return tuple(guard for guard in self.guards if guard.kind in ("if", "catch", "case"))


@dataclass(slots=True)
class _Block:
    """What is open while lines are read."""

    indent: int
    opener: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()
    header: str = ""
    key: str = ""
    passed: list[Guard] = field(default_factory=list)
    chain: list[Guard] = field(default_factory=list)  # of the if whose else may follow
    leaves: bool = False  # its last statement left


def code_units_of(number: int, text: str) -> list[CodeUnit]:
    """The units of a piece of code, in the order of its lines."""
    lines = text.splitlines()
    title = lines[0] if lines else ""
    callers = [line for line in lines if line.startswith("called by: ")]
    body = [line for line in lines[1:] if not line.startswith("called by: ") and not _PLACE.fullmatch(line.strip())]
    reader = _Reader(number, title)
    place = next((match for line in lines[1:2] if (match := _PLACE.fullmatch(line.strip()))), None)
    read = [line[:LONGEST_LINE_CHARS] for line in body[:MOST_LINES]]
    for line in code_lines(read, place["path"] if place else ""):
        reader.take(line)
    found = [unit for unit in reader.units if unit.text]
    found += [CodeUnit(number, 0, "caller", caller.removeprefix("called by: "), (caller,)) for caller in callers]
    return [replace(unit, index=index) for index, unit in enumerate(found)]


class _Reader:
    """Reads lines in order and keeps which blocks are open."""

    def __init__(self, number: int, title: str) -> None:
        self.units: list[CodeUnit] = []
        self._number = number
        self._blocks = [_Block(indent=-1, header=title)]

    def take(self, line: Line) -> None:
        for part in _SENTENCE_END.split(line.comment):
            if part.strip():
                self._add("comment", part.strip(), line)
        statement = _CLOSERS.sub("", line.text.strip())
        if line.text.strip() and not statement:
            return
        if not statement or statement in ("end", "fi", "done", "esac", "do", "then", "{"):
            return
        self._close(line.indent)
        if _SECTION.match(statement) and line.indent == 0:
            self._blocks = [_Block(indent=-1, header=self._blocks[0].header, key=statement)]
            self._add("statement", statement, line)
            return
        self._statement(statement, replace(line, text=statement))

    def _close(self, indent: int) -> None:
        while self._blocks[-1].indent >= indent:
            block = self._blocks.pop()
            own = [guard for guard in block.guards if guard.kind in ("if", "case", "catch")]
            loops = [guard for guard in block.guards if guard.kind == "loop"]
            if loops and not own:
                self._blocks[-1].passed.append(Guard(loops[-1].text, False, "ended"))
            if block.leaves and len(own) == 1 and own[0].kind == "if":
                self._blocks[-1].passed.append(Guard(own[0].text, not own[0].negated, "passed"))

    def _statement(self, text: str, line: Line) -> None:
        block = self._blocks[-1]
        if conditional := _CONDITIONAL.match(text):
            self._conditional(conditional, line)
        elif otherwise := _ELSE.match(text):
            guards = tuple(Guard(guard.text, not guard.negated, "if") for guard in block.chain)
            self._branch(guards, _inside(otherwise["rest"]), line)
        elif catch := _CATCH.match(text):
            self._branch((Guard(catch["cond"], False, "catch"),), "", line)
        elif (case := _CASE.match(text)) and not _RETURNS.match(text):
            self._branch((Guard(case["case"] or case["when"], False, "case"),), _inside(case["rest"]), line)
        elif _LOOP.match(text):
            self._add("statement", text, line)
            self._open(line, (Guard(text, False, "loop"),))
        elif _DEFINES.match(text):
            self._add("header", text, line)
            self._open(line, header=text)
        elif _ANNOTATION.match(text):
            self._add("statement", text, line)
        else:
            self._plain(text, line)
            self._open(line, key=text)

    def _conditional(self, match: re.Match[str], line: Line) -> None:
        block = self._blocks[-1]
        condition, rest = _condition_and_rest(match["rest"])
        negated = match["word"] in ("unless", "until", "guard")
        own = Guard(condition, negated, "if")
        chain = block.chain if match["word"].startswith("el") else []
        before = tuple(Guard(guard.text, not guard.negated, "passed") for guard in chain)
        block.chain = [*chain, own]
        self._branch((*before, own), _inside(rest), line)

    def _branch(self, guards: tuple[Guard, ...], rest: str, line: Line) -> None:
        """A block that runs under conditions; its statement may stand in the same line."""
        if not rest:
            self._add("statement", line.text, line)
            self._open(line, guards)
            return
        self._plain(rest, line, guards)
        own = [guard for guard in guards if guard.kind == "if"]
        if _EXITS.match(rest) and len(own) == 1:
            self._blocks[-1].passed.append(Guard(own[0].text, not own[0].negated, "passed"))
        self._open(line, guards)

    def _plain(self, text: str, line: Line, guards: Sequence[Guard] = ()) -> None:
        for what, own in _alternatives(text):
            kind: UnitKind = "return" if _RETURNS.match(what) else "throw" if _THROWS.match(what) else "statement"
            self._add(kind, what, line, (*guards, *own))
        self._blocks[-1].leaves = _EXITS.match(text) is not None and not guards

    def _open(self, line: Line, guards: tuple[Guard, ...] = (), *, header: str = "", key: str = "") -> None:
        if len(self._blocks) > _DEEPEST:
            return
        self._blocks.append(_Block(line.indent, opener=line.written, guards=guards, header=header, key=key))

    def _add(self, kind: UnitKind, text: str, line: Line, guards: Sequence[Guard] = ()) -> None:
        blocks = self._blocks if kind != "comment" else [b for b in self._blocks if b.indent < line.indent]
        conditions = [block for block in blocks if block.guards]
        self.units.append(
            CodeUnit(
                number=self._number,
                index=0,
                kind=kind,
                text=text,
                written=line.written if kind != "comment" else line.comment_written,
                opener=_opener(conditions or [block for block in blocks if block.key]) if not guards else (),
                guards=tuple(dict.fromkeys((*(g for b in blocks for g in (*b.guards, *b.passed)), *guards))),
                header="\n".join(block.header for block in blocks if block.header),
                keys="\n".join(block.key for block in blocks if block.key),
            )
        )


def _opener(blocks: Sequence[_Block]) -> tuple[str, ...]:
    return blocks[-1].opener if blocks else ()


def _condition_and_rest(text: str) -> tuple[str, str]:
    """The condition behind "if", and what follows it in the same line."""
    if text.startswith("("):
        depth = 0
        for place, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0:
                rest = text[place + 1 :].strip()
                if not re.match(r"(?:&&|\|\||and\b|or\b|[<>=!+*/.-])", rest):
                    return text[1:place].strip(), rest
                break
    for mark in (r"\s*;\s*then\b", r"\s*\{", r":(?=\s|$)", r"\s+then\b", r"\s+else\b"):
        if match := re.search(mark, text):
            return text[: match.start()].strip(), text[match.end() :].strip()
    return text.strip(), ""


def _inside(rest: str) -> str:
    """The statement in the line of its condition: without braces around it."""
    return rest.strip().removeprefix("{").removeprefix(":").removesuffix("}").strip()


def _alternatives(text: str) -> Iterator[tuple[str, tuple[Guard, ...]]]:
    """A statement with the condition that it holds itself, once for each way that it may go."""
    if either := _EITHER.match(text) or _TERNARY.match(text):
        yield either["before"] + either["yes"], (Guard(either["cond"], False, "if"),)
        yield either["before"] + either["no"], (Guard(either["cond"], True, "if"),)
    elif trailing := _TRAILING.match(text):
        yield trailing["what"], (Guard(trailing["cond"], trailing["word"] == "unless", "if"),)
    elif elvis := _ELVIS.match(text):
        yield elvis["left"], ()
        yield elvis["what"], (Guard(elvis["left"], True, "if"),)
    elif shell := _SHELL.match(text):
        yield shell["what"], (Guard(shell["cond"], shell["word"] == "||", "if"),)
    elif absent := _OR_THROW.match(text):
        yield text, (Guard(absent["left"], True, "if"),)
    else:
        yield text, ()
