"""Sentences of the Models and System tabs and of the provider badge, in each language."""

from __future__ import annotations

TABS: dict[str, tuple[str, str]] = {
    # models
    "models.title": ("Models", "模型"),
    "models.hint": (
        "The built-in engine is always here. Others are downloaded only when you ask for them.",
        "内置引擎始终可用，其他模型只有在你要求时才会下载。",
    ),
    "models.hint.public": (
        "The built-in engine is always here. Whoever runs this page decides about others.",
        "内置引擎始终可用，其他模型由页面的管理者决定。",
    ),
    "models.used": ("{size} downloaded", "已下载 {size}"),
    "models.online": ("Downloads only when you ask", "仅在你要求时下载"),
    "models.offline": ("Offline: nothing is downloaded", "离线：不会下载任何内容"),
    "models.place": ("Folder and mirror", "文件夹与镜像"),
    "models.folder": ("Folder", "文件夹"),
    "models.mirror": ("Downloads come from", "下载来源"),
    "models.builtin": ("Built-in engine", "内置引擎"),
    "models.builtin.advice": (
        "Instant, works offline. A warped photo: good for fun pictures and previews.",
        "即时可用，支持离线。由照片变形得到，适合趣味图片和预览。",
    ),
    "models.parts": ("Its {n} parts", "包含 {n} 个部分"),
    "models.none": (
        "Neural models come with a later version. Everything on this page works without them.",
        "神经网络模型将在后续版本提供。没有它们，本页所有功能也能使用。",
    ),
    "model.ready": ("Ready", "可用"),
    "model.missing": ("Not downloaded", "未下载"),
    "model.running": ("Downloading", "下载中"),
    "model.failed": ("Check failed", "校验失败"),
    "model.stopped": ("Stopped", "已停止"),
    "model.get": ("Download…", "下载…"),
    "model.again": ("Download again", "重新下载"),
    "model.own": ("Use a file I have", "使用已有文件"),
    "model.copy": (
        "This file is too large to hand over in the browser. Copy it as {file} into this folder:",
        "文件太大，无法通过浏览器传送。请将它以 {file} 为名复制到此文件夹：",
    ),
    "model.copied": ("It is there", "已经复制"),
    "model.copy.missing": (
        "It is not there yet. Look at the name of the file once more.",
        "还没有找到，请再检查一下文件名。",
    ),
    "model.copy.damaged": (
        "There is a file, but it is another one or not complete.",
        "找到了文件，但不是所需的文件或不完整。",
    ),
    "model.broken": (
        "The file on this computer is not complete. Download it again.",
        "本机上的文件不完整，请重新下载。",
    ),
    "model.tick_first": ("Still needed: your tick above", "还需要：勾选上面的许可"),
    "model.licence.of": ("Licence of {model}", "{model} 的许可"),
    "model.accept": (
        "I accept this licence. It is the maker's, not ours.",
        "我接受此许可。该许可来自模型作者，而非本项目。",
    ),
    "model.maker": ("Made by {vendor}, {year}.", "作者：{vendor}，{year}。"),
    "model.licence": ("Read the licence ({name})", "阅读许可（{name}）"),
    "model.download": ("Download {size}", "下载 {size}"),
    "model.unverified": (
        "Its checksum is known from third parties only.",
        "校验和仅来自第三方。",
    ),
    "model.bar": ("Download of {model}", "{model} 的下载进度"),
    "model.progress": (
        "{a} of {b} MB · {r} MB a second",
        "{a}/{b} MB · 每秒 {r} MB",
    ),
    "model.left": ("about {t} left", "约剩 {t}"),
    # system
    "system.title": ("Where the work is done", "运行位置"),
    "system.gpu": ("{card} did all the work.", "全部由 {card} 完成。"),
    "system.gpu_design": (
        "{card} did the work; {n} small models are quicker on the processor.",
        "由 {card} 完成；{n} 个小模型在处理器上更快。",
    ),
    "system.no_card": (
        "This computer has no graphics card we can use. That is fine for pictures.",
        "本机没有可用的显卡，处理图片没有问题。",
    ),
    "system.asked_no_card": (
        "A graphics card was asked for, but none was found, so the processor did the work.",
        "要求使用显卡，但没有找到，因此由处理器完成。",
    ),
    "system.own": ("You chose the processor.", "你选择了使用处理器。"),
    "system.card": ("graphics card", "显卡"),
    "system.fell": (
        "Your {card} was not used: {reason} The work takes longer than it could.",
        "没有使用你的{card}：{reason}用时会更长。",
    ),
    "system.mixed": (
        "{a} of {b} models on the graphics card; {names} on the processor: {reason}",
        "{b} 个模型中有 {a} 个在显卡上运行；{names}在处理器上运行：{reason}",
    ),
    "system.others": ("{n} others", "其余 {n} 个"),
    "system.and": (", ", "、"),
    "system.switched": (
        "Your {card} stopped working on the way; the rest ran on the processor: {reason}",
        "你的{card}中途停止工作，其余部分在处理器上运行：{reason}",
    ),
    "system.check": ("Check again", "重新检查"),
    "system.checking": ("Loading every model again…", "正在重新加载全部模型…"),
    "system.checked": ("Checked just now.", "刚刚已检查。"),
    "system.test": ("Run self-test", "运行自检"),
    "system.testing": ("Measuring every model, a few seconds…", "正在测量各个模型，约需几秒…"),
    "system.total": (
        "All {n} models once: {ms} ms. This is the best of several runs.",
        "{n} 个模型各运行一次：{ms} 毫秒。取多次中的最佳值。",
    ),
    "system.free": ("Free memory", "释放内存"),
    "system.freed": (
        "{mb} MB given back. Models load again when they are needed.",
        "已释放 {mb} MB，需要时会重新加载模型。",
    ),
    "system.work": ("Work on", "运行于"),
    "system.work.help": (
        "Counts for what you start from now on, for you alone.",
        "对你之后开始的任务生效，不影响他人。",
    ),
    "system.auto": ("Automatic", "自动"),
    "system.as_started": ("As started: {place}", "启动时的设置：{place}"),
    "system.change": ("Change", "更改"),
    "system.table": ("What runs where", "各模型运行位置"),
    "system.col.model": ("Model", "模型"),
    "system.col.where": ("Ran on", "运行于"),
    "system.col.speed": ("One run", "单次用时"),
    "system.col.why": ("Why", "原因"),
    "system.col.fix": ("Fix", "修复"),
    "system.ms": ("{ms} ms", "{ms} 毫秒"),
    "system.copy_fix": ("Copy fix", "复制修复命令"),
    "system.storage": ("Storage", "存储"),
    "system.empty": ("No results are kept.", "没有保存的结果。"),
    "system.file": ("{n} result, {size}", "{n} 个结果，{size}"),
    "system.files": ("{n} results, {size}", "{n} 个结果，{size}"),
    "system.clean": ("Clean up…", "清理…"),
    "system.clean.which": ("Which results should go?", "要删除哪些结果？"),
    "system.clean.hint": (
        "They are deleted for good. Files you have downloaded stay.",
        "删除后无法恢复。你已下载的文件会保留。",
    ),
    "system.clean.old": ("Older than a day ({amount})", "一天前的（{amount}）"),
    "system.clean.all": ("All ({amount})", "全部（{amount}）"),
    "system.clean.keep": ("Keep them", "保留"),
    "system.cleaned": ("Files deleted: {n}.", "已删除文件：{n} 个。"),
    "system.help": ("Something wrong?", "遇到问题？"),
    "system.versions": ("Versions and machine", "版本与设备"),
    "system.copy": ("Copy report for help", "复制求助报告"),
    "system.copy.hint": (
        "Contains no names and no pictures.",
        "不包含姓名和图片。",
    ),
    "fact.system": ("System", "操作系统"),
    "fact.memory_name": ("Memory", "内存"),
}

MODEL_TITLES: dict[str, str] = {
    "centerface": "人脸查找",
    "blazeface_back256": "旋转图片的人脸查找",
    "face_mesh478": "内置引擎（人脸网格）",
    "face_descriptor1024": "相似度、年龄与性别",
    "face_descriptor128": "面部相似度",
    "hand_detector_lite": "手部查找",
    "hand_landmarks_lite": "手部关键点",
    "nsfw5": "安全检查",
}
"""Chinese for the titles of built-in models; their English stands in each ModelSpec."""
