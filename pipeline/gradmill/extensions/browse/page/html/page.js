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

  // ---- lists: filters and the order are in the address, so that a link leads to what it counts

  const table = document.getElementById("rows");
  if (table) {
    const filter = document.getElementById("filter"), counter = document.getElementById("shown"), body = table.tBodies[0];
    const rows = [...body.rows].map(row => [row, row.textContent.toLowerCase(), (row.dataset.traits || "").split(" ")]);
    const headings = [...table.tHead.rows[0].cells], buttons = [...document.querySelectorAll("[data-trait]")];
    const traits = buttons.map(button => button.dataset.trait);
    let only = [], column = -1, descending = false;

    // `#forward`, as links without JavaScript have it, or `#only=forward,saves&q=conv&sort=-2`.
    function read() {
      const text = decodeURIComponent(location.hash.slice(1));
      const values = new URLSearchParams(traits.includes(text) ? "only=" + text : text.includes("=") ? text : "");
      only = (values.get("only") || "").split(",").filter(trait => traits.includes(trait));
      const sort = values.get("sort") || "";
      descending = sort.startsWith("-");
      column = (parseInt(sort.replace("-", ""), 10) || 0) - 1;
      if (!(column < headings.length)) column = -1;
      if (filter) filter.value = values.get("q") || "";
      order();
      apply();
    }

    function write() {
      const values = [];
      if (only.length) values.push("only=" + only.join(","));
      if (filter && filter.value.trim()) values.push("q=" + encodeURIComponent(filter.value.trim()));
      if (column >= 0) values.push("sort=" + (descending ? "-" : "") + (column + 1));
      const plain = values.length === 1 && only.length === 1 ? only[0] : values.join("&");
      history.replaceState(null, "", "#" + plain);
    }

    function apply() {
      const wanted = filter ? filter.value.trim().toLowerCase() : "";
      let shown = 0;
      for (const [row, text, has] of rows) {
        const fits = text.includes(wanted) && only.every(trait => has.includes(trait));
        if (row.hidden === fits) row.hidden = !fits;
        shown += fits;
      }
      for (const button of buttons) button.setAttribute("aria-pressed", only.includes(button.dataset.trait));
      const of = rows.length.toLocaleString("en");
      if (counter) counter.textContent = shown === rows.length ? of : shown.toLocaleString("en") + " of " + of;
    }

    const number = text => /^[\d,]+/.test(text) ? parseInt(text.replace(/,/g, ""), 10) : -1;

    function order() {
      headings.forEach((heading, at) => {
        if (at === column) heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        else heading.removeAttribute("aria-sort");
      });
      let sorted = rows;
      if (column >= 0) {
        const keyed = rows.map(([row]) => [row.cells[column], row]);
        const numeric = keyed.some(([cell]) => cell.className === "number");
        const keys = new Map(keyed.map(([cell, row]) => {
          const text = cell.textContent.trim();
          return [row, numeric ? number(text) : text === "—" ? "" : text.replace(/^_+/, "").toLowerCase()];
        }));
        const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
        // Cells without a value come last in either order.
        sorted = [...rows].sort(([a], [b]) => (keys.get(a) === "") - (keys.get(b) === "") || compare(keys.get(a), keys.get(b)));
      }
      body.replaceChildren(...sorted.map(([row]) => row));
    }

    headings.forEach((heading, at) => {
      const button = element("button", "sort", heading.textContent);
      button.type = "button";
      button.addEventListener("click", () => {
        const numeric = rows.some(([row]) => row.cells[at].className === "number");
        if (column !== at) [column, descending] = [at, numeric];
        else if (descending !== numeric) [column, descending] = [-1, false];
        else descending = !descending;
        order();
        write();
      });
      heading.replaceChildren(button);
    });
    for (const button of buttons) {
      const trait = button.dataset.trait;
      const toggle = event => {
        event.preventDefault();
        only = only.includes(trait) ? only.filter(each => each !== trait) : [...only, trait];
        apply();
        write();
      };
      button.setAttribute("role", "button");
      button.addEventListener("click", toggle);
      button.addEventListener("keydown", event => { if (event.key === " ") toggle(event); });
    }
    if (filter) filter.addEventListener("input", () => { apply(); write(); });
    addEventListener("hashchange", read);
    if (location.hash) read();
    else apply();
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
    for (const thing of things) thing[3] = "op/" + thing[3];
    for (const [kind, name, address] of window.MORE || []) things.push([name.toLowerCase(), name, kind, address]);
  }

  const ORDER = { operator: 0, helper: 1, graph: 2, Node: 3, function: 4 };

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
    if (wanted && !shown.length) {
      const none = element("li", "none", "No matches");
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      list.append(none);
    }
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
    location.href = root + shown[i][3];
  }

  function load() {
    if (things || waiting) return;
    waiting = true;
    let missing = 2;
    for (const name of ["search.js", "more.js"]) {
      const script = element("script");
      script.src = root + name;
      script.addEventListener("load", () => { if (--missing === 0) { collect(); if (search.value) show(); } });
      document.head.append(script);
    }
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
