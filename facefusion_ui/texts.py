"""Every sentence on screen, once per language.

A row is ``key: (English, 简体中文)``. Sentences that core says have their English in
``core.sentences`` and only their Chinese here, in ``facefusion_ui.chinese``.
"""

from __future__ import annotations

import logging
from typing import Any, Literal, TypeAlias, cast

from core.sentences import ENGLISH
from facefusion_ui.chinese import CORE
from facefusion_ui.texts_tabs import MODEL_TITLES, TABS

Lang: TypeAlias = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")

log = logging.getLogger(__name__)

_FRAME = {
    "app.name": ("FaceFusion UI", "FaceFusion UI"),
    "tab.image": ("Image", "图片"),
    "tab.models": ("Models", "模型"),
    "tab.system": ("System", "系统"),
    "lang.label": ("Language", "语言"),
    "pill.local": (
        "Works offline · nothing leaves this computer",
        "可离线使用 · 数据不会离开本机",
    ),
    "pill.offline": ("Offline", "离线"),
    "pill.public": (
        "Shared page · files are deleted after {h} h",
        "共享页面 · 文件会在 {h} 小时后删除",
    ),
    "pill.ready": ("Ready · {provider}", "就绪 · {provider}"),
    "pill.open": ("Open System", "打开系统页"),
    "foot.independent": ("Independent open project", "独立开源项目"),
    "foot.local": ("pictures stay on this computer", "图片只留在本机"),
    "foot.public": ("pictures are deleted after {h} h", "图片会在 {h} 小时后删除"),
    "foot.marked": ("every result is marked as AI-edited", "每个结果都会标注为 AI 编辑"),
    "foot.licences": ("Licences", "许可"),
    "foot.credits": (
        "Example photos: NASA (Eileen Collins) and US Navy (Grace Hopper), public domain; "
        "no endorsement implied",
        "示例照片：NASA（Eileen Collins）与美国海军（Grace Hopper），公有领域，不代表其认可",
    ),
}

_IMAGE = {
    "step1": ("The new face", "新面孔"),
    "step1.hint": (
        "One clear, front-facing photo is enough. Add 2 or 3 for a better likeness.",
        "一张清晰的正面照就够了，多加两三张会更像。",
    ),
    "step1.label": ("Photos of the new face", "新面孔的照片"),
    "step2": ("The picture", "图片"),
    "step2.hint": ("The photo in which a face should change.", "要在其中换脸的图片。"),
    "step2.result": ("The result", "结果"),
    "step3": ("Swap", "换脸"),
    "drop.photo": ("Drop photos here", "把照片拖到这里"),
    "drop.pic": ("Drop a picture here", "把图片拖到这里"),
    "drop.click": ("choose a file", "选择文件"),
    "drop.webcam": ("Use the camera", "使用摄像头"),
    "example": ("No photo at hand? Try an example", "手边没有照片？试试示例"),
    "change.pic": ("Change the picture", "换一张图片"),
    "preset.label": ("Look", "效果"),
    "preset.fast": ("Fast", "快速"),
    "preset.balanced": ("Balanced", "均衡"),
    "preset.fast.hint": (
        "Quickest; good for a look. Smaller file.",
        "最快，适合先看看效果，文件更小。",
    ),
    "preset.balanced.hint": (
        "Natural result, reasonable time. Works offline.",
        "效果自然，用时适中，可离线使用。",
    ),
    "preset.fast.timed": (
        "Good for a look · built-in engine · {t} here",
        "先看看效果 · 内置引擎 · 本机约 {t}",
    ),
    "preset.balanced.timed": (
        "Natural result · built-in engine · {t} here",
        "效果自然 · 内置引擎 · 本机约 {t}",
    ),
    "preset.changed": ("Changed", "已更改"),
    "preset.reset": ("Reset", "重置"),
    "tune": ("Fine-tune (optional)", "微调（可选）"),
    "tune.more": ("More", "更多"),
    "label": ("Show “AI-edited” in the picture", "画面显示“AI 编辑”"),
    "label.help": ("Adds a small label in a corner.", "在角落加一个小标签。"),
    "format": ("Save as", "保存为"),
    "format.same": ("Like the original", "与原图相同"),
    "consent": ("Everyone shown agreed to this", "画面中的每个人都已同意"),
    "consent.help": (
        "I have the permission of the person whose face I use and of the people in the picture. "
        "The result is marked as AI-edited.",
        "我已获得面孔本人和画面中人物的许可。结果会标注为“AI 编辑”。",
    ),
    "consent.more": (
        "Do not use this to deceive, to embarrass or to impersonate anyone.",
        "请勿用于欺骗、羞辱或冒充他人。",
    ),
    "go": ("Swap face", "换脸"),
    "again": ("Swap again", "再换一次"),
    "need": ("Still needed: {list}", "还需要：{list}"),
    "need.photo.short": ("a photo of the new face", "新面孔的照片"),
    "need.pic": ("a picture", "一张图片"),
    "need.consent": ("your tick above", "勾选上面的同意项"),
    "need.person": ("a person to change", "要换脸的人物"),
    "need.none": ("All set.", "都准备好了。"),
    "face.looking": ("Looking for faces…", "正在查找人脸…"),
    "face.one": ("One face found. It will change.", "找到 1 张脸，将更换它。"),
    "face.one.off": (
        "One face found. Click it to choose it.",
        "找到 1 张脸，点击即可选择。",
    ),
    "face.many": (
        "{n} faces found. Face {k} will change; click another to switch.",
        "找到 {n} 张脸，将更换面孔 {k}；点击另一张可切换。",
    ),
    "face.several": (
        "{n} faces found. Faces {k} will change. Shift-click adds or removes one.",
        "找到 {n} 张脸，将更换面孔 {k}。按住 Shift 点击可增减。",
    ),
    "face.everyone": (
        "{n} faces found. Everyone will change; click one to change only that face.",
        "找到 {n} 张脸，将全部更换；点击其中一张则只换那张。",
    ),
    "face.none": (
        "{n} faces found. Click the face that should change.",
        "找到 {n} 张脸，请点击要更换的脸。",
    ),
    "face.all": ("Change everyone", "全部更换"),
    "face.name": ("Face {n}", "面孔 {n}"),
    "canvas.alt": (
        "The picture to change, faces found: {n}",
        "要更换的图片，找到的人脸数：{n}",
    ),
    "preview.alt": ("Preview of the result", "结果预览"),
    "preview.hint": (
        "Preview only. The button makes the file.",
        "仅为预览，点击按钮生成文件。",
    ),
    "load.engine": ("Getting the engine ready…", "正在准备引擎…"),
    "work.image": ("Putting the new face on face {n}…", "正在为面孔 {n} 换脸…"),
    "work.all": ("Putting the new face on {n} faces…", "正在为 {n} 张脸换脸…"),
    "work.bar": ("Progress", "进度"),
    "cancelled": ("Cancelled. Nothing was written.", "已取消，没有写入文件。"),
    "cmp.label": ("View", "查看"),
    "cmp.original": ("Original", "原图"),
    "cmp.compare": ("Compare", "对比"),
    "cmp.result": ("Result", "结果"),
    "cmp.alt": ("Original on the left, result on the right", "左边是原图，右边是结果"),
    "step2.result.hint": ("Drag the line to compare.", "拖动分隔线进行对比。"),
    "step2.original.hint": (
        "The original. Click a face to change another one.",
        "这是原图。点击一张脸可更换其他人。",
    ),
    "step2.only.hint": ("The result, as it is in the file.", "结果，与文件中的一致。"),
}

_CARD = {
    "done.image": ("Done. Face {n} has the new face.", "完成，面孔 {n} 已换上新面孔。"),
    "done.images": ("Done. {n} faces changed.", "完成，已更换 {n} 张脸。"),
    "done.part": (
        "Done. {a} of {b} chosen faces changed.",
        "完成，所选 {b} 张脸中已更换 {a} 张。",
    ),
    "download": ("Download result", "下载结果"),
    "engine": ("Built-in engine", "内置引擎"),
    "chip.engine": ("{engine}: {licence}", "{engine}：{licence}"),
    "time.s": ("{t} s", "{t} 秒"),
    "time.min": ("{m} min {s} s", "{m} 分 {s} 秒"),
    "mark": ("Marked as AI-edited", "已标注为 AI 编辑"),
    "mark.help": (
        "The file says inside that it was edited with AI. Other programs may show "
        "“unknown signer”: the signature is made on this computer.",
        "文件内部写明经过 AI 编辑。其他软件可能显示“未知签名者”，因为签名由本机生成。",
    ),
    "mark.sidecar": (
        "The mark is in a second file beside the result: {name}",
        "标注保存在结果旁边的另一个文件里：{name}",
    ),
    "details": ("Details", "详细信息"),
    "details.steps": ("Time by step", "各步骤用时"),
    "details.where": ("What ran where", "运行位置"),
    "details.file": ("The file", "文件"),
    "file.name": ("Name", "名称"),
    "file.size": ("Size", "大小"),
    "file.sum": ("Checksum (SHA-256)", "校验和（SHA-256）"),
    "details.models": ("Engine and licences", "引擎与许可"),
    "stage.read": ("Reading the files", "读取文件"),
    "stage.analyse": ("Looking for faces", "查找人脸"),
    "stage.check": ("Safety check", "安全检查"),
    "stage.prepare": ("Preparing the new face", "准备新面孔"),
    "stage.swap": ("Swapping", "换脸"),
    "stage.mark": ("Marking the preview", "标记预览"),
    "stage.write": ("Writing and signing", "写入并签名"),
    "stage.total": ("Altogether", "合计"),
    "none.title": ("Nothing changed", "没有变化"),
    "prov.gpu": ("Graphics card", "显卡"),
    "prov.cpu": ("Processor", "处理器"),
    "prov.own": ("Processor (your choice)", "处理器（你的选择）"),
    "prov.fell": ("Processor instead of graphics card", "用处理器代替显卡"),
    "prov.mixed": ("Partly graphics card", "部分使用显卡"),
    "prov.switched": ("Switched to processor", "已切换到处理器"),
    "lic.open": ("Open licence, paid work allowed", "开放许可，可用于商业"),
    "lic.private": (
        "Private and research use only, not for paid work",
        "仅限个人和研究使用，不可商用",
    ),
    "lic.unknown": ("Licence not stated: ask the maker", "未说明许可，请联系作者"),
    "lic.open.short": ("open licence", "开放许可"),
    "lic.private.short": ("private and research use only", "仅限个人和研究使用"),
    "lic.unknown.short": ("licence not stated", "未说明许可"),
}

_STATES = {
    "noface.title": ("No face found in this picture", "这张图片里没有找到人脸"),
    "noface.body": (
        "We also tried it turned, larger and smaller. Use one in which eyes, nose and mouth "
        "can be seen.",
        "我们也尝试了旋转和缩放。请换一张能看清眼睛、鼻子和嘴的图片。",
    ),
    "pick.other": ("Choose another picture", "换一张图片"),
    "err.title": ("That did not work", "没有成功"),
    "err.unknown": (
        "Something unexpected happened. Your files are safe. Try again; if it happens again, "
        "copy the details.",
        "出现意外问题，你的文件没有受影响。请重试；如果再次出现，请复制详细信息。",
    ),
    "err.ref": ("Ref. {ref}", "编号 {ref}"),
    "btn.retry": ("Try again", "重试"),
    "btn.details": ("Copy details", "复制详细信息"),
    "btn.cancel": ("Cancel", "取消"),
    "btn.copy": ("Copy", "复制"),
    "btn.copied": ("Copied", "已复制"),
}


TEXTS: dict[str, tuple[str, str]] = _FRAME | _IMAGE | _CARD | _STATES | TABS


def t(key: str, lang: Lang, **values: Any) -> str:
    """The sentence ``key`` in ``lang`` with ``values`` filled in. KeyError when there is none."""
    if key in TEXTS:
        return TEXTS[key][LANGS.index(lang)].format(**values)
    return (ENGLISH if lang == "en" else CORE)[key].format(**values)


def said(text: object, lang: Lang) -> str:
    """A sentence of core (a ``Sentence``, a report's ``Notice`` or plain text) in ``lang``.

    Plain text without a key, and keys nobody translated, stay as they are.
    """
    key, values = getattr(text, "key", ""), getattr(text, "values", {})
    english = str(text) if isinstance(text, str) else str(cast(Any, text).text)
    if lang == "en" or not key:
        return english
    if key not in CORE and key not in TEXTS:
        log.warning("no Chinese for %s", key)
        return english
    return t(key, lang, **values)


def model_title(name: str, title: str, lang: Lang) -> str:
    """The title of a model; names of makers' models stay as they are in every language."""
    return MODEL_TITLES.get(name, title) if lang == "zh" else title
