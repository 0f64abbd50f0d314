/** How the page looks: light or dark as the reader's system is, with nothing from elsewhere. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --text: #1b1f24; --quiet: #57606a; --edge: #d0d7de; --grid: #e7ebef; --raised: #f6f8fa;
  --good: #1a7f37; --bad: #cf222e; --open: #7d5700;
  --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; --c4: #bf3989; --c5: #4d6a00; --c6: #007b8a; --c7: #57606a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1117; --text: #e6edf3; --quiet: #9ea7b3; --edge: #30363d; --grid: #21262d; --raised: #161b22;
    --good: #56d364; --bad: #ff7b72; --open: #e3b341;
    --c0: #58a6ff; --c1: #f0883e; --c2: #56d364; --c3: #bc8cff; --c4: #f778ba; --c5: #c6d94b; --c6: #39c5cf; --c7: #9ea7b3;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--text);
  font: 15px/1.55 system-ui, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .35rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; padding-bottom: .3rem; border-bottom: 1px solid var(--edge); }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p { max-width: 48rem; margin: .5rem 0; }
.quiet, figcaption, summary, .keys { color: var(--quiet); }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
.banner { margin: 1.2rem 0; padding: .8rem 1rem; border: 1px solid var(--edge); border-left: 5px solid; border-radius: 6px;
  background: var(--raised); }
.banner.kept { border-left-color: var(--good); }
.banner.broken { border-left-color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .38rem .7rem .38rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
th { font-weight: 600; color: var(--quiet); white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td ul { margin: .3rem 0 0; padding-left: 1.1rem; }
.kept { color: var(--good); } .broken { color: var(--bad); } .unjudged { color: var(--open); }
.banner.kept, .banner.broken { color: var(--text); }
.state { font-weight: 600; white-space: nowrap; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: .6rem 1.6rem; }
figure { margin: .4rem 0 .8rem; min-width: 0; }
figcaption { font-size: .87rem; }
.plot { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 24rem; height: auto; }
svg text { fill: var(--quiet); font: 12px system-ui, sans-serif; }
.grid { stroke: var(--grid); stroke-width: 1; fill: none; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
.line.c0 { stroke: var(--c0); } .line.c1 { stroke: var(--c1); } .line.c2 { stroke: var(--c2); }
.line.c3 { stroke: var(--c3); } .line.c4 { stroke: var(--c4); } .line.c5 { stroke: var(--c5); }
.line.c6 { stroke: var(--c6); } .line.c7 { stroke: var(--c7); }
.keys { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: 0; padding: 0; list-style: none; font-size: .87rem; }
.key { display: inline-block; width: .9rem; height: .2rem; margin-right: .4rem; vertical-align: middle; }
.key.c0 { background: var(--c0); } .key.c1 { background: var(--c1); } .key.c2 { background: var(--c2); }
.key.c3 { background: var(--c3); } .key.c4 { background: var(--c4); } .key.c5 { background: var(--c5); }
.key.c6 { background: var(--c6); } .key.c7 { background: var(--c7); }
details { margin: .3rem 0 .8rem; font-size: .9rem; }
summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; margin: .6rem 0; }
dt { color: var(--quiet); } dd { margin: 0; min-width: 0; }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
`;
