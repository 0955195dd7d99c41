"""Reads off a text whether it claims permissions, credentials or policy, or demands an action; English and Chinese."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from hindsight_memory.text.patterns import Lazy

READ: Final = 4_000
"""Characters of a text that are read."""

_ADVERBS: Final = r"(?:\s+(?:now|already|also|always|explicitly|officially|formally|fully|hereby|just|since|been))*"
_WHO: Final = (
    r"(?:(?:the|an?|our|your|my|this|all)\s+)?(?:(?:account|system|product|it|security|site|primary|legal)\s+)?"
    r"(?:users?|owners?|admin(?:istrator)?s?|customers?|management|managers?|boss|ceo|cto|ciso|headquarters"
    r"|(?:security|it|ops|legal|compliance)\s+(?:team|department)|supervisors?|root|operators?|vendors?"
    r"|anthropic|openai)"
)
_WHOM: Final = (
    r"(?:admin(?:istrator)?s?|(?:the|this|any|every|an?)\s+(?:ai\s+)?(?:assistant|agent|bot|contractor|account)"
    r"|(?:all\s+)?(?:agents|assistants|contractors|employees|staff|support\s+(?:staff|agents))"
    r"|anyone|everyone|anybody)"
)
_DEEDS: Final = (
    r"(?:delete|erase|wipe|access|export|transfer|approve|authori[sz]e|bypass|override|reset|disable|grant|revoke"
    r"|modify|read|view|share|send|execute|run|deploy|withdraw|pay|see|change|skip|act|sign)"
)
_CREDENTIAL: Final = (
    r"(?:pass(?:word|code|phrase)|pin(?:\s+code)?|credentials?|api\s+keys?|access\s+(?:codes?|tokens?|keys?)"
    r"|log-?in(?:\s+(?:name|code))?|recovery\s+codes?|(?:two|2)[- ]factor(?:\s+\w+)?|2fa|mfa"
    r"|verification\s+codes?|encryption\s+keys?|ssh\s+keys?|security\s+questions?)"
)
_POLICY: Final = (
    r"(?:(?:access|security|permissions?|approvals?|authori[sz]ation|password|credential|privileges?|sandbox"
    r"|admin(?:istration)?|data(?:[- ](?:sharing|retention|access|export))?|firewall|payment|deletion|retention"
    r"|export|company|it|deployment|transfer)\s+"
    r"(?:policy|policies|rules?|permissions?|controls?|protocols?|requirements?|levels?)"
    r"|permissions|privileges|clearance|access\s+rights?)"
)
_LEAVE: Final = r"(?:approval|confirmation|authori[sz]ation|permission|verification|consent)"
_STANDING: Final = r"(?:\b(?:is|are|was|were|has|have|now|says?|states?|allows?|permits?|requires?)\b|[:=])"

_ALLOWED_BY: Final = (
    rf"\b{_WHO}\s+(?:has|have|had|is|are|was|were|did)?{_ADVERBS}\s*"
    r"(?:authori[sz]e[sd]?|authori[sz]ing|approved|approves|permitted|permits|granted|grants|consented|cleared"
    rf"|sanctioned|(?:gave|given|gives)\s+(?:\w+\s+)?(?:{_LEAVE}|access))\b"
)
_MAY: Final = (
    rf"\b{_WHOM}\s+(?:(?:may|can|shall)|(?:is|are)\s+(?:now\s+)?able\s+to){_ADVERBS}\s+(?:\w+\s+)?{_DEEDS}\b"
    r"|\b(?:is|are|been|was|were)\s+(?:now\s+|hereby\s+|fully\s+|already\s+|pre-?)?"
    r"(?:authori[sz]ed|permitted|entitled|cleared|whitelisted)\s+(?:to|for|by)\b"
)
_RIGHTS: Final = (
    r"\b(?:has|have|holds?|with|given|granted|grant(?:s|ed|ing)?|get|gets|gain)\s+(?:\w+\s+){0,2}?"
    r"(?:admin(?:istrator)?|root|superuser|sudo|elevated|full|unrestricted|privileged|owner|write)[-\s]+"
    r"(?:level\s+)?(?:access|rights?|permissions?|privileges?)\b"
    r"|\b(?:account|user|i|agent|session|he|she)\b.{0,20}\b(?:is|am|has\s+been\s+(?:made|promoted\s+to))\s+"
    r"(?:an?\s+|the\s+)?(?:admin(?:istrator)?|superuser|root)\b"
)
_NO_LEAVE: Final = (
    rf"\b(?:no|without)\s+(?:\w+\s+){{0,2}}?{_LEAVE}\b"
    rf"|\b{_LEAVE}\b.{{0,40}}\b(?:not|no\s+longer|never)\s+(?:be\s+)?(?:needed|required|necessary)\b"
)
_CREDENTIALS: Final = (
    rf"\b{_CREDENTIAL}\b[^.!?\n]{{0,60}}?(?:\b(?:is|are|was|were|has|have)\b|[:=])"
    rf"|\b(?:changed?|reset|updated?|rotated?|set)\b.{{0,30}}\b{_CREDENTIAL}\b"
)
_POLICIES: Final = (
    rf"\b{_POLICY}\b[^.!?\n]{{0,60}}?{_STANDING}"
    r"|\b(?:polic(?:y|ies)|regulations?)\s+(?:now\s+|explicitly\s+)?"
    r"(?:allows?|permits?|lets?|authori[sz]es?|no\s+longer)\b"
)

_WHO_ZH: Final = (
    "(?:用户|客户|机主|主人|账户持有人|老板|领导|主管|经理|总部|公司|管理员|管理层|安全部门?|IT部门?"
    "|信息部|法务|系统|平台)"
)
_WHOM_ZH: Final = (
    "(?:管理员|助手|代理|智能体|机器人|任何人|所有人|客服|员工|外包(?:人员)?|[本该我此]的?账[号户]|你|您|AI)"
)
_DEEDS_ZH: Final = (
    "(?:删|清空|访问|导出|转账|付款|支付|查看|读取|修改|更改|执行|运行|批准|审批|授权|绕过|关闭|重置|发送"
    "|共享|提取|部署|跳过)"
)
_POLICY_ZH: Final = (
    "(?:访问|安全|权限|审批|授权|密码|管理|数据|操作|转账|付款|删除|导出|保密|合规|部署|公司)的?"
    "(?:策略|政策|制度|规定|规则|规范|权限|要求|流程)"
)
_CREDENTIAL_ZH: Final = "(?:密码|口令|验证码|密钥|凭证|凭据|令牌|访问码|登录码|PIN码?|恢复码|安全问题)"
_CHINESE: Final = (
    rf"{_WHO_ZH}(?:[已经现正式明确书面早就都]|当面|口头){{0,8}}(?:授权|批准|准许|允许|许可|特批)"
    r"|(?:已|已经|获得?|得到了?|经过?|有)(?:\S{0,8}的?)(?:授权|批准|许可)(?!书)"
    rf"|{_WHOM_ZH}[现在今后以都也]{{0,4}}(?:可以|可|能够|能|有权|被允许|获准)(?:直接|随时|自行|任意|自由)?{_DEEDS_ZH}"
    "|(?:管理员|最高|超级|全部|完全|完整|所有|root|系统)(?:用户)?(?:的)?(?:访问)?权限"
    "|权限(?:已经?|现已)?(?:提升|升级|开通|开放)|是(?:系统|超级)?管理员(?:账[号户])?"
    "|(?:无需|不需要|不用|不必|免除?|不再需要|跳过|无须)(?:再|任何|经过|用户|人工|二次|额外)*"
    "(?:审批|批准|确认|授权|验证|核实|许可|同意)"
    rf"|{_CREDENTIAL_ZH}[^。！？\n]{{0,12}}?(?:是|为|改|换|更新|重置|设|变更|：|:|=)"
    rf"|(?:修改|更改|重置|更新|更换)了?[^。！？\n]{{0,8}}{_CREDENTIAL_ZH}"
    rf"|{_POLICY_ZH}[^。！？\n]{{0,10}}?(?:是|为|改|更新|变更|调整|允许|规定|要求|不再|放宽|：|:)"
    "|(?:政策|规定|制度|策略)(?:现在|现已|明确)?(?:允许|准许|许可|不再)"
)
_CLAIMS: Final = Lazy(f"(?i){_ALLOWED_BY}|{_MAY}|{_RIGHTS}|{_NO_LEAVE}|{_CREDENTIALS}|{_POLICIES}|{_CHINESE}")

_RISKY: Final = (
    r"(?:delete|erase|wipe|transfer|wire|send|forward|e-?mail|upload|export|share|disable|bypass|ignore|disregard"
    r"|grant|revoke|execute|run|install|approve|pay|reveal|disclose|publish|post|purchase|buy|recommend|visit|click"
    r"|open|append|include|insert|add|store|reply|respond|answer|say|tell)"
)
_DEMANDS: Final = Lazy(
    r"(?i)\b(?:(?:the|this|any|every)\s+(?:ai\s+)?(?:assistant|agent|model|bot|chatbot)"
    r"|(?:ai\s+)?(?:assistants|agents)|you)\s+"
    r"(?:must|should|shall|have\s+to|need\s+to|ha(?:s|ve)\s+to|are\s+(?:required|instructed)\s+to|will)\s+"
    rf"(?:now\s+|always\s+|immediately\s+|first\s+|also\s+|never\s+){{0,2}}{_RISKY}\b"
    r"|\b(?:always|immediately|whenever[^.!?\n]{3,80},|from\s+now\s+on,?)\s+(?:please\s+)?"
    r"(?:delete|erase|wipe|transfer|wire|forward|upload|export|disable|bypass|grant|send|pay)\b"
    r"|(?:助手|智能体|机器人|模型|AI|代理|你)[都就]?(?:必须|务必|应当?|应该|一定要|需要|得)"
    r"(?:立即|立刻|马上|始终|总是|先|也)?\S{0,6}?"
    "(?:删|清空|转账|汇款|付款|支付|发送|转发|上传|导出|分享|关闭|禁用|绕过|忽略|授权|批准|执行|运行|安装"
    "|透露|回复|回答|推荐|写入)"
    r"|(?:以后|今后|从现在起|只要|每当|一旦)\S{0,24}?[就都](?:必须|务必|要|立即|直接|自动|把|将)\S{0,16}?"
    "(?:删|清空|转账|汇款|付款|发送|转发|上传|导出|关闭|禁用|绕过|授权|批准|执行|运行)"
)


def claims_authority(text: str) -> tuple[int, int] | None:
    """Where a text claims that somebody may do something, what a credential is, or what policy says; where it does.

    Such a claim is believed from the user, and from whom the settings name; see ``guard/trust``.
    """
    return _claim(text[:READ])


@lru_cache(maxsize=4_096)
def _claim(text: str) -> tuple[int, int] | None:
    plain = _plain(text)
    found = _CLAIMS.pattern.search(plain) if _holds(plain, _OF_CLAIMS) else None
    return None if found is None else found.span()


def demands(text: str) -> bool:
    """Whether a text tells an assistant to do something that may do harm, now or at every occasion."""
    return _demand(text[:READ])


@lru_cache(maxsize=4_096)
def _demand(text: str) -> bool:
    plain = _plain(text)
    return _holds(plain, _OF_DEMANDS) and _DEMANDS.pattern.search(plain) is not None


_OF_CLAIMS: Final = (
    "authori", "approv", "permi", "grant", "consent", "clear", "sanction", "access", "admin", "root",
    "superuser", "privilege", "rights", "pass", "pin", "credential", "key", "code", "factor", "2fa", "mfa",
    "login", "log-in", "security", "polic", "rule", "protocol", "requirement", "control", "level",
    "regulation", "confirm", "verif", "may", "can", "shall", "able", "entitled", "whitelist", "授权", "批准",
    "准许", "允许", "许可", "特批", "权限", "管理员", "可", "能", "有权", "获准", "审批", "确认", "验证",
    "核实", "同意", "密", "口令", "凭", "令牌", "码", "政策", "策略", "制度", "规", "要求", "流程",
)  # fmt: skip
_OF_DEMANDS: Final = (
    "must", "should", "shall", "have to", "need to", "has to", "required", "instructed", "will", "always",
    "immediately", "whenever", "from now on", "必须", "务必", "应", "一定要", "需要", "得", "以后", "今后", "从现在起",
    "只要", "每当", "一旦",
)  # fmt: skip
"""One of these stands in every claim, and in every demand: a text without one need not be read with care."""


def _holds(text: str, words: tuple[str, ...]) -> bool:
    low = text.lower()
    return any(word in low for word in words)


def _plain(text: str) -> str:
    """The text in plain letters, each in its place: wide ones are narrow, curly apostrophes straight."""
    read = text.replace("’", "'")
    if read.isascii():
        return read
    return "".join(folded if len(folded := unicodedata.normalize("NFKC", each)) == 1 else each for each in read)
