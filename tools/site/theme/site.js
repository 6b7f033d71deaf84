// The search, the list of pages on a phone, and the choice between light and dark. A page works without
// this script, except for the search.

"use strict";

const root = document.currentScript.dataset.root;
const html = document.documentElement;

// Browsers refuse the storage to some pages that were opened from a file.
const stored = (action) => { try { return action(localStorage); } catch { return null; } };
const show = (theme) => {
  html.classList.remove("light", "dark");
  if (theme) html.classList.add(theme);
};
show(stored((storage) => storage.getItem("theme")));

// search.js calls this with [title, place, URL, kind, text] of each name and section.
let entries = null;
let whenLoaded = () => {};
function searchEntries(list) {
  entries = list.map((entry) => [...entry, entry[0].toLowerCase(), entry[4].toLowerCase()]);
  whenLoaded();
}

// Returns how well an entry fits, or 0. All words must occur in it.
function score([title, place, , kind, , lowTitle, lowText], query, words) {
  const where = place.toLowerCase();
  if (!words.every((word) => lowTitle.includes(word) || where.includes(word) || lowText.includes(word))) return 0;
  const isName = kind !== "page" && kind !== "header";
  const name = isName ? lowTitle.split("::").pop() : lowTitle;
  const isMember = isName && title.split("::").slice(0, -1).some((part) => /^[A-Z]/.test(part));
  // An exact name comes before a section of this title. Otherwise sections say more.
  let result = { page: 6, variable: -8, constant: -8 }[kind] ?? 2;
  if (lowTitle === query) result += isName ? 105 : 95;
  else if (name === query) result += isMember ? 60 : 95;
  else if (lowTitle.startsWith(query)) result += 50;
  else if (name.startsWith(query)) result += isMember ? 30 : 45;
  else if (words.every((word) => lowTitle.includes(word))) result += 25;
  else if (words.every((word) => lowTitle.includes(word) || where.includes(word))) result += 15;
  return result - title.length / 100;
}

// Returns the part of a text around the first word that occurs in it.
function excerpt(text, lowText, words) {
  const at = Math.max(0, Math.min(...words.map((word) => lowText.indexOf(word)).filter((i) => i >= 0), text.length));
  const begin = at < 60 || at === text.length ? 0 : text.indexOf(" ", at - 50) + 1;
  return (begin ? "… " : "") + text.slice(begin, begin + 170);
}

document.addEventListener("DOMContentLoaded", () => {
  const input = document.getElementById("query");
  const results = document.getElementById("results");
  const menu = document.getElementById("menu");
  const theme = document.getElementById("theme");

  const load = () => {
    if (document.getElementById("entries")) return;
    const script = document.createElement("script");
    script.id = "entries";
    script.src = `${root}search.js`;
    document.head.append(script);
  };
  const search = () => {
    const query = input.value.trim().toLowerCase().replace(/\(\)$/, "").replace(/^rouse::/, "");
    results.hidden = !query;
    results.replaceChildren();
    if (!query) return;
    if (!entries) {
      load();
      return;
    }
    const words = query.split(/\s+/);
    const found = entries.map((entry) => [score(entry, query, words), entry]).filter(([points]) => points > 0);
    found.sort((a, b) => b[0] - a[0]);
    for (const [, [title, place, url, kind, text, , lowText]] of found.slice(0, 40)) {
      const link = document.createElement("a");
      link.href = root + url;
      const name = document.createElement("b");
      name.textContent = title;
      const where = document.createElement("small");
      where.textContent = kind === "page" ? ` ${place === title ? "" : place}` : ` ${kind === "header" ? "header" : `${kind} · ${place}`}`;
      const line = document.createElement("span");
      line.textContent = excerpt(text, lowText, words);
      link.append(name, where, line);
      results.append(link);
    }
    if (!found.length) results.innerHTML = "<p>Nothing found.</p>";
  };
  whenLoaded = search;

  input.addEventListener("focus", load);
  input.addEventListener("input", search);
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) results.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== input && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.select();
      input.focus();
    }
  });
  input.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const chosen = links.findIndex((link) => link.classList.contains("chosen"));
    if (event.key === "Escape") {
      results.hidden = true;
      input.blur();
    } else if (event.key === "Enter" && links.length) {
      location.href = links[Math.max(chosen, 0)].href;
      results.hidden = true;
    } else if (["ArrowDown", "ArrowUp"].includes(event.key) && links.length) {
      event.preventDefault();
      const next = (chosen + (event.key === "ArrowDown" ? 1 : -1) + links.length) % links.length;
      links.forEach((link, i) => link.classList.toggle("chosen", i === next));
      links[next].scrollIntoView({ block: "nearest" });
    }
  });

  menu.addEventListener("click", () => {
    menu.setAttribute("aria-expanded", document.body.classList.toggle("menu"));
    document.querySelector("#pages [aria-current]")?.scrollIntoView({ block: "center" });
  });

  const isDark = () => html.classList.contains("dark") ||
    (!html.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
  const label = () => { theme.textContent = isDark() ? "☀" : "☾"; };
  theme.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    show(next);
    stored((storage) => storage.setItem("theme", next));
    label();
  });
  label();

  for (const heading of document.querySelectorAll(":is(h2, h3, h4, h5)[id]")) {
    const link = document.createElement("a");
    link.className = "permalink";
    link.href = `#${heading.id}`;
    link.textContent = "#";
    link.ariaLabel = "Link to this section";
    heading.append(link);
  }

  // A wide window shows the sections of the page beside the text, a phone only on request.
  const toc = document.querySelector(".toc");
  if (toc && matchMedia("(min-width: 75rem)").matches) toc.open = true;
  document.querySelector("#pages [aria-current]")?.scrollIntoView({ block: "nearest" });

  const query = new URLSearchParams(location.search).get("q");
  if (query) {
    input.value = query;
    search();
  }
});
