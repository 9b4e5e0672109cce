"""Rules for passwords that commands, SQL and account lines carry without a secret-like name beside them."""

from __future__ import annotations

import re

from knowledge.masking_strength import is_strong
from knowledge.masking_values import MaskRule, is_placeholder

_VALUE = r"[\"']?(?P<v>[^\s\"'|;-][^\s\"'|;]{2,63})"
_ARGUMENTS = r"[^\n|;]{0,200}?"
_NO_PASSWORD = re.compile(r"\d+:\d+|ort\b.*|rotocol\b.*|rofile\b.*|assword\b.*|/\S*|\S+\.\w{2,4}")


def _is_argument(value: str) -> bool:
    return not is_placeholder(value) and _NO_PASSWORD.fullmatch(value) is None


def _is_account_password(value: str) -> bool:
    return is_strong(value) and not is_placeholder(value)


def _command(hints: str, pattern: str) -> MaskRule:
    return MaskRule(
        kind="password", hints=tuple(hints.split()), pattern=re.compile(pattern + _VALUE), check=_is_argument
    )


_WHO = r"(?:ID|Id|id|[Uu]ser(?:[Nn]ame)?|[Ll]ogin|아이디|계정|사용자)"
_PASSWORD = r"(?:PW|Pw|pw|PWD|pwd|[Pp]ass(?:word|wd)?|PASSWORD|비밀번호|비번|패스워드|암호)"

_ACCOUNT_VALUES = r"[\w.@-]{2,40}[^\S\n]?[/|:][^\S\n]?(?P<v>(?:(?![\"'`,|<>()])[!-~]){6,64})"


def _account(word: str, link: str) -> MaskRule:
    """A rule for "<word>: admin / value"; one a word, because a search for a fixed word is fast."""
    return MaskRule(
        kind="password",
        hints=(word,),
        pattern=re.compile(word + link + _ACCOUNT_VALUES),
        check=_is_account_password,
    )


_ACCOUNT_RULES = (
    *(
        _account(word, r"s?[^\S\n]?(?:정보)?[^\S\n]{0,3}[:：=은는(][^\S\n]{0,3}")
        for word in ("계정", "접속", "로그인", "와이파이", "redential", "ogin", "ccount", "ifi", "i-Fi")
    ),
    # "접속정보 scott/v@lue1": with nothing but a blank between, only what no path or address looks like
    MaskRule(
        kind="password",
        hints=("계정", "접속", "로그인"),
        pattern=re.compile(
            r"(?:계정|접속|로그인)[^\S\n]?(?:정보)?[^\S\n]{1,3}[\w-]{2,40}/(?P<v>(?=[^\s]*[!@#$%^&*])[^\s\"'`,|<>()/]{6,64})"
        ),
        check=_is_account_password,
    ),
    *(_account(word, r" (?:with|as|using) ") for word in ("og in", "ogged in", "ign in", "igned in")),
)

COMMAND_RULES: tuple[MaskRule, ...] = (
    _command("sshpass", r"\bsshpass[^\S\n]+(?:-[evP]\S*[^\S\n]+)*-p[^\S\n]*"),
    _command("mysql mariadb", rf"\b(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-\w+)?)\b{_ARGUMENTS}[^\S\n]-p"),
    _command("redis-cli", rf"\bredis-cli\b{_ARGUMENTS}[^\S\n](?:-a|--pass)[^\S\n]+"),
    _command("requirepass masterauth", r"\b(?:requirepass|masterauth)[^\S\n]+"),
    _command(
        " login",
        rf"\b(?:docker|podman|helm|az|oc|nerdctl|crane|skopeo|buildah|cf)\b{_ARGUMENTS}\blogin\b{_ARGUMENTS}"
        r"[^\S\n]-p[^\S\n=]?",
    ),
    _command("ldap", rf"\bldap(?:search|add|modify|delete|passwd|whoami)\b{_ARGUMENTS}[^\S\n]-w[^\S\n]*"),
    _command(
        "sqlcmd osql bcp zip ipmitool", rf"\b(?:sqlcmd|osql|bcp|zip|unzip|ipmitool)\b{_ARGUMENTS}[^\S\n]-P[^\S\n]*"
    ),
    _command("7z unrar", rf"\b(?:7z[ar]?|unrar|rar)\b{_ARGUMENTS}[^\S\n]-p"),
    _command(
        "mongo rdesktop", rf"\b(?:mongo(?:sh|dump|restore|export|import)?|rdesktop)\b{_ARGUMENTS}[^\S\n]-p[^\S\n]+"
    ),
    _command("xfreerdp", rf"\bxfreerdp\b{_ARGUMENTS}[^\S\n]/p:"),
    _command("htpasswd", r"\bhtpasswd[^\S\n]+-\w*b\w*[^\S\n]+\S+[^\S\n]+\S+[^\S\n]+"),
    _command("smbclient", rf"\bsmbclient\b{_ARGUMENTS}[^\S\n]-U[^\S\n]*[\"']?[\w.@\\-]+%"),
    _command("sqlplus impdp expdp", rf"\b(?:sqlplus|impdp|expdp)\b{_ARGUMENTS}[^\S\n]\w+/"),
    _command("/user:", r"[ ]/user:[^\s]+[ ]+"),
    _command("pass:", r"(?<![\w])(?:-pass(?:in|out)?|-k)[^\S\n]+pass:"),
    _command("login ", r"\blogin[^\S\n]+[\w.@-]+\s+password[^\S\n]+"),  # .netrc
    MaskRule(
        kind="password",
        hints=("sudo", "chpasswd"),
        pattern=re.compile(
            r"\becho[^\S\n]+(?:-\w+[^\S\n]+)?[\"']?(?:[\w.-]+:)?(?P<v>[^\s\"'|:]{3,64})[\"']?[^\S\n]*\|[^\S\n]*"
            r"(?:sudo[^\S\n]+)?(?:-S|chpasswd|sudo[^\S\n]+-S)"
        ),
        check=_is_argument,
    ),
    MaskRule(
        kind="password",
        hints=("IDENTIFIED ",),
        pattern=re.compile(
            r"\bIDENTIFIED[^\S\n]+(?:WITH[^\S\n]+\S+[^\S\n]+)?BY[^\S\n]+[\"'](?P<v>[^\s\"']{3,64})[\"']"
        ),
        check=_is_argument,
    ),
    MaskRule(
        kind="password",
        hints=("identified ",),
        pattern=re.compile(
            r"\bidentified[^\S\n]+(?:with[^\S\n]+\S+[^\S\n]+)?by[^\S\n]+[\"'](?P<v>[^\s\"']{3,64})[\"']"
        ),
        check=_is_argument,
    ),
    MaskRule(
        kind="password",
        hints=("PASSWORD '", "password '"),
        pattern=re.compile(r"\b(?:PASSWORD|password) '(?P<v>[^\s']{4,64})'"),
        check=_is_argument,
    ),
    # "admin / value" in a line that says so before it or behind it
    *_ACCOUNT_RULES,
    MaskRule(
        kind="password",
        hints=tuple(
            f"({who}{slash}" for who in ("ID", "id", "Id", "아이디", "계정", "사용자", "user") for slash in "/ "
        ),
        pattern=re.compile(
            rf"(?<![\w.@-])[\w.@-]{{2,40}}[^\S\n]?/[^\S\n]?(?P<v>[^\s\"'`,|<>/(]{{4,64}})[^\S\n]{{0,3}}"
            rf"\([^\S\n]?{_WHO}[^\S\n]?/[^\S\n]?{_PASSWORD}[^\S\n]?\)"
        ),
        check=lambda value: not is_placeholder(value) and value.isascii(),
    ),
)
