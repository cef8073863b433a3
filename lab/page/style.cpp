#include "page/parts.h"

namespace inlay::lab::page {

// The colours are those of the pictures, by Okabe and Ito: a colour-blind reader can tell them apart.
char const* style() {
  return R"(:root {
  --page: #ffffff; --ink: #24292f; --pale: #59636e; --line: #d5dbe1; --cell: #f3f5f7; --track: #e9edf1;
  --tutorial: #0072b2; --own: #1f8a5f; --peer: #b8680f; --copy: #8b949e; --costly: #b34700; --link: #005a8f;
  --comment: #59636e; --literal: #8a4b00; --keyword: #7a2e8a; --directive: #006d54;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) { :root {
  --page: #0d1117; --ink: #e6edf3; --pale: #9198a1; --line: #353c45; --cell: #151b23; --track: #21272f;
  --tutorial: #3a96d6; --own: #2fa876; --peer: #d5812f; --copy: #7d868f; --costly: #f0813a; --link: #6cb6f5;
  --comment: #9198a1; --literal: #e3b36b; --keyword: #d2a8ff; --directive: #56c9a4;
} }
* { box-sizing: border-box }
html { color-scheme: light dark; scroll-padding-top: 3.2rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; overflow-wrap: break-word }
main { max-width: 88rem; margin: 0 auto; padding: 0 1.5rem 4rem }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
h1 { font-size: 2.4rem; line-height: 1.15; letter-spacing: -.02em; margin: 2.5rem 0 .8rem }
h2 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -.01em; margin: 3.5rem 0 .6rem }
h4 { font-size: .9rem; margin: 1.4rem 0 .4rem }
p { margin: .4rem 0 .8rem } section p, header p { max-width: 50rem }
small, h2 small, h4 small { font-size: .8em; font-weight: 400; color: var(--pale) }
code, pre { font-family: var(--mono) }
nav.top { position: sticky; top: 0; z-index: 1; display: flex; gap: 1.3rem; overflow-x: auto; padding: .55rem max(1.5rem, calc((100% - 85rem) / 2)); background: var(--page); border-bottom: 1px solid var(--line); font-size: .92rem; white-space: nowrap }
nav.top a { color: var(--ink) }
.lead { font-size: 1.15rem }
.headlines { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1.6rem 0 }
.headlines div { max-width: 19rem } .headlines strong { display: block; font-size: 2.2rem; line-height: 1.1; font-weight: 650; letter-spacing: -.02em }
.headlines span { color: var(--pale); font-size: .92rem } .headlines code { font-size: .92em }
dl, dd, dt { margin: 0 }
.terms { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .8rem 2rem; border-top: 1px solid var(--line); padding-top: 1rem; font-size: .9rem }
.terms dt { font-weight: 600 } .terms dd { color: var(--pale) }
)"
         R"(.bars { max-width: 70rem; font-size: .9rem }
.bars h4 { margin: .9rem 0 .2rem; font-size: .82rem }
h4.copy { color: var(--pale) } h4.tutorial { color: var(--tutorial) } h4.own, h4.public { color: var(--own) } h4.peer { color: var(--peer) }
.bar { display: grid; grid-template-columns: 22rem 1fr 3.4rem 6rem; gap: 0 .8rem; align-items: center; line-height: 1.65 }
.bar .name { font-family: var(--mono); font-size: .84em; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.bar .share, .bar .rate { text-align: right; font-variant-numeric: tabular-nums } .bar .share { font-weight: 600 } .bar .rate { color: var(--pale) }
.track { position: relative; align-self: stretch; min-height: 1.1rem } .track::after { content: ''; position: absolute; left: var(--one); top: 0; bottom: 0; border-left: 1.5px solid var(--ink); opacity: .55 }
.track i { position: absolute; left: 0; top: 18%; bottom: 18%; border-radius: 0 2px 2px 0 }
.track b { position: absolute; top: 6%; bottom: 6%; width: 3px; margin-left: -1.5px; background: var(--ink); outline: 1px solid var(--page) }
i.copy { background: var(--copy) } i.tutorial { background: var(--tutorial) } i.own, i.public { background: var(--own) } i.peer { background: var(--peer) }
.axis, .axis .share { color: var(--pale); font-size: .82rem; font-weight: 400 } .axis .track span { position: absolute; right: calc(100% - var(--one) + .4rem); white-space: nowrap } .bar.axis .rate { color: var(--pale) }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5rem 2.5rem; align-items: start }
figure { margin: 1rem 0 } figcaption { color: var(--pale); font-size: .88rem }
.plot { display: block; width: 100%; height: auto; font-size: 13px }
.plot text { fill: var(--ink) } .plot .tick, .plot .name { fill: var(--pale); font-size: 12px } .middle { text-anchor: middle } .end { text-anchor: end }
.plot .grid { stroke: var(--line); stroke-width: .7 } .plot .roof { stroke: var(--ink); stroke-width: 2; stroke-linecap: round } .plot .roof-name { font-weight: 600; font-size: 12px }
.plot .peer-line { stroke: var(--peer); stroke-dasharray: 5 4 } .plot .peer-name { fill: var(--peer); font-size: 12px }
.plot circle { stroke: var(--page); stroke-width: 1 } .plot circle.tutorial { fill: var(--tutorial) } .plot circle.own { fill: var(--own) }
.plot .predicted { stroke: var(--ink); stroke-width: 2 } .plot .between { stroke: var(--pale); stroke-width: 1 } .plot .leader { stroke: var(--pale); stroke-width: .7 }
.plot .step { font-family: var(--mono); font-size: 12px } .plot .step tspan { fill: var(--link); font-weight: 600 }
)"
         R"(.scroll { overflow-x: auto; max-width: 100%; background: linear-gradient(90deg, var(--page) 50%, transparent) local left / 3rem 100% no-repeat, linear-gradient(-90deg, var(--page) 50%, transparent) local right / 3rem 100% no-repeat, linear-gradient(90deg, var(--line), transparent) left / .8rem 100% no-repeat, linear-gradient(-90deg, var(--line), transparent) right / .8rem 100% no-repeat }
table { border-collapse: collapse; width: 100%; font-size: .84rem; font-variant-numeric: tabular-nums }
th, td { padding: .22rem .4rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line) }
th:first-child { text-align: left; padding-left: 0 } .word { text-align: left } tbody th { font-weight: 400 } thead th { color: var(--pale); font-weight: 400; font-size: .92em }
td.word { color: var(--pale) } .resources td.word { white-space: normal; min-width: 10rem }
.times tbody th { white-space: normal; min-width: 9rem } .times th small, .name small { display: inline-block }
.off { position: relative; display: inline-block; width: 5rem; height: .8rem; background: linear-gradient(var(--pale), var(--pale)) center / 1px 100% no-repeat, var(--track) }
.off i { position: absolute; top: 0; bottom: 0; background: var(--peer) }
.meter { display: inline-block; vertical-align: middle; width: 6rem; height: .7rem; background: var(--track) } .meter i { display: block; height: 100%; background: var(--tutorial) }
tr.costly th, tr.costly .each { color: var(--costly); font-weight: 600 } tr.costly small { color: var(--costly) }
.advice td { text-align: left; white-space: normal; color: var(--pale); padding-left: 1rem; font-size: .95em }
#contents ul { list-style: none; margin: .3rem 0 1rem; padding: 0; columns: 17rem; font: .84rem/1.8 var(--mono) } #contents h3 { font-size: 1rem; margin: .8rem 0 0 }
.step { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: .5rem }
.step h3 { font-size: 1.3rem; margin: .8rem 0 .2rem; line-height: 1.3 } .step h3 a { color: inherit } .step h3 code { font-size: .62em; font-weight: 400; color: var(--pale); margin-left: .5rem }
.number { color: var(--pale); font-variant-numeric: tabular-nums }
.idea { font-size: 1.05rem; margin: 0 } .source { color: var(--pale); font-size: .88rem; margin: .1rem 0 }
.published { margin: .1rem 0; padding: 0; list-style: none; color: var(--pale); font-size: .84rem } .published li { display: inline } .published li + li::before { content: ' · ' }
.figures { display: flex; flex-wrap: wrap; gap: .6rem 2rem; margin: .9rem 0 .6rem } .figures dt { color: var(--pale); font-size: .8rem } .figures dd { font-size: 1.15rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums } .figures small { display: block; font-size: .76rem }
.beside { display: grid; grid-template-columns: minmax(0, 11fr) minmax(0, 12fr); gap: 0 2rem; align-items: start }
.launches { margin: .6rem 0; padding-left: 1.1rem; font-size: .84rem; color: var(--pale) } .next { font-size: .92rem }
.code { min-width: 0 } .file { font-family: var(--mono); font-size: .78rem; color: var(--pale); margin: 1.5rem 0 .3rem }
pre { margin: 0; padding: .8rem 1rem; background: var(--cell); border: 1px solid var(--line); border-radius: 6px; overflow: auto; max-height: 34rem; font-size: .75rem; line-height: 1.5; tab-size: 2 }
pre em, pre i, pre q { font-style: normal } pre q::before, pre q::after { content: none } pre em { color: var(--comment) } pre q { color: var(--literal) } pre i { color: var(--directive) } pre b { color: var(--keyword); font-weight: 400 }
details { margin: .4rem 0 } .step summary { color: var(--link); font-family: inherit } summary { cursor: pointer; font-family: var(--mono); font-size: .88rem }
.pictures svg { display: block; min-width: 40rem; max-width: 54rem; width: 100%; height: auto }
.rooflines figure { margin: 2rem 0; display: grid; grid-template-columns: minmax(0, 43rem) minmax(0, 1fr); gap: .5rem 2.5rem; align-items: start }
.rooflines figcaption h3 { margin: .3rem 0; font-size: 1.05rem; color: var(--ink) } .rooflines ol { list-style: none; margin: 0; padding: 0; columns: 9.5rem; font-size: .84rem; line-height: 1.7 }
@media (max-width: 62rem) { .beside, .pair, .rooflines figure { margin: 2rem 0; grid-template-columns: minmax(0, 1fr) } pre { max-height: 28rem } }
@media (max-width: 44rem) {
  main { padding: 0 1rem 3rem } nav.top { padding: .55rem 1rem; gap: 1rem } h1 { font-size: 1.9rem; margin-top: 1.5rem } h2 { margin-top: 2.5rem; font-size: 1.4rem } .lead { font-size: 1.05rem }
  .bar { grid-template-columns: 1fr auto 4.9rem; gap: 0 .5rem; margin-bottom: .25rem } .bar .name { grid-column: 1; font-size: .75em; white-space: normal; line-height: 1.4 } .bar .share { grid-column: 2; grid-row: 1 } .bar .rate { grid-column: 3; grid-row: 1 } .bar .track { grid-column: 1 / -1; grid-row: 2; min-height: .8rem }
  table { font-size: .64rem } th, td { padding: .2rem .1rem } tbody th, .times .word { white-space: normal } .times .bar-cell { display: none } .times tbody th { min-width: 5rem } .resources td.word { min-width: 6rem }
  .meter { width: 1.8rem } #contents ul { line-height: 1.5 } .step { margin-top: .8rem; padding-top: .3rem } .step h3 { font-size: 1.15rem; margin: .4rem 0 .1rem } .step h3 code { display: block; margin: 0 }
  .idea { font-size: .95rem; line-height: 1.4 } .source { font-size: .8rem } .published { font-size: .76rem } .step summary { font-size: .76rem }
  .figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: .3rem .6rem; margin: .4rem 0 .2rem } .figures dt { font-size: .7rem } .figures dd { font-size: .95rem } .figures small { display: none }
}
@media print { nav.top { display: none } details::details-content { content-visibility: visible; block-size: auto } * { print-color-adjust: exact; -webkit-print-color-adjust: exact } pre { max-height: none; white-space: pre-wrap } .scroll { overflow: visible } .step { break-inside: auto } figure, .bar, tr { break-inside: avoid } main { max-width: none; padding: 0 } .beside { display: block } body { font-size: 11px } }
)";
}

}  // namespace inlay::lab::page
