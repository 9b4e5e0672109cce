"""Masks secrets that their place gives away: the second argument of a login, `data` of a Kubernetes Secret, the
default of a Terraform variable, a column of an INSERT, a value before its name, words that restore a wallet.

`masking_assignments` knows values that follow a secret-like name; here the name is elsewhere, or there is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from knowledge.masking_strength import is_mixed, is_path, is_secret_value, is_strong
from knowledge.masking_values import MaskRule, is_drawn, is_placeholder, replace_spans, replace_values

_STRING = r"\\?[\"'`]"
_NAME = r"(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|private[_-]?key|access[_-]?key)"
_NO_SECRET_NAME = re.compile(
    r"hash|sha\d|md5|integrity|checksum|digest|commit|revision|fingerprint|etag|version|uuid|guid|url|uri|path|public|"
    r"pub[_-]|cert|signature|nonce|salt|class|address|image|icon|src|href|content|schema|query|text|body|data",
    re.IGNORECASE,
)


_IDENTIFIER = re.compile(r"(?:^|[_.-])[iI][dD]$|[a-z](?:Id|ID)$")


def _is_password(value: str) -> bool:
    return is_secret_value(value, "password")


def _is_chosen(value: str) -> bool:
    return is_secret_value(value, "password") and (is_mixed(value) or is_strong(value))


def _is_argument(value: str) -> bool:
    return not is_placeholder(value) and not is_path(value)


def _rule(kind: str, hints: tuple[str, ...], pattern: str, check: Callable[[str], bool]) -> MaskRule:
    return MaskRule(kind=kind, hints=hints, pattern=re.compile(pattern), check=check)


_USER = rf"{_STRING}[^\"'`\n]{{1,80}}{_STRING}"
_RULES: tuple[MaskRule, ...] = (
    # auth=("mina", "..."), HTTPBasicAuth("mina", "..."), new NetworkCredential("mina", "...")
    _rule(
        "password",
        ("auth=", "auth =", "asicAuth", "asic_auth", "igestAuth", "redential", "Authentication("),
        rf"(?:\bauth[ ]?=[ ]?|[Bb]asic_?[Aa]uth\w*|[Dd]igestAuth\w*|Credentials?|Authentication(?:Token)?)\("
        rf"\s*{_USER}\s*,\s*[uUbBrR@$]{{0,2}}{_STRING}(?P<v>[^\s\"'`]{{3,200}}?){_STRING}",
        _is_password,
    ),
    _rule(
        "password",
        (".login(", ".auth(", ".Login("),
        rf"\.(?:login|auth|Login)\(\s*{_USER}\s*,\s*[ubr]{{0,2}}{_STRING}(?P<v>[^\s\"'`]{{3,100}}?){_STRING}",
        is_strong,
    ),
    # btoa("admin:..."), Buffer.from("admin:..."), b64encode(b"admin:...")
    _rule(
        "password",
        ("btoa(", "Buffer.from(", "ncode"),
        rf"(?:btoa|Buffer\.from|b64encode|EncodeToString|encodeToString|encode64|base64_encode)\([^\"'`\n]{{0,24}}"
        rf"{_STRING}[\w.@-]{{1,60}}:(?P<v>[^\s\"'`]{{3,100}}?){_STRING}",
        _is_chosen,
    ),
    _rule(
        "password",
        ("SecureString",),
        rf"ConvertTo-SecureString\s+(?:-String\s+)?{_STRING}(?P<v>[^\"'\n]{{3,100}}?){_STRING}",
        _is_argument,
    ),
    _rule(
        "password",
        ("password-stdin",),
        r"\b(?:echo|printf)[^\S\n]+(?:-\w+[^\S\n]+)?[\"']?(?P<v>[^\s\"'|$]{4,200})[\"']?[^\S\n]*\|[^\n|]{0,200}password-stdin",
        _is_argument,
    ),
    _rule(
        "password",
        ("storepass", "keypass", "ks-pass", "key-pass"),
        r"-(?:\w*storepass|\w*keypass|-ks-pass|-key-pass)[^\S\n]+(?:pass:)?[\"']?(?P<v>[^\s\"'$-][^\s\"'$]{3,100})",
        _is_argument,
    ),
    # libpq: "host=h user=u password=..."
    _rule(
        "password",
        ("password=",),
        r"\b(?:host|hostaddr|user|dbname|port)=[^\n\"']{1,120}?[^\S\n]password=(?P<v>[^\s\"';,()]{3,100})",
        _is_chosen,
    ),
    _rule(
        "password",
        ("password=",),
        r"\bpassword=(?P<v>[^\s\"';,()]{3,100})[^\S\n]+(?:host|hostaddr|user|dbname|port)=",
        _is_chosen,
    ),
    _rule(
        "password",
        ("jdbc:oracle:",),
        r"jdbc:oracle:(?:thin|oci8?):[\w$#.\[\]-]{1,60}/(?P<v>[^\s\"'/]{3,60}?)@(?=[/(\w])",
        _is_argument,
    ),
    # the default of a placeholder of Spring: ${db.password:...}
    _rule(
        "password",
        ("${",),
        rf"\$\{{[\w.-]{{0,60}}(?i:{_NAME})[\w.-]{{0,20}}:(?P<v>[^\s\"'${{}}]{{4,100}})\}}",
        _is_chosen,
    ),
    # a value before its name: <property value="..." name="db.password"/>
    _rule(
        "password",
        ("value=",),
        rf"\bvalue=[\"'](?P<v>[^\s\"'<>]{{4,200}})[\"']\s+(?:name|key|id)=[\"'][\w.:-]{{0,60}}(?i:{_NAME})[\"']",
        _is_chosen,
    ),
    _rule(
        "password",
        ('variable "',),
        rf"\bvariable\s+\"[\w-]{{0,60}}(?i:{_NAME})[\w-]{{0,20}}\"\s*\{{[^{{}}]{{0,400}}?\bdefault\s*=\s*\"(?P<v>[^\s\"]{{4,200}})\"",
        _is_chosen,
    ),
    _rule(
        "aws-key",
        ("[masked:aws-key]",),
        rf"\[masked:aws-key\]{_STRING}\s*,\s*{_STRING}(?P<v>[A-Za-z0-9/+]{{40}}){_STRING}",
        is_drawn,
    ),
    # private keys of wallets: a hash looks the same, so the place has to say it
    _rule(
        "private-key",
        ("accounts", "Wallet(", "privateKeyToAccount(", "--private-key", "startBroadcast(", "vm.addr("),
        r"(?:\baccounts\s*:\s*\[\s*|Wallet\(\s*|privateKeyToAccount\(\s*|--private-key[ =]"
        r"|startBroadcast\(\s*|vm\.addr\(\s*)"
        r"[\"'`]?(?P<v>(?:0x)?[0-9a-fA-F]{64})(?![0-9a-fA-F])",
        lambda value: len(set(value)) > 6,
    ),
    _rule(
        "mnemonic",
        (
            "nemonic",
            "NEMONIC",
            "eed phrase",
            "eed_phrase",
            "eedPhrase",
            "SEED_PHRASE",
            "ecovery phrase",
            "니모닉",
            "시드",
        ),
        r"(?:[Mm]nemonic|MNEMONIC|(?:[Ss]eed|SEED|[Rr]ecovery)[ _]?(?:[Pp]hrase|PHRASE)|니모닉|시드[ ]?(?:문구|구문))"
        r"[\"'\w]{0,12}\s*(?:[:=]|은|는|is)\s*[\"'`]?(?P<v>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![ ]?[a-z])",
        lambda value: len(set(value.split())) > 2,
    ),
)
_LONG_VALUE = re.compile(r"[\"'`=](?P<v>[A-Za-z0-9+/_-]{32,128}={0,2})(?P<end>[\"'`]|(?=[\s;]|$))")
_NAME_BEFORE = re.compile(r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{1,60})[\"']?\]?[^\S\n]{0,4}(?::=?|=>?)[^\S\n]{0,4}\Z")
_WIDEST_NAME = 80
_VENDOR_VALUE = re.compile(r"[_-](?P<v>[A-Za-z0-9]{32,120})(?![\w/+=-])")
_VENDOR_BEFORE = re.compile(r"(?<![\w/+=.-])(?!sha\d)[A-Za-z][A-Za-z0-9]{1,11}(?:[_-][a-z0-9]{1,8}){0,2}\Z")


def mask_places(text: str, counts: Counter[str]) -> str:
    """`text` with the secrets masked that their place gives away; `counts` grows by what was replaced."""
    for rule in _RULES:
        text = replace_values(text, rule, counts)
    text = replace_spans(text, list(_kubernetes_secrets(text)), counts)
    text = replace_spans(text, list(_inserted_passwords(text)), counts)
    text = replace_spans(text, list(_putty_keys(text)), counts)
    text = replace_spans(text, list(_vendor_tokens(text)), counts)
    return replace_spans(text, list(_drawn_values(text)), counts)


def _drawn_values(text: str) -> Iterator[tuple[int, int, str]]:
    """Values of any name that only a machine writes, unless the name says that they are public.

    The value is looked for first and its name behind it: values this long are rare, names are everywhere.
    """
    for match in _LONG_VALUE.finditer(text):
        value, start = match["v"], match.start("v")
        quote = text[start - 1]
        if match["end"] != (quote if quote != "=" else "") or value.startswith("0x") or not is_drawn(value):
            continue
        before = _NAME_BEFORE.search(text[max(0, start - _WIDEST_NAME) : start - (quote != "=")])
        if before is None or is_path(value):
            continue
        if not _IDENTIFIER.search(before["name"]) and not _NO_SECRET_NAME.search(before["name"]):
            yield start, match.end("v"), "secret"


def _vendor_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """What stands behind a short word and "_" or "-" and only a machine writes: tokens of issuers not known here."""
    for match in _VENDOR_VALUE.finditer(text):
        start = match.start()
        if is_drawn(match["v"]) and _VENDOR_BEFORE.search(text[max(0, start - 40) : start]):
            yield (*match.span("v"), "token")


# --- Kubernetes -----------------------------------------------------------------------------------

_SECRET_KIND = re.compile(r"^[^\S\n]*kind:[^\S\n]*[\"']?Secret[\"']?[^\S\n]*$", re.MULTILINE)
_DOCUMENT_END = re.compile(r"^---", re.MULTILINE)
_DATA = re.compile(
    r"^(?P<indent>[ ]*)(?:data|stringData):[^\S\n]*\n(?P<lines>(?:(?P=indent)[ ]+[^\n]*\n?|[^\S\n]*\n)+)", re.MULTILINE
)
_DATA_LINE = re.compile(r"^(?P<indent>[ ]*)(?:[\w.\-\"']+:[^\S\n]*)?(?P<v>[^\n]*?)[^\S\n]*$", re.MULTILINE)


def _kubernetes_secrets(text: str) -> Iterator[tuple[int, int, str]]:
    """Every value below `data` and `stringData` of a manifest of the kind Secret."""
    if "Secret" not in text:
        return
    for kind in _SECRET_KIND.finditer(text):
        before = [match.end() for match in _DOCUMENT_END.finditer(text, 0, kind.start())]
        after = _DOCUMENT_END.search(text, kind.end())
        for block in _DATA.finditer(text, before[-1] if before else 0, after.start() if after else len(text)):
            for line in _DATA_LINE.finditer(text, *block.span("lines")):
                value = line["v"].strip("\"'")
                if value in ("", "|", ">", "|-", ">-", "|+") or value.startswith(("#", "[masked:")):
                    continue
                if not is_placeholder(value, names_too=False):
                    start = line.start("v") + line["v"].index(value)
                    yield start, start + len(value), "kubernetes-secret"


# --- SQL ------------------------------------------------------------------------------------------

_INSERT = re.compile(
    r"\bINSERT\s+INTO\s+[\w.\"`\[\]]{1,100}\s*\((?P<columns>[^()]{1,2000})\)\s*VALUES\s*", re.IGNORECASE
)
_SECRET_COLUMN = re.compile(rf"[\"`\[\s]*\w{{0,40}}(?:{_NAME}|비밀번호)[\"`\]\s]*", re.IGNORECASE)
_ROW = re.compile(r"\s*,?\s*\((?P<values>(?:[^()']|'(?:[^'\\]|''|\\.)*'|\([^()]*\)){1,4000})\)")
_CELL = re.compile(r"(?:N?'(?P<v>(?:[^'\\]|''|\\.)*)'|[^,'()]|\([^()]*\))+")
_MAX_ROWS = 2000


def _inserted_passwords(text: str) -> Iterator[tuple[int, int, str]]:
    """What is inserted into columns that are called like secrets."""
    lowered = text[:4000].lower() if len(text) < 4000 else text.lower()
    if "insert" not in lowered:
        return
    for insert in _INSERT.finditer(text):
        columns = insert["columns"].split(",")
        wanted = {place for place, column in enumerate(columns) if _SECRET_COLUMN.fullmatch(column)}
        at = insert.end()
        for _ in range(_MAX_ROWS if wanted else 0):
            row = _ROW.match(text, at)
            if row is None:
                break
            at = row.end()
            for place, cell in enumerate(_CELL.finditer(text, *row.span("values"))):
                if place in wanted and cell["v"] and _is_password(cell["v"]):
                    yield (*cell.span("v"), "password")


# --- PuTTY ----------------------------------------------------------------------------------------

_PRIVATE_LINES = re.compile(r"^Private-Lines:[^\S\n]*(?P<count>\d{1,3})[^\S\n]*\n", re.MULTILINE)


def _putty_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """The lines of a private key in PuTTY's form."""
    if "Private-Lines" not in text:
        return
    for match in _PRIVATE_LINES.finditer(text):
        at = match.end()
        for _ in range(int(match["count"])):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line = text[at:end].strip()
            if re.fullmatch(r"[A-Za-z0-9+/=]{8,}", line):
                yield at, end, "private-key"
            at = end + 1
            if at >= len(text):
                break
