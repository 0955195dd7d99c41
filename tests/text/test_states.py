"""How things are now, said in passing: counts, values and habits that changed, and what only sounds like them."""

from __future__ import annotations

import time

import pytest

from hindsight_memory.domain import Role
from hindsight_memory.text.worth import MOST, worth

COUNTS = [
    ("I have three dogs now.", "profile.family"),
    ("I now have 25 postcards in my collection.", None),
    ("Now I have two sons.", "profile.family"),
    ("We have two cars now.", None),
    ("We own two houses now.", None),
    ("I have four guitars these days.", None),
    ("By the way, I've got six hens now!", None),
    ("We now own three bikes.", None),
    ("我现在有三条狗了。", "profile.family"),
    ("我家现在有两辆车了。", None),
    ("我现在有两个孩子了。", "profile.family"),
    ("现在家里养了三盆花。", None),
    ("我现在有三台相机。", None),
    ("我们家养了五只鸡了。", None),
    ("对了，我现在收藏了两百张黑胶。", None),
    ("我一共有四把吉他了。", None),
]
VALUES = [
    ("My locker code is 4712 now.", None),
    ("The gate code is now 9921.", None),
    ("The wifi password has changed to Blue42.", None),
    ("Our rent went up to 1,200.", None),
    ("The standup is at 9:30 now.", None),
    ("Our meeting was moved to Thursday at 4.", None),
    ("My extension is 204 now.", None),
    ("My phone number has changed to 555 0199.", "profile.phone"),
    ("我的柜子密码现在是4712。", None),
    ("门禁密码改成8899了。", None),
    ("房租涨到3500了。", None),
    ("我的手机号现在是13800001111。", "profile.phone"),
    ("例会改到周四下午4点了。", None),
    ("我的工号现在是A2031。", None),
    ("我们的例会现在是周三上午10点。", None),
    ("我的工资涨到两万了。", None),
]
HABITS = [
    ("I switched from tea to coffee.", "preference.drink"),
    ("I've switched to decaf.", "preference.drink"),
    ("I drink oat milk these days.", "preference.drink"),
    ("Nowadays I drink green tea.", "preference.drink"),
    ("I take the train to work now.", None),
    ("I bike to work now.", None),
    ("I eat soup instead.", "preference.food"),
    ("I wear glasses now.", None),
    ("I've changed from the night shift to the day shift.", None),
    ("我改喝抹茶了。", "preference.drink"),
    ("最近改喝红茶了。", "preference.drink"),
    ("我不喝咖啡了，改喝抹茶了。", "preference.drink"),
    ("我现在改喝拿铁。", "preference.drink"),
    ("上班我改坐地铁了。", None),
    ("我早餐改吃燕麦了。", "preference.food"),
    ("我最近改打羽毛球了。", "preference.sport"),
    ("我改上夜班了。", None),
    ("我现在改骑车上班了。", "preference.sport"),
]
PASSING = [
    "I have two questions now.",
    "I have three meetings now.",
    "I now have two read paths to keep in sync.",
    "I now have two Python interpreters on my laptop.",
    "I have ten minutes now.",
    "I have two apples in my hand.",
    "Right now I have three tabs open.",
    "You have three cats now.",
    "She has three cats now.",
    "My neighbour has three cats now.",
    "Do I have three cats now?",
    "If I have three cats now, I need a bigger flat.",
    "Maybe we have two cars now.",
    "Anna said I have three cats now.",
    '"I have three cats now", she wrote.',
    "It is 3 o'clock now.",
    "My head is killing me now.",
    "My mom is in Paris now.",
    "My temperature is 38.5 now.",
    "My battery is at 20% now.",
    "The bus is at 5 now.",
    "The code is broken now.",
    "My code is now on GitHub.",
    "My script is now 30 lines shorter.",
    "The port is now used by a Redis instance.",
    "The deadline is now a promise.",
    "Is my locker code 4712 now?",
    "Suppose the gate code is 9921 now.",
    "Your locker code is 4712 now.",
    "His rent went up to 1,200.",
    "I switched to the next topic.",
    "I switched from one page to another.",
    "I should switch from tea to coffee.",
    "My sister switched from tea to coffee.",
    "I now drink nothing else.",
    "I drive home now.",
    "I now eat with intention.",
    "I now eat way more veggies.",
    "I switched from coffee to mushroom drinks for 30 days.",
    "I eat less now.",
    "I drink it now.",
    "Let's have coffee another day.",
    "Shall I take the train to work now?",
    "我现在有点累了。",
    "我现在有三个问题。",
    "我现在有三个方案，不知道该选哪个。",
    "比如我现在有两台服务器。",
    "我现在有三本书要还。",
    "我现在有两个小时。",
    "今天我有三张票了。",
    "同事现在有三只猫了。",
    "她现在有两个孩子了。",
    "他说我现在有三只猫了。",
    "我现在有三只猫了吗？",
    "如果我现在有三只猫了，就得换房子。",
    "“我现在有三只猫了，真是热闹啊”，她写道。",
    "现在是三点了。",
    "我的心情现在是晴天。",
    "我的体温现在是38.5。",
    "我的密码现在是错的。",
    "密码现在是可选的。",
    "本周投资例会改到周四下午3点。",
    "该端口现在是 Root Port。",
    "你的密码现在是4712。",
    "我朋友的密码现在是1234。",
    "他的工资涨到两万了。",
    "把体重降到 75kg。",
    "我的密码现在是多少？",
    "改天喝咖啡吧。",
    "要不改喝茶吧。",
    "我想改喝茶了。",
    "我打算改喝茶了。",
    "医生建议我改喝茶了。",
    "他改喝茶了。",
    "我妈改喝茶了。",
    "今晚改喝无糖茶或白水。",
    "我改看3号了。",
    "我改开会时间了。",
    "你改喝茶了吗？",
]


@pytest.mark.parametrize(("text", "key"), [*COUNTS, *VALUES, *HABITS])
def test_what_is_so_now_is_worth_remembering(text: str, key: str | None) -> None:
    (found,) = worth(text)
    assert text.endswith(text[found.start : found.end])
    assert (found.key, found.polarity) == (key, 1)


@pytest.mark.parametrize("text", PASSING)
def test_what_passes_is_not(text: str) -> None:
    assert worth(text) == []


@pytest.mark.parametrize("text", [text for text, _ in (*COUNTS, *VALUES, *HABITS)])
def test_an_assistant_says_it_of_nobody(text: str) -> None:
    assert worth(text, Role.ASSISTANT) == []


def test_a_change_is_told_whole() -> None:
    text = "嗨！我不喝咖啡了，改喝抹茶了。今天天气不错。"
    assert [text[one.start : one.end] for one in worth(text)] == ["我不喝咖啡了，改喝抹茶了。"]
    text = "Lovely day. I switched from tea to coffee, and I have three cats now. Bye!"
    assert [text[one.start : one.end] for one in worth(text)] == [
        "I switched from tea to coffee",
        "I have three cats now.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I have two " * 2_000,
        "my code is now " * 2_000,
        "the old " * 3_000 + "code is 4712 now",
        "my new old big " * 2_000,
        "I switched from " * 2_000,
        "I now drink " * 2_000,
        "now " * 6_000 + "I have two cats",
        "我现在有两只" * 3_000,
        "我的密码现在是" * 3_000,
        "我现在" * 7_000 + "改喝茶了",
        "改喝" * 10_000,
        "我" + "现在都" * 7_000,
        ("我不喝" + "咖啡" * 60 + "了，改。") * 100,
        ("我有两只" + "大" * 400 + "。") * 50,
    ],
)
def test_work_is_bounded(text: str) -> None:
    started = time.process_time()
    assert len(worth(text)) <= MOST
    assert time.process_time() - started < 4
