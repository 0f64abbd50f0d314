import { escapeHtml } from '../../base/text/escape-html.ts';
import type { ServiceStatus, StatusDay, StatusState } from '../../protocol/service-status.ts';

const STYLE = `:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--link:#0b5cad;--ok:#1a7f45;
--warn:#a15c00;--bad:#c0262d;--none:#8a8f98}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--text:#e6e8ea;--link:#8ab8ff;--ok:#4cc27d;
--warn:#e3a23c;--bad:#ff7a7a;--none:#7d838c}}
body{background:var(--page);color:var(--text);
font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:46rem;padding:1.5rem 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:0}
header p{font-weight:600;border:1px solid;border-radius:8px;padding:.75rem 1rem}
section,footer{margin-top:2rem}section div{display:flex;justify-content:space-between;gap:1rem}
p{margin:.3rem 0}ol{display:flex;gap:1px;height:2rem;list-style:none;margin:.5rem 0;padding:0}
li{background:var(--none);border-radius:1px;flex:1;overflow:hidden}
li span{display:block;text-indent:-999px;white-space:nowrap}
a{color:var(--link)}.operational{color:var(--ok)}.degraded{color:var(--warn)}.outage{color:var(--bad)}
li.operational{background:var(--ok)}li.degraded{background:var(--warn)}li.outage{background:var(--bad)}`;

const names: Readonly<Record<StatusState, string>> = {
  operational: 'Operational',
  degraded: 'Degraded performance',
  outage: 'Outage',
};

const summaries: Readonly<Record<StatusState, string>> = {
  operational: 'All networks are operational',
  degraded: 'Some requests are slow or fail',
  outage: 'At least one network is unavailable',
};

function dayText({ date, state, degradedMinutes, outageMinutes }: StatusDay): string {
  if (state === null) return `${date}: No data`;
  const parts = [
    outageMinutes > 0 ? `outage for ${outageMinutes} min` : '',
    degradedMinutes > 0 ? `degraded for ${degradedMinutes} min` : '',
  ].filter(Boolean);
  return `${date}: ${parts.length === 0 ? names.operational : parts.join(', ')}`;
}

const dayItem = (day: StatusDay): string => {
  const text = dayText(day);
  return `<li class="${day.state ?? 'none'}" title="${text}"><span>${text}</span></li>`;
};

/** Rounded down, so that an outage never shows as 100%. */
const percent = (share: number): string => `${(Math.floor(share * 10_000) / 100).toFixed(2)}%`;

/** A new service has no data of most days. */
function periodText(days: readonly StatusDay[]): string {
  const first = days.find(({ state }) => state !== null);
  return first === undefined || first === days[0] ? `in the last ${days.length} days` : `since ${first.date}`;
}

function section({ network, state, availability, days }: ServiceStatus['networks'][number]): string {
  const history =
    availability === null
      ? '<p>The history is currently unavailable.</p>'
      : `<ol>${days.map(dayItem).join('')}</ol>
<p>${percent(availability)} available ${periodText(days)}</p>`;
  return `<section><div><h2>${escapeHtml(network)}</h2><p class="${state}">${names[state]}</p></div>
${history}</section>`;
}

/** Renders the public status page, without scripts. */
export const statusPage = ({ state, updatedAt, networks }: ServiceStatus): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Service status</title><style>${STYLE}</style></head><body>
<header><h1>Service status</h1><p class="${state}">${summaries[state]}</p></header>
<main>${networks.map(section).join('\n')}</main>
<footer><p>Updated ${escapeHtml(updatedAt.slice(0, 16).replace('T', ' '))} UTC.
Days are UTC. <a href="/status.json">JSON</a></p></footer>
</body></html>
`;
