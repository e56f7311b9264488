"use strict";
(() => {
  const root = document.documentElement.dataset.root;
  const element = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  // ---- light and dark

  document.getElementById("theme").addEventListener("click", () => {
    const page = document.documentElement;
    const dark = page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    page.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("gradmill-theme", page.dataset.theme); } catch (e) { /* no storage: for this page only */ }
  });

  // ---- line numbers of entries: pages do not contain them, so that moving an entry changes no page

  for (const place of document.querySelectorAll("a.place")) {
    const line = ((window.LINES || {})[place.dataset.file] || {})[place.dataset.entry];
    if (line) place.textContent += ":" + line;
  }

  // ---- C++, highlighted when it is opened

  const TOKENS = new RegExp([
    /(\/\/[^\n]*|\/\*[^]*?\*\/)/, /("(?:\\.|[^"\\])*")/, /(^[ \t]*#[a-z]+|\b(?:auto|bool|break|case|catch|class|const|constexpr|delete|do|double|else|enum|explicit|false|float|for|if|inline|int|int64_t|namespace|new|nullptr|operator|override|private|public|return|size_t|static|std|struct|switch|template|this|throw|true|try|typename|using|variable_list|virtual|void|while)\b)/,
    /(\b\d[\w.']*)/, /(\b(?:at::)?(?:Tensor|TensorList|Scalar|ArrayRef|SavedVariable|Variable|IntArrayRef)\b)/, /([A-Za-z_]\w*(?=(?:<[\w:, ]*>)?\())/,
  ].map(part => part.source).join("|"), "gm");
  const KINDS = ["c", "s", "k", "n", "y", "f"];

  function colour(code) {
    if (code.dataset.done) return;
    code.dataset.done = "1";
    const text = code.textContent, fragment = document.createDocumentFragment();
    let end = 0;
    for (const match of text.matchAll(TOKENS)) {
      fragment.append(text.slice(end, match.index), element("i", KINDS[match.findIndex((part, i) => i && part !== undefined) - 1], match[0]));
      end = match.index + match[0].length;
    }
    fragment.append(text.slice(end));
    code.replaceChildren(fragment);
  }

  for (const details of document.querySelectorAll("details.cpp"))
    details.addEventListener("toggle", () => { if (details.open) details.querySelectorAll("pre.cpp code").forEach(colour); });

  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const around = target && target.closest("details");
    if (around && !around.open) { around.open = true; around.scrollIntoView(); }
  }
  addEventListener("hashchange", openTarget);
  openTarget();

  // ---- lists

  const filter = document.getElementById("filter");
  if (filter) {
    const rows = [...document.querySelectorAll("#rows tbody tr")].map(row => [row, row.textContent.toLowerCase(), (row.dataset.traits || "").split(" ")]);
    const buttons = [...document.querySelectorAll("[data-trait]")];
    const apply = () => {
      const chosen = buttons.filter(b => b.getAttribute("aria-pressed") === "true").map(b => b.dataset.trait);
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const [row, text, traits] of rows) {
        const fits = text.includes(wanted) && chosen.every(trait => traits.includes(trait));
        if (row.hidden === fits) row.hidden = !fits;
        shown += fits;
      }
      document.getElementById("shown").textContent = shown === rows.length ? shown : shown + " of " + rows.length;
    };
    filter.addEventListener("input", apply);
    for (const button of buttons)
      button.addEventListener("click", () => { button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true"); apply(); });
  }

  // ---- search

  const MOST = 14;
  const search = document.getElementById("search"), list = document.getElementById("results");
  let things = null, shown = [], chosen = 0, waiting = false;

  // The searchable names: in lower case, as written, the kind, the address.
  function collect() {
    things = [];
    for (const [page, functions, nodes] of window.INDEX) {
      things.push([page.toLowerCase(), page, "operator", page]);
      for (const name of functions) if (name !== page) things.push([name.toLowerCase(), name, "function", page + ".html#" + name.replace(/[^\w.-]+/g, "-")]);
      for (const name of nodes) things.push([name.toLowerCase(), name, "Node", page + ".html#" + name]);
    }
    for (const thing of things) if (thing[2] === "operator") thing[3] += ".html";
  }

  const ORDER = { operator: 0, Node: 1, function: 2 };

  // Less is better: equal, prefix, prefix of a word, substring, letters in order; -1 is no match.
  function distance(name, wanted) {
    if (name === wanted) return 0;
    const at = name.indexOf(wanted);
    if (at === 0) return 1;
    if (at > 0) return /[_.:]/.test(name[at - 1]) ? 2 : 3;
    let place = -1;
    for (const letter of wanted) if ((place = name.indexOf(letter, place + 1)) < 0) return -1;
    return 4;
  }

  function find(text) {
    const wanted = text.trim().toLowerCase().replace(/\s+/g, "_");
    if (!wanted) return [];
    const matches = [];
    for (const thing of things) {
      const far = distance(thing[0], wanted);
      if (far >= 0) matches.push([far, thing]);
    }
    const best = Math.min(...matches.slice(0, 20000).map(([far]) => far));
    return matches.filter(([far]) => far < 4 || best === 4)
      .sort((a, b) => a[0] - b[0] || ORDER[a[1][2]] - ORDER[b[1][2]] || a[1][0].length - b[1][0].length || (a[1][0] < b[1][0] ? -1 : 1))
      .slice(0, MOST).map(([, thing]) => thing);
  }

  function show() {
    const start = performance.now();
    const wanted = search.value.trim().toLowerCase();
    shown = find(search.value);
    chosen = 0;
    list.replaceChildren(...shown.map(([low, name, kind], i) => {
      const item = element("li");
      item.id = "result-" + i;
      item.setAttribute("role", "option");
      const label = element("span", "code"), at = low.indexOf(wanted);
      if (at < 0) label.textContent = name;
      else label.append(name.slice(0, at), element("b", "", name.slice(at, at + wanted.length)), name.slice(at + wanted.length));
      item.append(label, element("span", "kind", kind));
      item.addEventListener("mousedown", event => { event.preventDefault(); go(i); });
      return item;
    }));
    if (wanted && !shown.length) list.append(element("li", "none", "No matches"));
    open(Boolean(wanted));
    choose(0);
    search.dataset.took = performance.now() - start;
  }

  function open(yes) {
    list.hidden = !yes;
    search.setAttribute("aria-expanded", yes);
  }

  function choose(i) {
    if (!shown.length) return search.removeAttribute("aria-activedescendant");
    chosen = (i + shown.length) % shown.length;
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", place === chosen));
    search.setAttribute("aria-activedescendant", "result-" + chosen);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  function go(i) {
    if (!shown[i]) return;
    open(false);
    search.blur();
    location.href = root + "op/" + shown[i][3];
  }

  function load() {
    if (things || waiting) return;
    waiting = true;
    const script = element("script");
    script.src = root + "search.js";
    script.addEventListener("load", () => { collect(); if (search.value) show(); });
    document.head.append(script);
  }

  search.addEventListener("focus", () => { load(); if (things && search.value) show(); });
  search.addEventListener("input", () => { if (things) show(); else load(); });
  search.addEventListener("blur", () => open(false));
  search.addEventListener("keydown", event => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") go(chosen);
    else if (event.key === "Escape") { if (list.hidden) search.blur(); open(false); }
    else return;
    event.preventDefault();
  });
  addEventListener("keydown", event => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
  (window.requestIdleCallback || setTimeout)(load);
})();
