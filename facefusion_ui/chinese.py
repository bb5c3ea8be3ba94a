"""Chinese for what core says: its sentences by key, its options by processor and field.

The English of both stands where it is true: ``core.sentences`` and each processor's ``Options``.
"""

from __future__ import annotations

CORE: dict[str, str] = {
    # pictures that are given
    "noface.pic": (
        "这张图片里没有找到人脸。我们也尝试了旋转和缩放。请换一张能看清眼睛、鼻子和嘴的图片。"
    ),
    "noface.photo": "第 {n} 张照片里没有找到人脸，不会使用它。",
    "noface.photos": "新面孔的照片里没有找到人脸。",
    "noface.number": "这张图片里没有面孔 {n}，共找到 {count} 张脸。",
    "noface.photos.hint": "请使用能看清眼睛、鼻子和嘴的照片。",
    "need.photo": "还需要一张新面孔的照片。",
    "photo.many": "第 {n} 张照片里有 {k} 个人，将使用最大的脸。裁剪照片可自行选择。",
    "photo.profile": "这是侧脸。用正面照效果会好很多。",
    "photo.small": "照片里的脸较小（{px} 像素），结果可能偏模糊，换大一点的照片会更好。",
    "photo.covered": "脸部有遮挡，可能会出现在结果里。",
    "photo.differ": "这些照片可能不是同一个人。",
    "err.missing": "{name} 已不存在，请重新选择文件。",
    "err.same_file": "{name} 是原始文件之一，不会被覆盖。",
    "err.same_file.hint": "请为结果换一个名字。",
    "err.format": "无法写入 {name} 这种扩展名。",
    "err.format.hint": "请使用 .png、.jpg、.webp、.avif 或 .tiff。",
    # what was done
    "none.noface": "没有变化：{b} 帧里都没有找到人脸。",
    "none.image": "没有变化，因此没有写入文件。",
    "none.model": "没有变化：模型输出无效，已保留原图。",
    "note.face_kept": "有一张脸保持原样：头部转得太多，或遮挡过多。",
    "note.kept": "有 {n} 帧保持原样：头部转得太多。",
    # refusals
    "refused.pic": "这张图片不能使用。",
    "refused.photo": "这张照片不能使用。",
    "refused.why": ("安全检查认为其中含有裸露内容，不提供此类换脸。如属误判，请尝试重新裁剪。"),
    "refused.check": "安全检查暂时无法工作，因此没有生成结果。请稍后再试。",
    "refused.consent": "请先勾选同意项。",
    # graphics card and processor
    "gpu.none": "没有找到显卡。",
    "gpu.driver": "没有找到 NVIDIA 驱动。",
    "gpu.driver.fix": "请安装 NVIDIA 驱动并重启电脑，然后点“重新检查”。",
    "gpu.driver_old": "NVIDIA 驱动太旧，不支持当前版本。",
    "gpu.driver_old.fix": "请更新驱动，或运行一次下面的命令。",
    "gpu.libs": "缺少 CUDA 库（{library}）。",
    "gpu.libs_any": "缺少 CUDA 库。",
    "gpu.libs.fix": "请运行一次下面的命令。",
    "gpu.major": "已安装的 CUDA 版本与需要的（{major}）不同。",
    "gpu.old": "显卡较旧，不支持当前版本。",
    "gpu.old.fix": "请运行一次下面的命令，它会安装适合旧显卡的版本。",
    "gpu.over": "显卡版本被其他组件覆盖了。",
    "gpu.over.fix": "请运行一次下面的命令。",
    "gpu.build": "当前安装不支持 {provider}。",
    "gpu.build.fix": "请运行一次下面的命令，它会查找显卡并安装合适的版本。",
    "gpu.mem": "显存不足。",
    "gpu.mem.fix": "请关闭其他使用显卡的程序。",
    "gpu.failed": "无法使用显卡（{words}）。",
    "gpu.failed.fix": "请更新显卡驱动，然后点“重新检查”。",
    "gpu.output": "{provider} 给出了无效结果。",
    "err.provider": "{model} 无法在本机运行。",
    "err.provider.hint": "请在“系统”里查看原因。",
    "err.run": "{model} 停止工作了。",
    "err.output": "{model} 给出了无效结果。",
    "err.runtime": "运行模型的组件已损坏。",
    "err.runtime.hint": "请运行一次：{command}",
    # models
    "err.weights": "{model} 的文件已损坏。",
    "err.weights.hint": "请在“模型”里重新下载。",
    "err.weights_missing": "本机没有 {model}。",
    "err.weights_missing.hint": "请在“模型”里下载，或运行：models fetch {name}",
    "err.licence": "{model} 附有作者的许可：{licence}。",
    "err.licence.hint": "请在“模型”里阅读并接受，或加上 --accept-licence。",
    "offline.model": "本机没有 {model}，且已开启离线模式。",
    "offline.model.hint": "请联网一次，或在“模型”里添加文件。",
    "err.read_only": "无法写入文件夹 {folder}。",
    "err.read_only.hint": "请用 FACEFUSION_MODEL_FOLDER 为模型另选文件夹。",
    "err.disk": "空间不足：需要 {need}，剩余 {free}。",
    "err.disk.hint": "请在“系统”里清理，或另选文件夹。",
    "err.download": "无法下载 {model}。",
    "err.download.hint": "请检查网络后重试，会从中断处继续。",
    "err.hub_gone": "作者不再在原处提供 {model}。",
    "err.hub_gone.hint": "请更新程序，或在“模型”里添加文件。",
    "err.adopt": "{name} 不是正确的文件。",
    "err.adopt.hint": "请选择 {model} 的文件，使用前会先校验。",
    "model.bad": "下载的文件已损坏并已删除，其他内容不受影响。",
    "model.bad.hint": "请稍后再试，或换一个网络。",
}

OPTIONS: dict[str, tuple[str, str]] = {
    "swap.likeness": ("相似度", "越高越接近新面孔的脸型，越低越保留原来的头型。"),
    "swap.skin_tone": ("肤色匹配", "越高，肤色越贴合图片中的光线。"),
    "swap.edge": ("边缘柔和", "如果能看到脸部轮廓线，请调高。"),
    "swap.keep_mouth": ("保留原来的嘴", "保留原来的牙齿、舌头和口型。"),
    "swap.keep_eyes": ("保留原来的眼睛", "保留人物的视线方向。"),
    "swap.poisson": ("融合边缘光线", "让新面孔与皮肤交界处的光线更均匀，会稍慢一点。"),
    "swap.in_front": ("手和眼镜保持在前面", "脸前面的东西不会被覆盖。"),
    "swap.sharpness": ("清晰度", "让脸与图片的清晰度一致，如果脸看起来模糊请调高。"),
}
"""``processor.field``: (label, help)."""
