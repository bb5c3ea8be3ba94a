// Small things that need no server: copy buttons, aria-expanded of folded parts, alt texts.
(() => {
  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await copy(button.dataset.copy);
    const before = button.textContent;
    button.textContent = button.dataset.copied || before;
    setTimeout(() => { button.textContent = before; }, 1600);
  });
  const tidy = () => {
    document.querySelectorAll(".ff-tune .label-wrap").forEach((head) => {
      const open = String(head.classList.contains("open"));
      if (head.getAttribute("aria-expanded") !== open) head.setAttribute("aria-expanded", open);
    });
    const words = document.getElementById("ff-words");
    if (!words) return;
    document.querySelectorAll("#slider img").forEach((image, place) => {
      const alt = place === 0 ? words.dataset.original : words.dataset.result;
      if (image.alt !== alt) image.alt = alt;
    });
    document.querySelectorAll("#photos button, #pic button").forEach((button) => {
      if (button.textContent.trim() || button.getAttribute("aria-label")) return;
      button.setAttribute("aria-label", words.dataset.upload);
    });
  };
  let due = 0;
  new MutationObserver(() => {
    if (!due) due = requestAnimationFrame(() => { due = 0; tidy(); });
  }).observe(document.documentElement, { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] });
})();
