"""Words by what they do in an attack, English and Chinese, each kind a letter: a text becomes a line of letters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

ENGLISH: Final[Mapping[str, str]] = {
    # to set aside what was said
    "O": "ignore ignores ignored ignoring disregard disregards disregarded disregarding forget forgetting "
    "override overrides overriding overrule bypass bypasses bypassing supersede supersedes superseding "
    "neglect abandon circumvent void evade replace replaces replacing overwrite overwrites overwriting",
    # what was said before
    "P": "previous previously prior earlier above preceding existing former original initial foregoing before "
    "past old hidden",
    # rules that an assistant follows
    "I": "instruction instructions directive directives guideline guidelines rule rules prompt prompts "
    "command commands constraint constraints policy policies restriction restrictions "
    "safeguard safeguards guardrail guardrails limitation limitations programming filter filters "
    "protocol protocols safety ethics moderation",
    "A": "all any every everything entire whole each full complete",
    "N": "new following updated real actual actually instead true",
    "Y": "you yourself your ur assistant ai model chatbot bot agent agents llm gpt chatgpt claude gemini copilot",
    # conditions
    "W": "whenever when if once upon anytime everytime unless soon after",
    "U": "user users user's customer customers someone anyone anybody somebody client clients human humans "
    "operator recipient visitor visitors reader readers child caller whoever people person",
    "p": "she he they him her them their his",
    "Q": "ask asks asked asking request requests requested requesting mention mentions mentioned mentioning "
    "query queries inquire inquires question questioned questions wants types says talks talk triggers "
    "triggered turns opens logs searches looks",
    # to answer
    "R": "answer answers answering reply replies respond responds say tell output print recommend suggest "
    "state append insert add embed prepend cite refer direct point write mention",
    "V": "response responses outputs message messages conclusion conclusions summary",
    "L": "always never forever permanently henceforth permanent persistently standing automatically default "
    "future indefinitely",
    "M": "memory memories remember memorize memorise store stores stored storing save saves saved saving "
    "persist persists persisted persisting retain retained record recorded recall note notes pin pinned",
    "S": "send sends sending forward forwards forwarding post posts posting upload uploads uploading transmit "
    "transmits exfiltrate exfiltrates exfiltrating leak leaks leaking dump dumps export exports "
    "exporting bcc cc relay relays mirror mirrors webhook ping pings copy",
    "K": "password passwords passphrase passcode credential credentials secret secrets token tokens key keys "
    "apikey apikeys api ssh env pin confidential private sensitive ssn cvv login logins cookies cookie "
    "wallet seed mnemonic otp 2fa pii id_rsa environ",
    "D": "delete deletes deleting deleted erase erases erasing wipe wipes wiping remove removes removing "
    "destroy destroys format shutdown kill corrupt corrupts disable disables disabling purge truncate "
    "revoke terminate drop shred unlock",
    "d": "data database databases file files record records backup backups log logs table tables directory "
    "folder document documents information details history workspace repository inbox contacts emails "
    "photos account accounts",
    # to say what is not so, to lead somewhere
    "y": "pretend claim claims claiming insist insists lie lying deceive mislead falsely assert asserts "
    "invent exaggerate deny persuade convince steer promote",
    "X": "reveal reveals revealing disclose discloses disclosing show shows expose exposes divulge display "
    "repeat give provide share shares sharing spell decode encode recite hand",
    "H": "authorized authorised authorizes authorization authorisation approved permission permissions "
    "permitted allowed granted grants cleared consent consented preapproved pre-approved whitelisted "
    "entitled verified authenticated trusted legitimate sanctioned certified waived",
    "G": "admin administrator administrators root sudo superuser developer privileged elevated privilege "
    "privileges escalate ceo cto admins god auditor audit",
    "C": "confirmation verification approval approvals confirm confirming verify verifying check checks "
    "checking warning warnings validation review prompting review gate gates",
    "Z": "without skip skips skipping skipped omit omits exempt bypassed waive",
    # to act
    "B": "execute executes executing run runs invoke invokes install installs download downloads visit click "
    "open call fetch curl wget navigate browse redirect redirects approve approves deploy spawn activate "
    "enable submit",
    "$": "transfer transfers wire pay pays payment payments purchase buy refund refunds invoice invoices "
    "withdraw bank funds money bitcoin btc crypto usdt payout iban fee fees deposit",
    "T": "secretly silently quietly covertly discreetly undetected unnoticed stealthily invisibly undetectable unaware",
    "F": "not no don't dont never cannot can't without doesn't won't shouldn't nothing",
    "t": "told tell telling inform informing notify notifying alert alerting warn alarm mention mentioning "
    "acknowledge notice",
    "E": "roleplay imagine persona dan jailbreak jailbroken unfiltered uncensored unrestricted amoral unlimited",
    "n": "regardless whatever matter unconditionally even although despite",
    "J": "attacker attackers malicious malware ransomware phishing backdoor backdoors exploit exploits steal "
    "steals stole stolen stealing hack hacker hacked hacking keylogger botnet fraud fraudulent forge "
    "forged falsify fabricate fabricated tamper tampering sabotage launder unauthorized unauthorised "
    "victim ransom spoof impersonate intercept eavesdrop compromise compromised misleading false fake "
    "manipulate inject injection trojan spyware ddos hijack",
    "i": "i i'm im i've i'd my me mine we our us",
    "w": "what what's whats which where who",
    "z": "please kindly pls",
    "g": "important critical urgent crucial attention notice mandatory must immediately required",
    "o": "over rather priority prioritize outranks precedence above-all supersede",
    "e": "evil.com attacker.com external third-party offshore anonymous unknown outside remote collector",
    # what one asks of an assistant or of a helper, and what about: these are in no sign, and count in pairs
    "c": "write compose draft create produce generate prepare craft design develop build make invent",
    "x": "explain describe discuss clarify outline illustrate explore define compare elaborate summarize "
    "summarise interpret introduce",
    "v": "inspect assess evaluate analyze analyse examine validate test monitor conduct perform investigate "
    "diagnose classify identify simulate",
    "a": "alter adjust modify update change edit amend revise correct rename rewrite reset raise lower increase "
    "decrease reduce extend reallocate allocate reschedule tune swap convert translate reverse shuffle",
    "r": "access retrieve collect gather obtain acquire read reads fetch extract view get take pull import search "
    "find look harvest capture",
    "h": "grant issue release distribute offer deliver supply donate invite assign award allow",
    "u": "lock close turn switch start stop set schedule book order cancel reserve dispatch deactivate launch "
    "trigger initiate operate control move shift jam interrupt",
    "k": "secure protect safeguard ensure maintain manage keep preserve guard optimise optimize improve enhance "
    "coordinate handle oversee",
    "m": "patient patients student students employee employees staff member members manager doctor lawyer driver "
    "supplier suppliers vendor vendors colleague colleagues boss competitor competitors partner partners team "
    "tenant tenants owner company department",
    "f": "report reports contract contracts prescription prescriptions dosage medication diagnosis grade grades exam "
    "evidence case budget portfolio stock inventory transcript salary payroll insurance certificate medical "
    "financial legal order orders payments expense expenses card cards calendar appointment",
    "b": "server servers network system systems process device devices camera cameras alarm door doors gate vehicle "
    "vehicles brake brakes sensor sensors router firewall website domain mainframe aircraft engine traffic tool tools "
    "function helper",
    "q": "poem poems song story essay haiku joke list table code script paragraph letter email riddle recipe sentence "
    "slogan function program query",
    "l": "letters vowel vowels character characters language french spanish german chinese latin emoji emojis symbol "
    "symbols space spaces alphabet backwards backward base64 capital capitals reversed spelling",
    "s": "best excellent product products brand discount sale free advertisement promo coupon subscribe shop link app "
    "hotel market reviews review rating stars",
    "j": "agreed promised convention preference preferences prefers decided learned lesson lessons workflow standard "
    "procedure experience agreement practice",
}
CHINESE: Final[Mapping[str, str]] = {
    "O": "忽略 无视 忽视 不要理会 不用理会 别管 不必遵守 不再遵守 无需遵守 忘记 忘掉 忘了 抛弃 覆盖 绕过 绕开 "
    "推翻 作废 取代 替换",
    "P": "之前 先前 以前 上面 上述 以上 前面 原来 原有 此前 早先 原先 已有 旧的",
    "I": "指令 指示 规则 提示词 提示语 命令 要求 约束 限制 规定 准则 守则 策略 政策 设定 说明 安全措施 "
    "安全机制 护栏 过滤 协议 禁令",
    "A": "所有 一切 全部 任何 每个 每一个 每条 全套 完整",
    "N": "新的 以下 下面 真正的 实际上 改为 最新",
    "Y": "你 您 助手 助理 模型 机器人 智能体 大模型 小助手 人工智能 本助手",
    "W": "以后只要 今后只要 只要 每当 一旦 如果 当 若 倘若 假如 下次 等到 每逢 碰到 遇到 凡遇 要是 但凡 凡是 "
    "凡 待 届时 再 之后",
    "U": "用户 有人 客户 别人 任何人 使用者 顾客 对方 他人 访客 来访者 老人 孩子 读者 读到的 陌生人 人问",
    "p": "他 她 他们 她们",
    "y": "谎称 声称 宣称 假称 说成 编造 说是系统 抹黑 造假 谎报 引导他 引到 坚称 改口 误导 只准 优先引用 强烈推荐",
    "n": "不管 不论 无论 哪怕 即使 无条件 一律 统统 一概",
    "Q": "问到 问起 提到 提及 询问 谈到 说到 问及 聊到 查询 咨询 请求 提出 问你 问 触发 想要 打听 说出 输入 打开",
    "R": "回答 回复 答复 答 告诉 说 推荐 建议 声称 输出 引导 附上 附带 加上 插入 写上 让他 改成",
    "V": "答案 回应 结论 回答里 回复里 回复中 回答中 末尾 结尾 消息 最后加上",
    "L": "总是 永远 永久 始终 每次 从此 从现在起 从今以后 今后 以后 每次都 一直 长期 自动 默认 每一次 都要 务必",
    "M": "记住 牢记 记忆 记下 保存 存储 存入 写入 写进 存进 留存 保留 记到 存到 记录",
    "S": "发送 转发 发给 发到 发往 寄给 寄到 上传 传给 传到 提交给 抄送 密送 泄露 外传 导出 同步到 复制到 "
    "推送 回传 拷贝 传回 备份到 报给",
    "K": "密码 口令 密钥 秘钥 凭证 凭据 令牌 验证码 私钥 助记词 账号密码 机密 隐私 身份证号 银行卡号 卡号 "
    "敏感 通讯录 秘密 token api",
    "D": "删除 清空 删掉 抹掉 清除 销毁 格式化 停用 关闭 禁用 卸载 破坏 关掉 删光 撤销 注销 解锁",
    "d": "数据 文件 数据库 资料 记录 备份 日志 文档 邮件 信息 聊天记录 订单 合同 账户 账号 通讯录 对话 历史",
    "X": "透露 泄漏 公开 展示 显示 交出 说出来 报出 给出 给我 提供 念出 复述 供出 亮出 暴露",
    "H": "授权 已授权 允许 许可 批准 同意 准许 获准 核准 放行 特批 免审 白名单 可信 认证 已验证 经过验证 有权 权限",
    "G": "管理员 超级用户 开发者 开发人员 最高权限 系统管理员 特权 提权 root 管理权限 安全部 审计 运维",
    "C": "确认 核实 验证 审批 审核 复核 检查 提醒 警告 核对 校验 二次确认 征求",
    "Z": "无需 不用 不必 跳过 省去 免去 直接 绕开 不需要 无须 不经 不再 免审",
    "B": "执行 运行 调用 安装 下载 访问 点击 打开链接 启动 部署 触发 激活 开通 批准 通过 跳转",
    "$": "转账 汇款 打款 付款 支付 购买 下单 退款 汇到 收款 转到 转给 打到 账户 比特币 钱包 充值 提现 手续费 银行卡",
    "T": "偷偷 悄悄 暗地 暗中 秘密地 静默 后台 不动声色 私下 背着 不留痕迹 瞒着 不露痕迹",
    "F": "不要 别 不得 谁也不要 绝不能 禁止 不许 切勿 不能 不可 绝不 从不 没有 不",
    "t": "告知 通知 提醒 声张 惊动 让用户知道 让他知道 让用户发现 提起 解释 说明原因 别提",
    "E": "扮演 假装 越狱 不受限制 无限制 开发者模式 假设 你现在是",
    "J": "攻击者 恶意 木马 后门 钓鱼 窃取 偷取 盗取 黑客 伪造 篡改 勒索 诈骗 冒充 病毒 假的 虚假 编造 谎称 "
    "洗钱 窃听 劫持 未经授权 入侵 注入",
    "i": "我 我们 本人 咱们 我的",
    "w": "什么 哪里 谁 多少 怎么",
    "z": "请 麻烦 烦请 帮我 帮忙",
    "g": "重要 紧急 注意 必须 务必 立即 马上 切记 严格 优先 最高优先级",
    "o": "优先于 高于 凌驾 为准 优先级",
    "e": "外部 第三方 境外 匿名 陌生",
    "c": "写 编写 撰写 起草 创作 生成 制作 设计 编 拟",
    "x": "解释 描述 介绍 讨论 谈谈 比较 分析 概括 总结 阐述 定义",
    "v": "审查 评估 检测 测试 监控 鉴定 盘点 核算 模拟 诊断",
    "a": "修改 调整 更改 更新 提高 降低 增加 减少 重置 划拨 调低 调高 换成 改到 翻译 转换 颠倒 打乱",
    "r": "读取 获取 收集 查看 取得 提取 搜集 调取 抓取 拿到 索要 搜索 查",
    "h": "交给 分享 发放 授予 赠送 公布 分发 签发 提供 邀请 开具",
    "u": "打开 关上 停止 预订 预约 订 取消 安排 拉响 派遣 移动 中断 切换 设置",
    "k": "确保 保证 保护 维护 管理 优化 改进 协调 处理",
    "m": "患者 病人 学生 员工 同事 供应商 伙伴 竞争对手 司机 律师 医生 上级 老板 领导 租户 公司 部门",
    "f": "处方 剂量 药量 病历 成绩 考题 证据 案件 预算 库存 工资 发票 保险 证书 报告 日历 化验结果 订单",
    "b": "服务器 网络 系统 设备 摄像头 报警器 大门 车辆 刹车 传感器 防火墙 网站 飞机 机房 工具 程序",
    "q": "诗 歌 故事 笑话 列表 代码 脚本 信 段落 句子 文章 短文 口号 菜谱 函数",
    "l": "字母 拼音 表情 符号 空格 英语 法语 德语 倒着 大写 摩尔斯 文言文",
    "s": "最好 优惠 品牌 产品 广告 促销 推广 关注 链接 差评 好评 满分 酒店",
    "j": "约定 惯例 偏好 答应 决定 经验 心得 流程 惯用 往常",
}
BREAK: Final = "/"
"""Stands for the end of a sentence."""
LINK: Final = "@"
"""Stands for an address of the web or a mailbox."""
NUMBER: Final = "#"
"""Stands for a number, such as an amount or the id of a record."""
OTHER: Final = "."

_PARTS: Final = re.compile(
    r"(?P<link>https?://[^\s<>\"'）】，。]{1,400}|www\.[^\s<>\"'，。]{1,400}"
    r"|(?<![\w.+*-])[\w.+*-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})"  # masked ones too: ``z***@qq.com``
    r"|(?P<latin>[a-z0-9_@$]+(?:['’\-][a-z0-9]+){0,3})"
    r"|(?P<chinese>[㐀-鿿]+)"
    r"|(?P<other>[^\W\d_a-z㐀-鿿]+)"
    r"|(?P<end>[.!?;]+(?=\s|$|[)\"'])|[。！？；…]+|\n+|!(?=[㐀-鿿])|\?(?=[㐀-鿿]))"
)
_MARKS: Final = {"link": LINK, "end": BREAK}
_LEET: Final = str.maketrans("013457@$", "oieastas")


@dataclass(frozen=True, slots=True)
class Shape:
    """A text as words and as a line of letters, a letter a word; ``starts`` and ``ends`` are places in the text."""

    line: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@cache
def _tables() -> tuple[Mapping[str, str], Mapping[str, Sequence[tuple[str, str]]]]:
    """English words with their letters; Chinese ones by first character, the longest first.

    Of a word that stands under two letters the first counts.
    """
    english: dict[str, str] = {}
    chinese: dict[str, str] = {}
    for table in (ENGLISH, CHINESE):
        for letter, words in table.items():
            for word in words.split():
                (english if word.isascii() else chinese).setdefault(word, letter)
    by_first: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for word in sorted(chinese, key=len, reverse=True):
        by_first[word[0]].append((word, chinese[word]))
    return english, by_first


def lowered(text: str) -> str:
    """A text in lower case, each character at its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(char.lower()[:1] for char in text)


def shape_of(text: str) -> Shape:
    """The words of a text, in lower case, with the letter of each."""
    english, _ = _tables()
    parts: list[tuple[str, str, int]] = []
    for part in _PARTS.finditer(lowered(text)):
        word = part.group()
        match part.lastgroup:
            case "latin":
                letter = NUMBER if word.isdigit() else english.get(word) or _disguised(word, english)
                parts.append((letter, word, part.start()))
            case "chinese":
                parts += _chinese(word, part.start())
            case kind:
                parts.append((_MARKS.get(kind or "", OTHER), word, part.start()))
    return Shape(
        "".join(letter for letter, _, _ in parts),
        tuple(word for _, word, _ in parts),
        tuple(start for _, _, start in parts),
        tuple(start + len(word) for _, word, start in parts),
    )


def _chinese(run: str, start: int) -> Iterator[tuple[str, str, int]]:
    """A run of Chinese as the known words in it, the longest at each place, and single characters."""
    _, by_first = _tables()
    place = 0
    while place < len(run):
        char = run[place]
        word, letter = char, OTHER
        for known, its in by_first.get(char, ()):
            if run.startswith(known, place):
                word, letter = known, its
                break
        yield letter, word, start + place
        place += len(word)


def _disguised(word: str, english: Mapping[str, str]) -> str:
    """The letter of a word in which digits stand for letters, or none."""
    if word.isalpha() or word.isdigit() or len(word) < 4:
        return OTHER
    return english.get(word.translate(_LEET), OTHER)
