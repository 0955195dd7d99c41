"""Things of which people use one at a time, so that taking up one is giving up another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from hindsight_memory.text.tokens import stem

_FAMILIES: Final = """
    react vue angular svelte solid preact ember jquery nextjs nuxt
    django flask fastapi rails laravel express spring nestjs phoenix
    postgres postgresql mysql mariadb sqlite oracle sqlserver mongodb cockroachdb dynamodb
    redis memcached valkey
    npm yarn pnpm bun
    pip poetry uv conda pipenv
    webpack vite rollup esbuild parcel turbopack
    jenkins buildkite circleci travis gitlab teamcity
    github gitlab bitbucket gitea
    vim neovim emacs vscode pycharm intellij sublime zed cursor
    black ruff yapf autopep8
    flake8 pylint ruff
    pytest unittest nose
    jest vitest mocha
    tabs spaces
    rest graphql grpc
    kafka rabbitmq nats pulsar
    docker podman
    kubernetes nomad swarm
    aws azure gcp
    terraform pulumi
    slack teams discord mattermost 钉钉 飞书 企业微信
    jira linear asana trello notion
    iphone android
    windows macos linux ubuntu debian fedora
    chrome firefox safari edge
    zsh bash fish
    mac thinkpad
    苹果手机 安卓手机 小米 华为 荣耀 三星 vivo oppo 一加 iphone
    地铁 公交 开车 骑车
    现金 微信支付 支付宝
"""


def _families() -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_FAMILIES.strip().splitlines()):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_FAMILY: Final = _families()


def alternatives(one: Collection[str], other: Collection[str]) -> bool:
    """Whether a word of one side stands for what a word of the other is an alternative to; both as stems.

    A thing that both sides name is no alternative to itself.
    """
    only = {word: _FAMILY[word] for word in one if word in _FAMILY and word not in other}
    against = {word: _FAMILY[word] for word in other if word in _FAMILY and word not in one}
    return any(not mine.isdisjoint(theirs) for mine in only.values() for theirs in against.values())
