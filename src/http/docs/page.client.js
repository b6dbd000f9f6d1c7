// Optional: puts the samples into tabs, and adds copy buttons.

const root = document.documentElement;
root.classList.add("scripted");

// Samples: one tab for each language. Choosing a language changes all samples.
function showLanguage(language) {
  for (const group of document.querySelectorAll(".samples")) {
    const tabs = [...group.querySelectorAll("[role=tab]")];
    const chosen = tabs.find((tab) => tab.textContent === language);
    if (chosen === undefined) continue;
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
  }
}

function makeTabs(group, number) {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  for (const [index, figure] of [...group.querySelectorAll("figure")].entries()) {
    const panel = document.createElement("div"); // A figure may not have the role.
    panel.id = `sample-${number}-${index}`;
    panel.setAttribute("role", "tabpanel");
    figure.replaceWith(panel);
    panel.append(figure);
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = figure.dataset.language;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => {
      const before = tab.getBoundingClientRect().top;
      showLanguage(tab.textContent);
      scrollBy(0, tab.getBoundingClientRect().top - before); // Other samples change their height too.
    });
    list.append(tab);
  }
  list.addEventListener("keydown", ({ key, target }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step === undefined) return;
    const tabs = [...list.children];
    const next = tabs[(tabs.indexOf(target) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
  group.prepend(list);
}

function addCopyButton(figure) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  figure.append(button);
}

for (const [number, group] of document.querySelectorAll(".samples").entries()) if (group.children.length > 1) makeTabs(group, number);
if (navigator.clipboard) for (const figure of document.querySelectorAll(".samples figure")) addCopyButton(figure);
showLanguage("curl");

// Marks the section that is being read.
const links = new Map([...document.querySelectorAll(".sections a")].map((link) => [link.hash.slice(1), link]));
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  },
  { rootMargin: "-10% 0px -80% 0px" },
);
for (const id of links.keys()) observer.observe(document.getElementById(id));
