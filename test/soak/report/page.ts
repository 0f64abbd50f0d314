import { Html, html } from './html.ts';
import { isWhole, type Outcome } from './outcome.ts';
import { pageStyle } from './page-style.ts';
import { timeText } from './plot.ts';
import { processesSection } from './processes-section.ts';
import type { Logged, SoakResult } from './soak-result.ts';
import { errorsSection, loadTable, surfacesSection } from './surfaces-section.ts';
import { tableOf } from './table.ts';

/** Written by us and by nobody else, so it is not escaped. */
const style = new Html(`<style>${pageStyle}</style>`);

function stateOf({ isFulfilled }: Outcome): Html {
  if (isFulfilled === null) return html`<span class="state unjudged">not judged</span>`;
  return isFulfilled
    ? html`<span class="state kept">✓ kept</span>`
    : html`<span class="state broken">✗ broken</span>`;
}

const faultsOf = ({ faults }: Outcome): Html | null =>
  faults.length === 0 ? null : html`<ul>${faults.map((fault) => html`<li><code>${fault}</code></li>`)}</ul>`;

const outcomeTable = (outcomes: readonly Outcome[]): Html =>
  tableOf<Outcome>(
    [
      { head: 'Promise', cell: ({ promise }) => promise },
      { head: 'Outcome', cell: stateOf },
      { head: 'Found', cell: (outcome) => [outcome.found, faultsOf(outcome)] },
    ],
    outcomes,
  );

function banner(outcomes: readonly Outcome[]): Html {
  const broken = outcomes.filter(({ isFulfilled }) => isFulfilled === false).length;
  const open = outcomes.filter(({ isFulfilled }) => isFulfilled === null).length;
  const judged = outcomes.length - open;
  const words = isWhole(outcomes)
    ? `All ${judged} promises that were judged were kept.`
    : `${broken} of ${judged} promises were broken.`;
  const rest = open === 0 ? '' : ` ${open} could not be judged.`;
  return html`<p class="banner ${isWhole(outcomes) ? 'kept' : 'broken'}"><strong>${words}</strong>${rest}</p>`;
}

const facts = (entries: Readonly<Record<string, string>>): Html =>
  html`<dl>${Object.entries(entries).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

function settingSection(result: SoakResult): Html {
  const { command, commit, node, machine, begunAt, seconds, slots, held, load } = result;
  return html`<h2>What was run</h2>
<p>The real program with its embedded ledger, and clients of all of its doors at once, on one machine: what the clients
take of its processors the service does not get.</p>
${facts({
  Command: command,
  Commit: commit,
  Begun: begunAt,
  'Under load': `${timeText(seconds)} minutes, ${slots} slots of the ledger`,
  Machine: machine,
  Runtime: `Node.js ${node}`,
  'Held open': held,
})}
${loadTable(load)}`;
}

const loggedSection = (logged: readonly Logged[]): Html =>
  html`<h2>What the service logged</h2>${
    logged.length === 0
      ? html`<p>Nothing at <code>info</code> or above.</p>`
      : tableOf<Logged>(
          [
            { head: 'Level', cell: ({ level }) => level },
            { head: 'Message', cell: ({ message }) => message },
            { head: 'With it, the last time', cell: ({ last }) => html`<code>${last}</code>` },
            { head: 'Times', isNumber: true, cell: ({ times }) => times },
          ],
          logged,
        )
  }`;

/** The report: one page that needs nothing from elsewhere. */
export function pageOf(result: SoakResult): string {
  const title = `Soak of all surfaces, ${result.begunAt.slice(0, 10)}`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${title}</title>${style}</head><body>
<header><h1>${title}</h1><p class="quiet">Solway ${result.commit}, ${timeText(result.seconds)} minutes under load</p>
${banner(result.outcomes)}</header>
<main><h2>Verdict</h2>
${outcomeTable(result.outcomes)}
${settingSection(result)}
${surfacesSection(result)}
${errorsSection(result)}
${processesSection(result)}
${loggedSection(result.logged)}
</main></body></html>
`.text;
}
