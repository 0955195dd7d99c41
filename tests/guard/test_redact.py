"""What is found in texts and what becomes of it: tables of what must go, of what must stay, and what always holds."""

from __future__ import annotations

import base64
import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.domain import Draft, Handling
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.policy import GROUP_OF, Policy, parse_rules, policy_of
from hindsight_memory.guard.redact import find, redact, redacted, texts_of
from hindsight_memory.settings import GuardSettings

USUAL = policy_of(GuardSettings(), {})
A = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0"


def hexed(length: int) -> str:
    return ("0a1b2c3d4e5f6789" * 8)[:length]


TOKENS = {
    "github_token": [f"ghp_{A[:36]}", f"ghs_{A[:40]}", f"github_pat_{A[:60]}"],
    "gitlab_token": [f"glpat-{A[:20]}"],
    "openai_key": [f"sk-{A[:48]}", f"sk-proj-{A[:60]}", f"sk-{A[:20]}T3BlbkFJ{A[:20]}"],
    "anthropic_key": [f"sk-ant-api03-{A[:60]}"],
    "aws_key": ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
    "google_key": [f"AIza{A[:35]}"],
    "stripe_key": [f"sk_live_{A[:24]}", f"rk_test_{A[:32]}"],
    "slack_token": ["xoxb-123456789012-123456789012-" + A[:24].lower()],
    "huggingface_token": [f"hf_{A[:34]}"],
    "npm_token": [f"npm_{A[:36]}"],
    "aliyun_key": [f"LTAI{A[:20]}"],
    "sendgrid_key": [f"SG.{A[:22]}.{A[:43]}"],
    "telegram_token": [f"123456789:{A[:35]}"],
    "databricks_token": [f"dapi{hexed(32)}"],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"],
    "private_key": ["-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n7bq4\n-----END RSA PRIVATE KEY-----"],
    "webhook": [f"https://oapi.dingtalk.com/robot/send?access_token={hexed(64)}"],
}
AROUND = ["密钥证{}在这里", "the key is {} ok", "{}", "x={}\n", "({})", "“{}”，记住"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("kind", "token"), [(kind, each) for kind, some in TOKENS.items() for each in some])
def test_keys_go_whole_whatever_stands_beside_them(kind: str, token: str, around: str) -> None:
    after, findings = redact(around.format(token), USUAL)
    assert after == around.format(f"[redacted:{kind}]")
    assert [(each.rule, each.note) for each in findings] == [(kind, "redact")]


MASKED = [
    ("phone", "13812345678", "138****5678"),
    ("phone", "138 1234 5678", "138 **** 5678"),
    ("phone", "138-1234-5678", "138-****-5678"),
    ("phone", "1 3 8 1 2 3 4 5 6 7 8", "1 3 8 * * * * 5 6 7 8"),
    ("phone", "１３８１２３４５６７８", "138****5678"),
    ("phone", "138\u200b1234\u200d5678", "138****5678"),
    ("phone", "+86 138 1234 5678", "+86 1** **** 5678"),
    ("phone", "+44 7700 900123", "+44 7*** **0123"),
    ("phone", "(415) 555-2671", "(41*) ***-2671"),
    ("phone", "010-62771234", "010-****1234"),
    ("email", "zhang.san@qq.com", "z***@qq.com"),
    ("email", "zhang＠qq.com", "z***@qq.com"),
    ("national_id", "110101199003077475", "110***********7475"),
    ("national_id", "11010119900307747 5", "110************* 5"),
    ("national_id", "54010219900101001X", "540***********001X"),
    ("national_id", "460-89-9847", "***-**-9847"),
    ("card", "4111 1111 1111 1111", "**** **** **** 1111"),
    ("card", "4111111111111111", "************1111"),
    ("card", "378282246310005", "***********0005"),
    ("iban", "GB33BUKB20201555555555", "GB****************5555"),
    ("iban", "DE89 3704 0044 0532 0130 00", "DE** **** **** **** **30 00"),
]


@pytest.mark.parametrize("around", ["我的是{}，记住", "It is {}.", "{}", "（{}）"])
@pytest.mark.parametrize(("kind", "said", "left"), MASKED)
def test_personal_data_is_masked_and_where_it_stood_is_told(kind: str, said: str, left: str, around: str) -> None:
    text = around.format(said)
    after, findings = redact(text, USUAL)
    if kind != "national_id" or " " not in said:
        assert after == around.format(left)
    assert [(each.rule, each.note, text[each.start : each.end]) for each in findings] == [(kind, "mask", said)]


ENCODED = ["13812345678", "zhang.san@qq.com", "110101199003077475", "4111111111111111", f"ghp_{A[:36]}"]


@pytest.mark.parametrize("said", ENCODED)
def test_what_is_encoded_goes_too(said: str) -> None:
    wrapped = base64.b64encode(f"it is {said}!".encode()).decode()
    twice = base64.b64encode(wrapped.encode()).decode()
    escaped = quote(f"记 {said}&", safe="")
    for text in (f"see {wrapped} there", f"数据{twice}。", f"https://x.example/?q={escaped}", wrapped):
        after, findings = redact(text, USUAL)
        assert len(findings) == 1
        for form in (said, wrapped, twice, quote(said, safe="")):
            assert form not in after


PASSWORDS = [
    "my password is {}",
    "The wifi password for the office is {}.",
    "password: {}",
    "Her PIN code is 93817 and the passcode is {}",
    "DB_PASSWORD={}",
    'password="{}"',
    "my password has been changed from {} to x9!kk1",
    "我的密码是{}。",
    "密码：{}",
    "银行卡密码现在是{}",
    "邮箱密码改成了{}，别忘了",
    "WiFi密码 {}",
    "登录口令为“{}”",
    "postgres://app:{}@db.example.com/main",
]


@pytest.mark.parametrize("password", ["hunter2", "Tr0ub4dor&3", "48151623"])
@pytest.mark.parametrize("around", PASSWORDS)
def test_passwords_go_as_people_and_programs_write_them(around: str, password: str) -> None:
    after, _ = redact(around.format(password), USUAL)
    assert password not in after
    assert "[redacted:" in after


@pytest.mark.parametrize(
    "text", ["My locker code is 4711.", "The garage door code is 4711#", "我的柜子密码现在是4712。", "门禁密码是2580"]
)
def test_the_number_of_a_lock_is_kept_until_a_policy_says_otherwise(text: str) -> None:
    assert redact(text, USUAL) == (text, [])
    strict = policy_of(GuardSettings(), {"access_code": Handling.REDACT})
    assert "[redacted:access_code]" in redact(text, strict)[0]


KEPT = [
    "order 4111111111111111 was shipped",
    "订单号4111111111111111已发货",
    "order id: 13812345678",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 019df237-3e80-7000-b4e3-b9df133a525c and 12345678-1234-4234-8234-123456789012",
    "2026-11-30T17:04:36.123456Z, 2026-11-30 17:04, 20261130170436, 30/11/2026",
    "1732961234 1732961234567 1732961234567890 1732961234567890123",
    "listening on port 8765 of 192.168.100.200:8080 and ::1",
    "version 1.24.3, build 20261130.1, python 3.11.7",
    "π is 3.141592653589793, e is 2.718281828459045",
    "The password is required. My password is wrong. password: string",
    "我忘了密码。密码错误。密码是6-16位字符。请输入密码",
    "password: ${DB_PASSWORD}, token=<your token>, api_key=os.environ['KEY'], password=note_pw)",
    "max_tokens=4096 token_count: 12345678, tokens: 128000",
    "git@github.com:a/b.git, icon@2x.png, react@18.2.0, user@host, @alice",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "The meeting is in room 1234567, seat 12A, row 33445566",
    "¥1,234,567.89 and $12345678.90, 13812345678.50 元",
    "ISBN 978-3-16-148410-0, EAN 4006381333931",
    "a Discord channel 354321987654321098 and a tweet 1729871234567890123",
    "She lives at 221B Baker Street; 我住在杭州市西湖区文三路105号",
    "x" * 400 + " " + "ab12" * 200,
    "CamelCaseIdentifierWithManyWords and snake_case_identifier_with_words and /usr/local/lib/python3.11/site-packages",
    "https://example.com/articles/2026/11/30/how-to-keep-bees?page=3&utm_source=newsletter-2026",
    "SGVsbG8gd29ybGQsIHRoaXMgaXMgZmluZQ==",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text, USUAL) == (text, [])


@pytest.mark.parametrize("prefix", ["客户", "tel:", "Tel", "手机号", "https://wa.me/", "phone=", "电话："])
def test_a_number_right_beside_what_says_it_is_a_phone(prefix: str) -> None:
    assert redact(f"{prefix}13812345678", USUAL)[0] == f"{prefix}138****5678"


def test_a_chinese_id_with_a_wrong_checksum_counts_where_place_and_day_are_real() -> None:
    assert redact("身份证320106197412153216", USUAL)[1] != []
    assert redact("编号 123456789012345678", USUAL)[1] == []
    assert redact("身份证号000106197412153216", USUAL)[1] == []


def test_a_bank_card_is_known_by_what_it_is_called() -> None:
    assert redact("银行卡号是 6222020302015678321", USUAL)[0] == "银行卡号是 ***************8321"


def test_a_secret_that_was_masked_alike_is_not_given_away() -> None:
    policy = policy_of(GuardSettings(), {"secrets": Handling.MASK})
    assert redact(f"key ghp_{A[:36]}", policy)[0] == "key [redacted:github_token]"


def test_the_stricter_decides_where_two_things_stand_in_one_place() -> None:
    text = "password: 13812345678"
    assert redact(text, USUAL)[0] == "password: [redacted:password]"
    assert redact(text, policy_of(GuardSettings(), {"password": Handling.ALLOW}))[0] == "password: 138****5678"
    reject = policy_of(GuardSettings(), {"phone": Handling.REJECT})
    assert [each.note for each in redact(text, reject)[1]] == ["reject"]


WORDS = st.sampled_from(
    ["13812345678", "密码是", "my password is ", f"ghp_{A[:36]}", "4111111111111111", "a@b.com", "，", " ", "\n",
     "[redacted:phone]",
     "%40", "MTM4MTIzNDU2Nzg=", "110101199003077475", "\u200b", "１３８", "0", "-", "=", "https://", ":x@",
     "Bearer ", "证"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=12).map("".join))


@given(TEXTS)
def test_done_twice_it_changes_nothing(text: str) -> None:
    after, findings = redact(text, USUAL)
    assert redact(after, USUAL) == (after, []), findings
    ends = [0, *(place for each in findings for place in (each.start, each.end)), len(text)]
    assert ends == sorted(ends)
    if not findings:
        assert after == text


@given(TEXTS, st.sampled_from(["13812345678", "ghp_" + A[:36], "zhang.san@qq.com"]), TEXTS)
def test_a_secret_among_others_is_gone(before: str, secret: str, after: str) -> None:
    left, _ = redact(f"{before}\n{secret}\n{after}", USUAL)
    assert not re.search(rf"(?<![0-9A-Za-z._%+/#*=-]){re.escape(secret)}(?![0-9A-Za-z._-])", left)


@given(st.text(max_size=300))
def test_everything_allowed_changes_nothing(text: str) -> None:
    free = policy_of(GuardSettings(), {"personal": Handling.ALLOW, "secrets": Handling.ALLOW})
    assert redact(text, free) == (text, [])


@pytest.mark.parametrize(
    "text", ["1" * 100_000, "1 " * 50_000, "a@" * 50_000, "%41" * 33_000, "QUJD" * 25_000, "密码是" * 33_000,
             "password is " * 8_000, "my the my the " * 7_000, "://a:b" * 16_000, "-----BEGIN PRIVATE KEY-----" * 3_700,
             "eyJ" * 33_000, "AKIA" * 25_000, "+1-" * 33_000, "路1号" * 33_000]
)  # fmt: skip
def test_a_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    after, _ = redact(text, Policy(rules={"address": Handling.MASK}))
    assert len(after) <= 30 * len(text)


def test_every_text_of_a_request_is_looked_at() -> None:
    said: dict[str, Any] = {
        "content": "call 13812345678", "tags": ("13812345678", "b"), "metadata": {"a@b.com": ["13812345678", 7, None]},
        "speaker": "Li 13812345678", "source_ref": "x", "key": "k", "task": "t", "tools": ("u",),
        "relations": ("mentions:v",),
    }  # fmt: skip
    draft, findings = redacted(Draft(**said), USUAL)
    assert draft.metadata == {"a***@b.com": ["138****5678", 7, None]}
    assert draft.tags == ("138****5678", "b")
    assert [each.field for each in findings] == ["content", "tags", "metadata", "metadata", "speaker"]
    assert {name for name, _ in texts_of(draft)} == set(said)
    assert "13812345678" not in repr(draft)


def test_what_is_cut_out_joins_nothing() -> None:
    draft, _ = redacted(Draft(content="call 138<recalled-memory>x</recalled-memory>12345678"), USUAL)
    assert draft.content == "call 138****5678"


def test_a_type_goes_before_its_group_and_the_banks_word_before_the_settings() -> None:
    settings = GuardSettings(rules={"phone": Handling.ALLOW})
    assert policy_of(settings, {}).of("phone") is Handling.ALLOW
    assert policy_of(settings, {"personal": Handling.REJECT}).of("phone") is Handling.REJECT
    assert policy_of(settings, {"personal": Handling.REJECT, "phone": Handling.MASK}).of("phone") is Handling.MASK
    assert policy_of(settings, {}).of("email") is Handling.MASK
    assert policy_of(GuardSettings(secrets=Handling.REJECT), {}).of("jwt") is Handling.REJECT
    assert set(map(policy_of(settings, {}).of, GROUP_OF)) == {Handling.MASK, Handling.REDACT, Handling.ALLOW}


def test_what_is_found_is_of_a_known_type() -> None:
    for text in [*(each for some in TOKENS.values() for each in some), *(said for _, said, _ in MASKED)]:
        assert {each.kind for each in find(text)} <= set(GROUP_OF)


def test_rules_are_checked() -> None:
    assert parse_rules({"phone": "allow", "secrets": None}) == {"phone": Handling.ALLOW, "secrets": None}
    for wrong in ({"x": "allow"}, {"phone": "x"}, {"phone": []}):
        with pytest.raises(InvalidInput):
            parse_rules(wrong)
