"""Sentences of the Models and System tabs and of the provider badge, in each language."""

from __future__ import annotations

TABS: dict[str, tuple[str, str]] = {
    # models
    "models.title": ("Models", "模型"),
    "models.hint": (
        "The built-in engine is always here. Others are downloaded only when you ask for them.",
        "内置引擎始终可用，其他模型只有在你要求时才会下载。",
    ),
    "models.folder": ("Folder: {folder}", "文件夹：{folder}"),
    "models.used": ("{size} downloaded", "已下载 {size}"),
    "models.online": ("Downloads allowed", "允许下载"),
    "models.offline": ("Offline: nothing is downloaded", "离线：不会下载任何内容"),
    "models.mirror": ("Downloads come from {place}", "下载来源：{place}"),
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
    "model.own.hint": (
        "Choose the file of {model}. It is checked before it is used.",
        "请选择 {model} 的文件，使用前会进行校验。",
    ),
    "model.accept": (
        "I accept this licence. It is the maker's, not ours.",
        "我接受此许可。该许可来自模型作者，而非本项目。",
    ),
    "model.maker": ("Made by {vendor}, {year}", "作者：{vendor}，{year}"),
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
    "system.looking": (
        "Press “Check again” to load every model and see where it runs.",
        "点击“重新检查”可加载全部模型并查看其运行位置。",
    ),
    "system.check": ("Check again", "重新检查"),
    "system.test": ("Run self-test", "运行自检"),
    "system.free": ("Free memory", "释放内存"),
    "system.freed": ("{mb} MB given back.", "已释放 {mb} MB。"),
    "system.work": ("Work on", "运行于"),
    "system.work.help": (
        "Counts for what you start from now on.",
        "对之后开始的任务生效。",
    ),
    "system.auto": ("Automatic", "自动"),
    "system.table": ("What runs where", "各模型运行位置"),
    "system.col.model": ("Model", "模型"),
    "system.col.where": ("Ran on", "运行于"),
    "system.col.why": ("Why", "原因"),
    "system.col.speed": ("One run", "单次用时"),
    "system.ms": ("{ms} ms", "{ms} 毫秒"),
    "system.fix": ("Run this once, then start again:", "请运行一次以下命令，然后重新启动："),
    "system.storage": ("Results: {size} in {n} files", "结果：{n} 个文件，共 {size}"),
    "system.clean": ("Delete all results", "删除全部结果"),
    "system.clean.sure": (
        "Delete all results on this computer? Files you have downloaded stay.",
        "要删除本机上的全部结果吗？你已下载的文件会保留。",
    ),
    "system.cleaned": ("{n} files deleted.", "已删除 {n} 个文件。"),
    "system.versions": ("Versions and machine", "版本与设备"),
    "system.copy": ("Copy report for help", "复制求助报告"),
    "system.copy.hint": (
        "Contains no names and no pictures.",
        "不包含姓名和图片。",
    ),
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
