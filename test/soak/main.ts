import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { logUnless, readOptions } from '../programs/options.ts';
import { mark, markdownOf } from './report/markdown.ts';
import { isWhole } from './report/outcome.ts';
import type { SoakResult } from './report/soak-result.ts';
import { runSoak } from './run-all.ts';

const USAGE = `Usage: npm run soak -- [options]

Runs the program with its embedded ledger and puts load on all interfaces at once: JSON-RPC over HTTP, transaction
submission, WebSockets, REST with stored files, Yellowstone gRPC, the shred stage, the control API and the dashboard with
a signed-in operator, and /metrics. Compares responses and notifications with the ledger and writes a Markdown report
with rates, percentiles, memory and errors.
Exits with 1 when a promise was broken: an error, a wrong response, a missed or duplicate notification, memory growth,
growing numbers of files or sockets, half-closed connections, or files and sockets that are not released after the load.
Growth is judged in runs of three minutes and more.
Linux only.

  --minutes N    duration of the load, up to 240 (default 30; the whole run takes two minutes more)
  --rate N       multiple of the usual load, 0.1 to 20 (default 1)
  --slot-ms N    length of a slot, 50 to 10000 (default 400)
  --report FILE  where to write the report (default test-artefacts/soak.md)
  --json         print the result as JSON

npm run soak:websocket and npm run soak:grpc test long-lived subscriptions while nodes fail.
`;

const options = readOptions(
  USAGE,
  {
    ...{ minutes: 30, rate: 1, 'slot-ms': 400, json: false },
    report: join(import.meta.dirname, '../../test-artefacts/soak.md'),
  },
  { minutes: [0.1, 240], rate: [0.1, 20], 'slot-ms': [50, 10_000] },
);
const { minutes, rate, 'slot-ms': slotMs, report, json } = options;
const say = logUnless(json);

/** The result for a terminal. */
function summaryOf({ outcomes, tallies, seconds }: SoakResult): string {
  const promises = outcomes.flatMap((outcome) => [
    `${mark(outcome)} ${outcome.promise}: ${outcome.found}`,
    ...outcome.faults.map((fault) => `    ${fault}`),
  ]);
  const row = (name: string, ...cells: string[]): string =>
    [name.padEnd(34), ...cells.map((cell) => cell.padStart(9))].join(' ');
  const times = tallies.map(({ name, count, times: took }) =>
    row(
      name,
      (count / seconds).toFixed(1),
      ...[took?.p50, took?.p99, took?.max].map((ms) => (ms === undefined ? '–' : ms.toFixed(1))),
    ),
  );
  const head = row('interface', 'per s', 'p50 ms', 'p99 ms', 'max ms');
  return ['', head, ...times, '', ...promises, ''].join('\n');
}

const command = `npm run soak -- --minutes ${minutes} --rate ${rate} --slot-ms ${slotMs}`;
const result = await runSoak({ minutes, rate, slotMs, command, say });
mkdirSync(dirname(report), { recursive: true });
writeFileSync(report, markdownOf(result));
process.stdout.write(json ? `${JSON.stringify(result)}\n` : summaryOf(result));
say(`report written to ${report}`);
say(isWhole(result.outcomes) ? 'All promises held.' : 'BROKEN PROMISES');
process.exit(isWhole(result.outcomes) ? 0 : 1);
