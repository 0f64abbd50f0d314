import { parseArgs } from 'node:util';
import { writeJson } from '../src/base/json.ts';
import { type MethodName, methods } from '../src/protocol/methods.ts';
import { compareOptions } from './compare.ts';
import type { NodeAddress } from './node.ts';
import { RECORD_USAGE, record } from './record/main.ts';
import { describeRow, describeTotal, reportJson } from './report.ts';
import { type Row, runConformance } from './run.ts';

const USAGE = `Usage: npm run conformance -- URL_A URL_B [options]
       npm run conformance -- record [options]

Sends the same JSON-RPC calls to two nodes and compares the responses: historical data exactly, state at the tip at
the same slot, node-specific data by its shape. Parameters are derived from data of node A. No call changes the state
of a node.

  --header-a LINE   header for A, such as "Authorization: Bearer KEY"; repeat for more
  --header-b LINE   the same for B
  --method NAME     only this method; repeat for more
  --slack SLOTS     slots that one node may be ahead of the other (default ${compareOptions.slackSlots})
  --all             also show calls with equal responses
  --json            print JSON
  --help

Exit codes: 0 all responses are equal, 1 a response differs or is missing, 2 invalid command line, 3 no response
differs but some comparisons are undecided.
`;

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n\n${USAGE}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        'header-a': { type: 'string', multiple: true, default: [] },
        'header-b': { type: 'string', multiple: true, default: [] },
        method: { type: 'string', multiple: true, default: [] },
        slack: { type: 'string', default: String(compareOptions.slackSlots) },
        all: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    // The line may contain a key.
    if (colon <= 0) refuse('a header must have the form "Name: value"');
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}

function readUrl(text: string, name: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) refuse(`${name} is not an http(s) URL`);
  return text;
}

function exitCodeOf(rows: readonly Row[]): number {
  const has = (...kinds: readonly Row['result']['kind'][]): boolean =>
    rows.some(({ result }) => kinds.includes(result.kind));
  if (has('different', 'unanswered')) return 1;
  return has('undecided') ? 3 : 0;
}

/** The command `record`, which has options of its own. */
async function runRecord(given: readonly string[]): Promise<never> {
  if (given.includes('--help')) {
    process.stdout.write(RECORD_USAGE);
    process.exit(0);
  }
  try {
    await record(given);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

if (process.argv[2] === 'record') await runRecord(process.argv.slice(3));
const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const [urlA, urlB] = positionals;
if (urlA === undefined || urlB === undefined || positionals.length > 2) refuse('two URLs are required');
for (const name of values.method)
  if (!Object.hasOwn(methods, name)) refuse(`unknown method ${name.slice(0, 64)}`);
const slackSlots = Number(values.slack);
if (!Number.isInteger(slackSlots) || slackSlots < 0) refuse('--slack must be a whole number');

const address = (name: string, url: string, headers: readonly string[]): NodeAddress => ({
  name,
  url: readUrl(url, name),
  headers: readHeaders(headers),
});

try {
  const rows = await runConformance({
    ours: address('A', urlA, values['header-a']),
    theirs: address('B', urlB, values['header-b']),
    only: values.method as MethodName[],
    compare: { slackSlots },
    onRow: (row, done, of) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${done}/${of} `);
      if (!values.json && (values.all || row.result.kind !== 'same')) process.stdout.write(describeRow(row));
    },
  });
  process.stdout.write(values.json ? `${writeJson(reportJson(rows))}\n` : describeTotal(rows));
  process.exitCode = exitCodeOf(rows);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
