import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isWhole, type Outcome } from './report/outcome.ts';
import { pageOf } from './report/page.ts';
import type { SoakResult } from './report/soak-result.ts';
import { runSoak } from './run-all.ts';

const MINUTES_MAX = 240;
const RATE_MAX = 20;
const SLOT_MS_MIN = 50;
const ROOT = join(import.meta.dirname, '../..');

const USAGE = `Usage: npm run soak -- [options]

Runs the real program with its embedded ledger and puts all of its surfaces under load at once: JSON-RPC over HTTP,
sending transactions, WebSockets, REST with stored files, Yellowstone gRPC, the shred stage, the control API and the
dashboard with a signed-in operator, and /metrics. Holds what is answered and told against what is known of the ledger,
and writes one page with rates, percentiles, memory and errors over time.
Ends with 1 when a promise was broken: an error, an answer that is not true, something missed or told twice, memory
that grew, files or sockets that became more, stayed open at one end only, or were not given back when nobody asked any
more. What grows is judged in runs of three minutes and more.
Linux only.

  --minutes N    how long the load lasts, up to ${MINUTES_MAX} (default 30; the whole run takes two minutes more)
  --rate N       how many times the ordinary load, 0.1 to ${RATE_MAX} (default 1)
  --slot-ms N    length of a slot, ${SLOT_MS_MIN} to 10000 (default 400)
  --report FILE  where the page goes (default test-artefacts/soak.html)
  --json         print the result as JSON

Clients that only listen stay for longer with npm run soak:websocket and npm run soak:grpc, where nodes die meanwhile.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '1' },
    'slot-ms': { type: 'string', default: '400' },
    report: { type: 'string', default: join(ROOT, 'test-artefacts', 'soak.html') },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

function within(name: 'minutes' | 'rate' | 'slot-ms', least: number, most: number): number {
  const value = Number(values[name]);
  if (value >= least && value <= most) return value;
  process.stderr.write(`--${name} must be a number from ${least} to ${most}\n`);
  process.exit(2);
}

const minutes = within('minutes', 0.1, MINUTES_MAX);
const rate = within('rate', 0.1, RATE_MAX);
const slotMs = within('slot-ms', SLOT_MS_MIN, 10_000);

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${new Date().toISOString()} ${text}\n`);
};

const mark = ({ isFulfilled }: Outcome): string => (isFulfilled === null ? '–' : isFulfilled ? '✓' : '✗');

/** The result as it is read in a terminal. */
function summaryOf({ outcomes, tallies, seconds }: SoakResult): string {
  const promises = outcomes.flatMap((outcome) => [
    `${mark(outcome)} ${outcome.promise}: ${outcome.found}`,
    ...outcome.faults.map((fault) => `    ${fault}`),
  ]);
  const times = tallies.map(({ name, count, times: took }) =>
    [
      name.padEnd(34),
      (count / seconds).toFixed(1).padStart(8),
      ...[took?.p50, took?.p99, took?.max].map((ms) => (ms === undefined ? '–' : ms.toFixed(1)).padStart(9)),
    ].join(' '),
  );
  const heads = ['p50 ms', 'p99 ms', 'max ms'].map((one) => one.padStart(9));
  const head = ['surface'.padEnd(34), 'a second'.padStart(8), ...heads].join(' ');
  return ['', head, ...times, '', ...promises, ''].join('\n');
}

const shown = `npm run soak -- --minutes ${minutes} --rate ${rate} --slot-ms ${slotMs}`;
const result = await runSoak({ minutes, rate, slotMs, command: shown, say });
mkdirSync(dirname(values.report), { recursive: true });
writeFileSync(values.report, pageOf(result));
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
else process.stdout.write(summaryOf(result));
say(`the report is in ${values.report}`);
say(isWhole(result.outcomes) ? 'Every promise was kept.' : 'PROMISES WERE BROKEN.');
process.exit(isWhole(result.outcomes) ? 0 : 1);
