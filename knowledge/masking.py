"""Masks secrets and personal numbers before text is stored, embedded, logged or sent.

`mask` is a pure function of its text: the same text gives the same result, masking twice changes nothing more, and
the number of lines stays, so that line numbers of the masked text are those of the file. A reader sees what stood
there: `[masked:aws-key]`.

What is masked: keys and tokens whose issuers gave them a recognisable form, private key blocks, passwords in URLs and
headers, values assigned to secret-like names (`masking_assignments`), told in sentences (`masking_told`), given to
commands (`masking_commands`) or standing in cells (`masking_tables`), and personal numbers (`masking_personal`).
What is not: placeholders, variables, calls and types, and telephone numbers, because the contact lines of regulations
are what people ask for. A rule runs only when one of its hints occurs in the text, which keeps ordinary text cheap.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice

from knowledge.masking_assignments import mask_assignments
from knowledge.masking_commands import COMMAND_RULES
from knowledge.masking_personal import mask_personal_numbers
from knowledge.masking_plain import needs_plain_form, plain_form
from knowledge.masking_tables import mask_cells, mask_table_lines
from knowledge.masking_values import MaskRule, is_placeholder, is_random, replace_values

MASKING_VERSION = "3"
_MOST_PASSES = 6


def mask(text: str) -> str:
    """`text` with secrets and personal numbers replaced by `[masked:<what>]`; the line count stays."""
    return mask_counted(text)[0]


def mask_counted(text: str) -> tuple[str, dict[str, int]]:
    """Masked text, and how many values of which kind were replaced (`{"aws-key": 1}`)."""
    counts: Counter[str] = Counter()
    for _ in range(_MOST_PASSES):
        masked, found = _mask_in_both_forms(text)
        if masked == text:
            break
        counts.update(found)
        text = masked  # a mask ends what stood before it, so that what stood beside may be a value now
    return text, dict(counts)


def _mask_in_both_forms(text: str) -> tuple[str, Counter[str]]:
    """`text` masked; lines of which more is masked in their plain form are kept in that form."""
    masked, counts = _mask_as_written(text)
    if not needs_plain_form(text):
        return masked, counts
    plain = plain_form(text)
    masked_plain, plain_counts = _mask_as_written(plain)
    if plain_counts == counts:
        return masked, counts
    lines = zip(masked.split("\n"), plain.split("\n"), masked_plain.split("\n"), strict=True)
    text = "\n".join(in_plain if in_plain != before else as_written for as_written, before, in_plain in lines)
    return text, counts | plain_counts


def mask_rows(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The cells of a table masked, each as if it were written behind the cell left of it and below its header."""
    return mask_cells(rows, mask)


def mask_blocks(texts: Sequence[str]) -> list[str]:
    """Texts that follow each other in a document, masked one by one and then as one text.

    A key whose lines are paragraphs, and a password in the paragraph below its name, are seen in the whole only.
    """
    masked = [mask(text) for text in texts]
    lines = iter(mask("\n".join(masked)).split("\n"))
    return ["\n".join(islice(lines, text.count("\n") + 1)) for text in masked]


def _mask_as_written(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    text = _mask_inline(text, counts)
    return mask_table_lines(text, counts, _mask_inline), counts


def _mask_inline(text: str, counts: Counter[str]) -> str:
    text = _mask_private_keys(text, counts)
    for rule in _TOKEN_RULES:
        text = replace_values(text, rule, counts)
    text = mask_assignments(text, counts)
    for rule in COMMAND_RULES:
        text = replace_values(text, rule, counts)
    return mask_personal_numbers(text, counts)


# --- private keys ---------------------------------------------------------------------------------

_KEY_LABEL = r"(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?"
_KEY_BLOCK = re.compile(rf"(-----BEGIN ({_KEY_LABEL})-----)(.*?)(-----END \2-----)", re.DOTALL)
# A block whose end is missing: the lines after it that can only be its body (base64, PEM headers).
_CUT_KEY = re.compile(
    rf"(-----BEGIN {_KEY_LABEL}-----)"
    r"((?:[^\S\n]*(?:\\n)?[^\S\n]*\n?[^\S\n]*[\"'+>|#*/]{0,3}[^\S\n]*[A-Za-z0-9+/=]{24,})+)"
)
_KEY_BODY = re.compile(r"[^\n]*[^\s][^\n]*")
_KEY_MASK = "[masked:private-key]"


def _mask_private_keys(text: str, counts: Counter[str]) -> str:
    """Masks every line of a key's body, so that the lines after it keep their numbers."""
    if "PRIVATE KEY" not in text:
        return text

    def hide(match: re.Match[str]) -> str:
        head, body, tail = match[1], match[match.lastindex or 2], ""
        if match.re is _KEY_BLOCK:
            body, tail = match[3], match[4]
        if not re.search(r"[A-Za-z0-9+/]{16}", body.replace(_KEY_MASK, "")):
            return match[0]  # already masked, or only mentioned
        counts["private-key"] += 1
        return head + _KEY_BODY.sub(_KEY_MASK, body) + tail

    return _CUT_KEY.sub(hide, _KEY_BLOCK.sub(hide, text))


# --- keys and tokens of a recognisable form -------------------------------------------------------


def _token(kind: str, hints: str, pattern: str, check: Callable[[str], bool] | None = None) -> MaskRule:
    """A rule for a token that stands alone; `hints` are words of which one must occur."""
    bounded = rf"(?<![A-Za-z0-9_])(?P<v>{pattern})(?![A-Za-z0-9])"
    return MaskRule(kind=kind, hints=tuple(hints.split()), pattern=re.compile(bounded), check=check)


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _is_basic_credential(value: str) -> bool:
    """True when `value` is base64 of `user:password`."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and all(32 <= byte < 127 or byte >= 128 for byte in decoded)


def _is_bearer(value: str) -> bool:
    return not is_placeholder(value) and _has_digit(value) and is_random(value, least_bits=2.8)


def _is_url_password(value: str) -> bool:
    return not is_placeholder(value, names_too=False)


_TOKEN_RULES: tuple[MaskRule, ...] = (
    # JWT first: its parts look like other tokens. RFC 7519: three base64url parts, the first two are JSON objects.
    _token("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    _token("aws-key", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7][A-Z0-9]{15}"),
    _token("gcp-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _token("gcp-oauth", "ya29. GOCSPX-", r"(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
    _token("azure-secret", "Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    _token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{30,}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glagent- gloas- GR1348941",
        r"(?:gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|oas)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20})",
    ),
    _token("slack-token", "xox", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", _has_digit),
    _token("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,}"),
    _token("slack-webhook", "hooks.slack.com", r"(?<=hooks\.slack\.com/services/)T\w{5,}/B\w{5,}/\w{16,}"),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _token("openai-key", "sk-", r"sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}", _has_digit),
    _token("stripe-key", "_live_ _test_", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    _token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _token("pypi-token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,}"),
    _token("telegram-token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{32,33}"),
    _token("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _token("twilio-key", "SK AC", r"(?:SK|AC)[0-9a-f]{32}"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _token("discord-webhook", "/api/webhooks/", r"(?<=/api/webhooks/)\d{15,}/[A-Za-z0-9_-]{40,}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),
    _token("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    _token("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _token("atlassian-token", "ATATT ATCTT", r"AT[AC]TT3[A-Za-z0-9_=-]{40,}"),
    _token("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _token("notion-token", "secret_ ntn_", r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})"),
    _token("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _token("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}"),
    _token("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _token("facebook-token", "EAA", r"EAA[A-Za-z0-9]{60,}"),
    _token("square-token", "EAAA sq0", r"(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{60})"),
    _token("firebase-key", ":APA91b", r"AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}"),
    _token("grafana-token", "glsa_ glc_", r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{40,})"),
    MaskRule(
        kind="azure-key",
        hints=("AccountKey=", "SharedAccessKey=", "SharedAccessSignature", "sig="),
        pattern=re.compile(r"(?:AccountKey=|SharedAccessKey=|[?&]sig=)(?P<v>[A-Za-z0-9+/%]{30,}(?:={1,2}|%3[Dd])*)"),
    ),
    MaskRule(
        kind="password",
        hints=("://",),
        pattern=re.compile(r"://[^\s:/@\"'`<>?#\[\]]{0,100}:(?P<v>[^\s/@\"'`<>]{1,200})@(?=[\w\[$({%.-])"),
        check=_is_url_password,
    ),
    MaskRule(
        kind="token",
        hints=("://",),
        pattern=re.compile(r"://(?P<v>[A-Za-z0-9_-]{20,})(?::x-oauth-basic|:)?@(?=\w)"),
        check=_is_bearer,
    ),
    MaskRule(
        kind="bearer-token",
        hints=("earer ", "EARER "),
        pattern=re.compile(r"\b[Bb](?:earer|EARER) +(?P<v>[A-Za-z0-9._~+/-]{16,}=*)"),
        check=_is_bearer,
    ),
    MaskRule(
        kind="basic-auth",
        hints=("asic ", "ASIC "),
        pattern=re.compile(r"\b[Bb](?:asic|ASIC) +(?P<v>[A-Za-z0-9+/]{8,}={0,2})(?![A-Za-z0-9+/=])"),
        check=_is_basic_credential,
    ),
    MaskRule(
        kind="password",
        hints=("curl",),
        pattern=re.compile(r"\bcurl\b[^\n]{0,300}? (?:-u|--user)[ =]?[\"']?[\w.@-]{1,60}:(?P<v>[^\s\"':]{3,})"),
        check=_is_url_password,
    ),
)
