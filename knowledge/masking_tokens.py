"""Rules for keys and tokens of a form that their issuers gave them, and for credentials in addresses and headers."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from knowledge.masking_values import MaskRule, is_placeholder, is_random


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


TOKEN_RULES: tuple[MaskRule, ...] = (
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
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    _token("tavily-key", "tvly-", r"tvly-[A-Za-z0-9-]{24,}", _has_digit),
    _token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("supabase-token", "sbp_", r"sbp_[0-9a-f]{40}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.-]{30,}"),
    _token("figma-token", "figd_ figo_ figu_", r"fig[dou]_[A-Za-z0-9_-]{36,}"),
    _token("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("new-relic-key", "NRAK- NRII- NRAA-", r"NR(?:AK|II|AA)-[A-Za-z0-9_-]{24,}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _token("jfrog-token", "AKCp", r"AKCp[A-Za-z0-9]{40,}"),
    _token("dropbox-token", "sl.", r"sl\.[A-Za-z0-9_-]{100,}"),
    _token("bitbucket-token", "BBDC- ATBB", r"(?:BBDC-[A-Za-z0-9+/_-]{40,}|ATBB[A-Za-z0-9]{28,})"),
    _token("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("discord-token", "iscord ISCORD", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    _token("sourcegraph-token", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"),
    _token("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    _token("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}"),
    _token("tencent-key", "AKID", r"AKID[A-Za-z0-9]{32}"),
    _token("contentful-token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{40,}"),
    _token("fly-token", "fm1 fm2 fo1_", r"(?:fm[12][ar]?|fo1)_[A-Za-z0-9+/=_-]{40,}"),
    _token("paseto", ".local.", r"v[1-4]\.local\.[A-Za-z0-9_-]{40,}(?:\.[A-Za-z0-9_-]*)?"),
    _token("circleci-token", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]{20,}_[0-9a-f]{40}"),
    _token("buildkite-token", "bkua_ bkaj_ bkct_", r"bk(?:ua|aj|ct)_[A-Za-z0-9]{36,}"),
    _token("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,}"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    _token("vercel-token", "vercel_", r"vercel_(?:blob_rw|[a-z]{2,4})_[A-Za-z0-9_]{24,}", _has_digit),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    _token(
        "toss-key",
        "live_sk_ live_gsk_ live_ck_ live_gck_ test_sk_ test_gsk_ test_ck_ test_gck_",
        r"(?:live|test)_g?[sc]k_(?:docs_)?[A-Za-z0-9]{20,}",
    ),
    _token("kakao-key", "KakaoAK ", r"(?<=KakaoAK )[0-9a-f]{32}"),
    _token("webhook", "/webhookb2/", r"(?<=/webhookb2/)[0-9a-f-]{30,}@[\w-]+/IncomingWebhook/\w{24,}(?:/[\w-]+)*"),
    _token("webhook", "hooks.zapier.com", r"(?<=hooks\.zapier\.com/hooks/catch/)\d+/\w+"),
    _token("webhook", "hooks.slack.com", r"(?<=hooks\.slack\.com/)(?:workflows|triggers)/[\w/]{30,}"),
    _token("webhook", "wh.jandi.com", r"(?<=wh\.jandi\.com/connect-api/webhook/)\d+/[0-9a-f]{32}"),
    _token("webhook", "hook.dooray.com", r"(?<=hook\.dooray\.com/services/)\d+/\d+/[\w-]{16,}"),
    _token("webhook", "/hooks/", r"(?<=/hooks/)[a-z0-9]{26}", _has_digit),  # Mattermost's incoming ones
    # a key that was encoded as a whole, "-----BEGIN ..." of anything but certificates and public keys
    _token("private-key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/]{40,}={0,2}"),
    MaskRule(
        kind="token",
        hints=("uthorization",),
        pattern=re.compile(
            r"uthorization[\"']?[^\S\n]*\]?[^\S\n]*[:=,][^\S\n]*[\"'`]?(?:Token|Api-?[Kk]ey|Bot|Splunk|GenieKey|SSWS|Key|"
            r"PRIVATE-TOKEN|Zoho-oauthtoken|DeepL-Auth-Key|Klaviyo-API-Key)[^\S\n]+(?:token=)?[\"']?(?P<v>[\w.~+/:=-]{16,})"
        ),
        check=_is_bearer,
    ),
    _token("okta-token", "SSWS ", r"(?<=SSWS )[A-Za-z0-9_-]{30,}"),
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
    MaskRule(
        kind="cookie",
        hints=("sid=", "SID=", "ssionid=", "ssionId=", "ssionID=", "SIONID=", "ession=", "ESSION=", "uth="),
        pattern=re.compile(
            r"(?:sid|S?SID|[Ss]essionid|[Ss]ession[iI][dD]|SESSIONID|SESSID|[Ss]ession|SESSION|[Aa]uth)="
            r"(?P<v>[A-Za-z0-9%._~+/-]{24,})"
        ),
        check=_is_bearer,
    ),
)
