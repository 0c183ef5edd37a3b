"""The style of the page: light, dark and printed."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --wash: #f4f6f8; --ink: #17222d; --soft: #556573; --rule: #d9e0e6;
  --accent: #0b5a8f; --old: #8b98a4; --new: #0b5a8f; --plus: #0b5a8f; --less: #c2570c;
  --on-strong: #ffffff; --warn: #9a3412; --warn-wash: #fff5ec; --none: #eceff2;
  --pass: #17683a; --pass-wash: #eaf6ee; --partly: #8a4b00; --partly-wash: #fff4e0;
  --fail: #a11a1a; --fail-wash: #fdeceb;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #10171e; --wash: #18222b; --ink: #e5ebf0; --soft: #9db0be; --rule: #2b3945;
    --accent: #7cc0f2; --old: #74838f; --new: #7cc0f2; --plus: #56a8e4; --less: #ec8d45;
    --on-strong: #0b1218; --warn: #f5b98a; --warn-wash: #2a1f17; --none: #222e38;
    --pass: #7fd6a0; --pass-wash: #14271c; --partly: #f0bd6b; --partly-wash: #2b2213;
    --fail: #ff9c94; --fail-wash: #331a1a;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main, header > div, footer > div { max-width: 1100px; margin: 0 auto; padding: 0 24px; }
header { background: var(--wash); border-bottom: 1px solid var(--rule); padding: 40px 0 0; }
h1 { font-size: 34px; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 6px;
  font-weight: 650; }
h2 { font-size: 24px; line-height: 1.25; letter-spacing: -0.01em; margin: 0 0 6px;
  font-weight: 650; }
h3 { font-size: 16px; line-height: 1.4; margin: 36px 0 4px; font-weight: 650; }
p { margin: 0 0 12px; max-width: 44em; }
.lead { color: var(--soft); margin-bottom: 20px; overflow-wrap: anywhere; max-width: none; }
.warn {
  background: var(--warn-wash); color: var(--warn); border-left: 3px solid currentColor;
  padding: 10px 16px; margin: 0 0 24px; font-size: 14.5px; max-width: none;
}
.verdict { display: flex; gap: 10px 22px; align-items: flex-start; padding: 16px 20px;
  margin: 0 0 16px; border-radius: 6px; border: 1px solid var(--edge);
  background: var(--back); --edge: var(--soft); --back: var(--paper); }
.verdict > strong { flex: none; background: var(--edge); color: var(--paper); border-radius: 4px;
  padding: 4px 14px; font-size: 20px; letter-spacing: .03em; }
.verdict > div { min-width: 0; }
.verdict p { font-size: 18px; margin: 3px 0 0; max-width: 46em; overflow-wrap: anywhere; }
.verdict.pass { --edge: var(--pass); --back: var(--pass-wash); }
.verdict.partly { --edge: var(--partly); --back: var(--partly-wash); }
.verdict.fail { --edge: var(--fail); --back: var(--fail-wash); }
.verdict dl { margin: 10px 0 0; font-size: 14.5px; }
.verdict dl > div { display: flex; gap: 2px 16px; flex-wrap: wrap; margin: 2px 0 0; }
.verdict dt { color: var(--soft); flex: 0 0 11em; }
.verdict dd { margin: 0; flex: 1 1 16em; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 2px 22px; padding-bottom: 14px; font-size: 14.5px; }
nav a { color: var(--accent); text-decoration: none; padding: 4px 0; }
nav a:hover, nav a:focus { text-decoration: underline; }
section { padding: 52px 0 0; scroll-margin-top: 8px; }
section > p { color: var(--soft); }
.keys { display: grid; grid-template-columns: repeat(4, 1fr); gap: 16px; margin: 36px 0 32px;
  padding: 0; }
.keys > div { border-top: 3px solid var(--accent); padding: 12px 8px 0 0; }
.keys dt { font-size: 14px; color: var(--soft); }
.keys dd { margin: 0; }
.keys .figure { font-size: 34px; line-height: 1.25; font-weight: 650; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.keys .note { font-size: 13.5px; line-height: 1.45; color: var(--soft); }
.summary { margin: 0; padding: 0; list-style: none; font-size: 18px; line-height: 1.55;
  max-width: 46em; }
.summary li { margin: 0 0 8px; overflow-wrap: anywhere; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(310px, 1fr));
  gap: 28px 24px; }
.grid.big { grid-template-columns: repeat(auto-fill, minmax(min(480px, 100%), 1fr)); }
pre { background: var(--wash); border: 1px solid var(--rule); border-radius: 4px; margin: 8px 0 0;
  padding: 10px 14px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13.5px;
  line-height: 1.5; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
p code { font-size: .92em; background: var(--wash); padding: 1px 5px; }
details { margin: 22px 0 0; }
details details, td details, dd details { margin: 0; }
summary { cursor: pointer; color: var(--accent); overflow-wrap: anywhere; }
summary h3 { display: inline; } summary span { color: var(--soft); font-size: 14px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr));
  gap: 28px 40px; align-items: start; }
figure { margin: 20px 0 0; min-width: 0; }
.grid figure { margin-top: 12px; }
figcaption { font-size: 14.5px; font-weight: 600; margin-bottom: 6px; overflow-wrap: anywhere; }
figcaption span { font-weight: 400; color: var(--soft); }
.scroll { overflow-x: auto; max-width: 100%; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
figure svg { display: block; width: 100%; height: auto; }
figure .wide svg { max-width: 560px; }
figure .map svg { max-width: 860px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; font-size: 14px; color: var(--soft);
  margin: 10px 0 0; }
.legend span { display: inline-flex; align-items: center; gap: 8px; }
.legend i { width: 24px; height: 12px; display: inline-block; }
.legend .old { background: color-mix(in srgb, var(--old) 35%, transparent);
  border-top: 1.5px solid var(--old); }
.legend .new { height: 0; border-top: 2.5px solid var(--new); }
svg.sample { width: 14px; height: 14px; }
svg text { font-family: inherit; fill: var(--soft); font-size: 11px;
  font-variant-numeric: tabular-nums; }
svg .label { font-size: 11.5px; }
svg .value { fill: var(--ink); }
svg .leader { stroke: var(--soft); stroke-width: .8; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .before-area { fill: var(--old); fill-opacity: .28; }
svg .before-line { fill: none; stroke: var(--old); stroke-width: 1.2; }
svg .after-line { fill: none; stroke: var(--new); stroke-width: 2.2; stroke-linejoin: round; }
svg .bar { fill: var(--new); fill-opacity: .82; }
svg .plus { fill: var(--plus); } svg .less { fill: var(--less); } svg .none { fill: var(--none); }
svg .entry { fill: var(--ink); } svg .entry.strong { fill: var(--on-strong); }
svg .mark { stroke: var(--paper); stroke-width: 1; }
svg .shade0 { fill: var(--new); } svg .shade1 { fill: var(--less); }
svg .shade2 { fill: var(--old); } svg .shade3 { fill: var(--ink); }
svg .chosen { fill: var(--ink); } svg .chosen-ring { fill: none; stroke: var(--ink);
  stroke-width: 2; }
svg .chosen-label { fill: var(--ink); font-weight: 700; font-size: 12.5px; }
table { border-collapse: collapse; font-size: 14px; line-height: 1.4; margin: 12px 0 4px;
  width: 100%;
  font-variant-numeric: tabular-nums; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
th, td { padding: 6px 12px; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap;
  vertical-align: baseline; }
th { font-weight: 600; color: var(--soft); border-bottom-color: var(--soft); }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
th.left, td.left { text-align: left; }
thead th { white-space: normal; vertical-align: bottom; }
thead th.over { text-align: center; border-bottom: 1px solid var(--rule); }
tbody th { text-align: left; color: var(--ink); border-bottom-color: var(--rule); font-weight: 500;
  white-space: normal; overflow-wrap: break-word; min-width: 9em; }
tr.first td { border-bottom-color: transparent; padding-bottom: 0; }
tr.second td:first-child { padding-left: 12px; }
tr.this td, tr.this th { font-weight: 650; background: var(--wash); }
table.facts { width: auto; min-width: min(560px, 100%); margin: 12px 0 0; }
.pair table.facts { width: 100%; min-width: 0; } .pair.tight { row-gap: 0; }
table.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.facts.numbers td { text-align: right; white-space: nowrap; }
table.facts:not(.numbers) th { width: 38%; }
table.facts th { vertical-align: top; white-space: normal; padding-right: 32px;
  color: var(--soft); }
dl.terms { margin: 16px 0 0; display: grid; grid-template-columns: minmax(9em, 14em) 1fr;
  gap: 14px 32px; }
dl.terms dt { font-weight: 600; } dl.terms dd { margin: 0; color: var(--soft); max-width: 44em; }
footer { margin-top: 64px; border-top: 1px solid var(--rule); padding: 22px 0 48px;
  font-size: 14px;
  color: var(--soft); }
@media screen and (max-width: 760px) {
  header { padding-top: 24px; } main, header > div, footer > div { padding: 0 16px; }
  h1 { font-size: 27px; } h2 { font-size: 21px; } section { padding-top: 40px; }
  .keys { grid-template-columns: repeat(2, 1fr); gap: 22px 16px; margin: 26px 0; }
  .keys .figure { font-size: 27px; } .summary { font-size: 16.5px; }
  dl.terms { grid-template-columns: 1fr; gap: 2px; } dl.terms dd { margin-bottom: 14px; }
  th, td { padding: 6px 9px; } tbody th { min-width: 7em; }
  table.facts th { min-width: 0; } tr.second td:first-child { padding-left: 9px; }
  figure .map svg { width: 620px; }
  .grid.big svg { min-width: 480px; } .grid.big figure { overflow-x: auto; }
  .verdict { flex-direction: column; padding: 14px 16px; } .verdict p { font-size: 16.5px; }
}
@media print {
  @page { size: A4; margin: 16mm 14mm 18mm; font: 8pt system-ui, sans-serif; color: #556573;
    @bottom-right { content: "Page " counter(page) " of " counter(pages); } }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10.5pt; } nav, footer { display: none; }
  header { padding-top: 0; background: none; }
  main, header > div, footer > div { max-width: none; padding: 0; }
  section { padding-top: 22pt; } h2, h3, figcaption, summary { break-after: avoid; }
  figure, tr, .keys, .verdict, pre, .short, .facts:not(:has(details)), dl.terms > * {
    break-inside: avoid; }
  tr:has(details) { break-inside: auto; } section > p { break-after: avoid; }
  tbody tr:nth-child(-n + 3), tbody tr:last-child { break-before: avoid; }
  dl.terms { display: block; } dl.terms dt { break-after: avoid; margin-top: 8pt; }
  p, li { break-inside: avoid; }
  section details::details-content { content-visibility: visible; block-size: auto; }
  summary { list-style: none; color: inherit; } td details > summary { display: none; }
  .verdict > strong { font-size: 15pt; } .verdict p { font-size: 12pt; }
  .keys { grid-template-columns: repeat(4, 1fr); } .keys .figure { font-size: 20pt; }
  .legend { break-after: avoid; }
  tr.second td:first-child { padding-left: 4pt; }
  .grid { grid-template-columns: repeat(2, 1fr); gap: 10pt 20pt; }
  .grid.big { grid-template-columns: 1fr; } .grid.big svg { max-width: 130mm; }
  .pair { display: block; } .pair > * + * { margin-top: 12pt; }
  figure .wide svg { max-width: 110mm; }
  .scroll { overflow: visible; } figure .wide svg, figure .map svg { min-width: 0; }
  table { font-size: 8pt; } th, td { padding: 3pt 4pt; }
  dl.terms { font-size: 9pt; } dl.terms dd { max-width: none; }
}
"""
