"""What was taken up gives up what was before, counts and values likewise; what only sounds so gives up nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_memory.text.bearing import changed
from hindsight_memory.text.habits import displaced, habit_in

TAKEN_UP = [
    ("I switched to coffee.", "I switched to matcha."),
    ("I drink green tea now.", "I drink black tea now."),
    ("I take the bus to work.", "I bike to work now."),
    ("I drive to work.", "I take the train to work these days."),
    ("I eat toast for breakfast.", "I eat oatmeal for breakfast now."),
    ("I switched to water.", "I've gone back to juice."),
    ("I drink espresso after dinner.", "I drink decaf after dinner now."),
    ("Now I take the tram to school.", "I cycle to school now."),
    ("我改喝咖啡了。", "我改喝抹茶了。"),
    ("最近改喝绿茶了。", "我现在改喝红茶了。"),
    ("我骑车上班。", "上班改坐地铁了。"),
    ("我每天早上喝牛奶。", "我早上改喝豆浆了。"),
    ("早餐我吃面包。", "早餐改吃燕麦了。"),
    ("我开车上班。", "我现在改骑车上班了。"),
    ("我不喝绿茶了，改喝咖啡了。", "我不喝咖啡了，改喝抹茶了。"),
    ("我晚上改喝牛奶了。", "晚上改喝热水了。"),
]
RECOUNTED = [
    ("I have two dogs.", "I have three dogs now."),
    ("We own three cars.", "We now own two cars."),
    ("I keep four hives behind the house.", "I have six hives now."),
    ("The gate code is 8812.", "The gate code is 9921 now."),
    ("My extension is 204.", "My extension is now 377."),
    ("Our rent is 950 euros.", "Our rent went up to 990 euros."),
    ("The standup is at 9:30.", "The standup is at 10:15 now."),
    ("Please remember that my locker code is 4711.", "My current locker code is 4712."),
    ("我有两条狗。", "我现在有三条狗了。"),
    ("我家有两辆车。", "我家现在有三辆车了。"),
    ("我养了四箱蜜蜂。", "我现在养了六箱蜜蜂了。"),
    ("门禁密码是8812。", "门禁密码现在是9921了。"),
    ("我的工号是204。", "我的工号现在是377。"),
    ("房租是3200。", "房租涨到3500了。"),
    ("例会是上午9点。", "例会现在是上午10点。"),
    ("请记住我的柜子密码是4711。", "我的柜子密码现在是4712。"),
]
BESIDE = [
    ("I have two dogs.", "I have three cats now."),
    ("I have two dogs.", "I have three questions now."),
    ("I have two dogs.", "My brother has three dogs now."),
    ("The gate code is 8812.", "The locker code is 9921 now."),
    ("My locker code is 4711.", "My gate code is 9921 now."),
    ("My work phone is 5550.", "My home phone is 7770 now."),
    ("My extension is 204.", "My desk is 377 now."),
    ("The standup is at 9:30.", "The train is at 10:15 now."),
    ("Our rent is 950 euros.", "Our rent is 950 euros now."),
    ("I switched to coffee.", "I switched to Linux."),
    ("I drink green tea now.", "I drink more water now."),
    ("I take the bus to work.", "I bike to the gym now."),
    ("I take the bus to work.", "I take the bus to work now."),
    ("I eat toast for breakfast.", "I eat soup for lunch now."),
    ("I drink coffee in the morning.", "I drink tea at night now."),
    ("I love coffee cake.", "I switched to tea."),
    ("I switched to coffee.", "My sister switched to tea."),
    ("I drive my kids to school.", "I bike to work now."),
    ("I drink beer after work.", "I drink tea at work now."),
    ("我有两条狗。", "我现在有三只猫了。"),
    ("我有两条狗。", "我现在有三个问题。"),
    ("我有两条狗。", "我弟弟现在有三条狗了。"),
    ("门禁密码是8812。", "柜子密码现在是9921。"),
    ("我的柜子密码是4711。", "我的门禁密码现在是9921。"),
    ("我的工号是204。", "我的座位号现在是377。"),
    ("例会是上午9点。", "飞机现在是上午10点。"),
    ("我改喝咖啡了。", "我改用 Vue 了。"),
    ("我早上喝牛奶。", "晚上改喝热水了。"),
    ("我骑车上班。", "周末我改开车了。"),
    ("早餐我吃面包。", "晚餐改吃燕麦了。"),
    ("我上班坐地铁。", "下班我改走路了。"),
    ("我晚上喝牛奶。", "晚餐我改喝汤了。"),
    ("我改喝咖啡了。", "我妈改喝绿茶了。"),
    ("我改吃素了。", "我改吃全麦面包了。"),
    ("我改喝咖啡了。", "改天喝抹茶吧。"),
    ("我改喝咖啡了。", "今天不喝咖啡了。"),
    ("我改喝咖啡了。", "要不要改喝抹茶？"),
    ("我改喝咖啡了。", "我改喝黑咖啡了。"),
    ("我坐地铁上班。", "我现在坐地铁上班了。"),
]
CHAINS = [
    ("I switched to tea.", "I switched to coffee.", "I switched to matcha."),
    ("I switched from tea to coffee.", "I switched from coffee to matcha.", "I've gone back to tea."),
    ("我改喝绿茶了。", "我改喝咖啡了。", "我改喝抹茶了。"),
    ("我喜欢喝绿茶。", "我不喝绿茶了，改喝咖啡了。", "我不喝咖啡了，改喝抹茶了。"),
]


@pytest.mark.parametrize(
    ("rule", "old", "new"), [*(("taken up", *each) for each in TAKEN_UP), *(("recounted", *each) for each in RECOUNTED)]
)
def test_what_is_so_now_gives_up_what_was(rule: str, old: str, new: str) -> None:
    for spoken in (False, True):
        found = changed(old, new, spoken=spoken)
        assert found is not None
        assert found.rule in (rule, "given up")  # «I do not drink coffee any more, I drink matcha» is both


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_what_stands_beside_it_stays(old: str, new: str) -> None:
    assert changed(old, new, spoken=True) is None


@pytest.mark.parametrize("chain", CHAINS)
def test_each_of_a_chain_gives_up_the_one_before(chain: tuple[str, ...]) -> None:
    for old, new in pairwise(chain):
        assert changed(old, new, spoken=True) is not None


@pytest.mark.parametrize(
    "text", ["I have a headache now", "我开会了", "I take a nap now", "我坐电梯上班", "", "🙂", "了"]
)
def test_what_is_no_habit(text: str) -> None:
    assert habit_in(text) is None


@given(st.lists(st.sampled_from(["I", "now", "drink", "tea", "to work", "我", "改", "喝", "茶", "了", "上班", "\0"])))
def test_a_habit_never_displaces_itself(words: list[str]) -> None:
    habit = habit_in(" ".join(words)) or habit_in("".join(words))
    assert habit is None or not displaced(habit, habit)


@pytest.mark.parametrize("text", ["I " * 9_000, "改喝" * 9_000, "喝" * 9_000, "now " * 9_000, "上班" * 9_000])
def test_long_texts_are_read_within_bounds(text: str) -> None:
    assert habit_in(text[:4_000]) is None
