"""Keys and tokens that give access by themselves, told by their form.

Most forms are those of detect-secrets; beside them stand some that their makers document and it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from hindsight_memory.guard.detect_views import Spot

_PLUGINS: Final = MappingProxyType(
    {
        "aws.AWSKeyDetector": "aws_key",
        "azure_storage_key.AzureStorageKeyDetector": "azure_key",
        "discord.DiscordBotTokenDetector": "discord_token",
        "github_token.GitHubTokenDetector": "github_token",
        "gitlab_token.GitLabTokenDetector": "gitlab_token",
        "jwt.JwtTokenDetector": "jwt",
        "mailchimp.MailchimpDetector": "mailchimp_key",
        "npm.NpmDetector": "npm_token",
        "openai.OpenAIDetector": "openai_key",
        "pypi_token.PypiTokenDetector": "pypi_token",
        "sendgrid.SendGridDetector": "sendgrid_key",
        "slack.SlackDetector": "slack_token",
        "square_oauth.SquareOAuthDetector": "square_token",
        "stripe.StripeDetector": "stripe_key",
        "telegram_token.TelegramBotTokenDetector": "telegram_token",
        "twilio.TwilioKeyDetector": "twilio_key",
    }
)
"""Detectors of detect-secrets by their place, and our names of what they find.

Left out are those that guess by how random a text looks (it takes hashes for keys), by the name of a variable (see
``detect_phrases``), or of hosts that are no secret.
"""
_DOCUMENTED: Final = MappingProxyType(
    {
        "anthropic_key": r"sk-ant-[A-Za-z0-9_-]{20,}",
        "openai_key": r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,64}",
        "openrouter_key": r"sk-or-[A-Za-z0-9_-]{20,}",
        "github_token": r"github_pat_[A-Za-z0-9_]{22,}|gh[opusr]_[A-Za-z0-9]{30,}",
        "google_key": r"AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{30,}",
        "huggingface_token": r"hf_[A-Za-z0-9]{30,}",
        "npm_token": r"npm_[A-Za-z0-9]{36}",
        "aliyun_key": r"LTAI[A-Za-z0-9]{12,26}",
        "tencent_key": r"AKID[A-Za-z0-9]{28,36}",
        "stripe_key": r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}",
        "slack_token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}",
        "digitalocean_token": r"do[por]_v1_[a-f0-9]{60,}",
        "shopify_token": r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
        "databricks_token": r"dapi[a-f0-9]{32}",
        "linear_key": r"lin_api_[A-Za-z0-9]{30,}",
        "notion_token": r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}",
        "postman_key": r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
        "grafana_token": r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}",
        "vault_token": r"hv[sbr]\.[A-Za-z0-9_-]{24,}",
        "groq_key": r"gsk_[A-Za-z0-9]{40,}",
        "xai_key": r"xai-[A-Za-z0-9]{40,}",
        "replicate_token": r"r8_[A-Za-z0-9]{32,}",
        "age_key": r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    }
)
"""Forms that their makers document; a token is taken with all the characters of its kind that follow."""
TOKENS: Final = (
    *dict.fromkeys([*_PLUGINS.values(), *_DOCUMENTED]),
    "api_key",
    "bearer_token",
    "private_key",
    "url_password",
    "webhook",
)
"""The types of this kind."""

_RUN: Final = re.compile(r"[!-~]{16,}")
"""What is long enough to be a token, without a space; Chinese text is no part of it."""
_PIECE: Final = 2_000
_OVERLAP: Final = 400
"""How much of a run is looked at together: some forms take more than their length in time."""
_HINT: Final = re.compile(r"[0-9A-Za-z_+/=.:-]{16,}")
_DIGIT: Final = re.compile(r"[0-9]")
_TAIL: Final = re.compile(r"[A-Za-z0-9_-]*")
_FORMS: Final = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _DOCUMENTED.items()))


def tokens(text: str) -> Iterator[Spot]:
    """Keys and tokens by the form that their makers gave them."""
    for run in _RUN.finditer(text):
        for start in range(run.start(), run.end(), _PIECE):
            piece = text[start : min(start + _PIECE + _OVERLAP, run.end())]
            for kind, first, last in _in_piece(piece) if _HINT.search(piece) and _DIGIT.search(piece) else ():
                # With the rest of it: a form may ask for fewer characters than there are.
                rest = _TAIL.match(text, start + last)
                yield Spot(kind, start + first, rest.end() if rest else start + last)


def _in_piece(piece: str) -> Iterator[tuple[str, int, int]]:
    for found in _FORMS.finditer(piece):
        before = piece[found.start() - 1 : found.start()]
        if not (before.isalnum() or before == "_"):
            yield str(found.lastgroup), *found.span()
    for kind, detector in _detectors():
        for secret in detector.analyze_string(piece):
            start = piece.find(secret) if secret else -1
            if start >= 0:
                yield kind, start, start + len(secret)


@cache
def _detectors() -> list[tuple[str, Any]]:
    # Imported when a text first holds something as long as a token: it brings requests, which takes its time.
    from importlib import import_module  # noqa: PLC0415

    found = []
    for place, kind in _PLUGINS.items():
        module, _, name = place.partition(".")
        found.append((kind, getattr(import_module(f"detect_secrets.plugins.{module}"), name)()))
    return found


_PRIVATE: Final = re.compile(r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")
_BODY: Final = re.compile(r"[A-Za-z0-9+/=\s:,.\\-]*")


def private_keys(text: str) -> Iterator[Spot]:
    """Private keys with what stands between their first line and their last, or as far as they go."""
    place = 0
    while found := _PRIVATE.search(text, place):
        last = f"-----END {found['kind']}-----"
        end = text.find(last, found.end())
        body = _BODY.match(text, found.end())
        place = end + len(last) if end >= 0 else found.end() + len(body[0].rstrip() if body else "")
        yield Spot("private_key", found.start(), place)


_BEARER: Final = re.compile(
    r"\b(?:Bearer|Basic|token)[ ]+(?P<token>(?=[^\s]*[0-9])[A-Za-z0-9._~+/=-]{20,})", re.IGNORECASE
)
_WEBHOOK: Final = re.compile(
    r"https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks"
    r"|oapi\.dingtalk\.com/robot/send"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook|open\.feishu\.cn/open-apis/bot)[A-Za-z0-9/_?=&%.~+-]{8,}"
)
_LOGIN: Final = re.compile(r"://[^\s:/@]{0,100}:(?P<password>(?![$<{*\[])[^\s/]{1,200})@(?=[A-Za-z0-9\[])")


def bearers(text: str) -> Iterator[Spot]:
    """What proves who calls: tokens of a header, addresses that let whoever knows them post or log in."""
    for found in _BEARER.finditer(text):
        yield Spot("bearer_token", *found.span("token"))
    if "://" not in text:
        return
    for found in _WEBHOOK.finditer(text):
        yield Spot("webhook", *found.span())
    for found in _LOGIN.finditer(text):
        yield Spot("url_password", *found.span("password"))


LOOK: Final[Sequence[Callable[[str], Iterator[Spot]]]] = (tokens, private_keys, bearers)
