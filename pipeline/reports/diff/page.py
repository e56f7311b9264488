"""The page around an HTML report: structure, style and the script that filters. Holes are $names."""

from __future__ import annotations

from string import Template

PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<header>
<h1>$title</h1>
<p>$figures</p>
</header>
<nav>
<div class="kinds">
$chips</div>
<input id="search" type="search" placeholder="operator or Node" aria-label="operator or Node">
<span id="shown" aria-live="polite"></span>
</nav>
<main>
$body</main>
<script>
$script</script>
</body>
</html>
""")

STYLE = """\
:root { --text: #1c2024; --soft: #60646c; --line: #d9dbe0; --back: #fff; --card: #f8f9fb; --link: #0b5cad;
  --old: #fff1f0; --new: #effaf1; --del: #ffc9c5; --ins: #b4e8bf; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e6ea; --soft: #9ba1ab; --line: #3a3f47; --back: #16181c; --card: #1e2126; --link: #7db7f5;
    --old: #2c1f20; --new: #1b2820; --del: #7a2f2f; --ins: #23623a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem; color: var(--text); background: var(--back);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
header p { margin: .25rem 0 1rem; color: var(--soft); }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  overflow-wrap: anywhere; }
nav { position: sticky; top: 0; padding: .75rem 0; background: var(--back); border-bottom: 1px solid var(--line);
  z-index: 1; }
.kinds { display: flex; flex-wrap: wrap; gap: .4rem; margin-bottom: .5rem; }
.kinds button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: .1rem .7rem; cursor: pointer; }
.kinds button[aria-pressed=true] { color: #fff; background: #0b5cad; border-color: #0b5cad; }
.kinds b { margin-left: .3rem; }
#search { font: inherit; width: 20rem; max-width: 100%; padding: .25rem .6rem; color: inherit;
  background: var(--back); border: 1px solid var(--line); border-radius: .4rem; }
#shown { margin-left: .75rem; color: var(--soft); }
article { margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem; overflow: hidden;
  scroll-margin-top: 8rem; }
article:target { border-color: var(--link); }
article > div.head { padding: .5rem .9rem; background: var(--card); border-bottom: 1px solid var(--line); }
h3 { display: inline; font-size: 1rem; margin: 0 .5rem 0 0; }
h3 a { color: inherit; }
h3 code { font-size: .95rem; font-weight: 600; }
.tag { display: inline-block; font-size: .8rem; padding: 0 .5rem; margin-right: .3rem; border-radius: .6rem;
  border: 1px solid var(--line); background: var(--back); }
.tag.added, .tag.gradient-gained, .tag.forward-gained { background: var(--new); }
.tag.removed, .tag.gradient-lost, .tag.forward-lost { background: var(--old); }
.where { color: var(--soft); font-size: .85rem; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th { width: 11rem; text-align: left; font-weight: normal; color: var(--soft); }
th, td { padding: .35rem .9rem; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
tr:first-child > * { border-top: 0; }
td.old, .side.old { background: var(--old); }
td.new, .side.new { background: var(--new); }
td + td { border-left: 1px solid var(--line); }
.side { white-space: nowrap; padding: 0 .5rem; border-radius: .3rem; color: var(--text); }
td.none { color: var(--soft); }
del, ins { text-decoration: none; border-radius: .2rem; padding: 0 .05rem; }
del { background: var(--del); }
ins { background: var(--ins); }
.plain li { margin: .15rem 0; }
details > summary { cursor: pointer; padding: .4rem .9rem; background: var(--card); }
details[open] > summary { border-bottom: 1px solid var(--line); }
[hidden] { display: none !important; }
@media (max-width: 50rem) { nav { position: static; } table, tbody, tr, th, td { display: block; width: 100%; }
  table th, table td { border: 0; } tr + tr { border-top: 1px solid var(--line); } th { padding-bottom: 0; }
  td.none { display: none; } article { scroll-margin-top: 1rem; } }
@media print { nav { display: none; } article { break-inside: avoid; } body { max-width: none; padding: 0; } }
"""

SCRIPT = """\
const items = [...document.querySelectorAll('[data-kinds]')];
const buttons = [...document.querySelectorAll('.kinds button')];
const search = document.getElementById('search');
function filter() {
  const chosen = buttons.filter(b => b.getAttribute('aria-pressed') === 'true').map(b => b.dataset.kind);
  const text = search.value.trim().toLowerCase();
  let shown = 0;
  for (const item of items) {
    const kinds = item.dataset.kinds.split(' ');
    const fits = (!chosen.length || chosen.some(k => kinds.includes(k))) && item.dataset.name.includes(text);
    item.hidden = !fits;
    shown += fits;
  }
  for (const section of document.querySelectorAll('section'))
    section.hidden = !section.querySelector('[data-kinds]:not([hidden])');
  document.getElementById('shown').textContent = shown + ' of ' + items.length + ' shown';
}
for (const button of buttons)
  button.addEventListener('click', () => {
    button.setAttribute('aria-pressed', button.getAttribute('aria-pressed') !== 'true');
    filter();
  });
search.addEventListener('input', filter);
filter();
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const around = target && target.closest('details');
  if (around) around.open = true;
}
addEventListener('hashchange', openTarget);
openTarget();
"""
