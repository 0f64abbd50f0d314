import { parseArgs } from 'node:util';
import { writeJson } from '../src/base/json.ts';
import { type MethodName, methods } from '../src/protocol/methods.ts';
import { compareOptions } from './compare.ts';
import type { NodeAddress } from './node.ts';
import { describeRow, describeTotal, reportJson } from './report.ts';
import { type Row, runConformance } from './run.ts';

const USAGE = `Usage: npm run conformance -- URL_A URL_B [options]

Puts the same JSON-RPC calls to two nodes and compares the answers: what is named by slot or signature to the last
digit, moving state with both read at the same slot, the node's own affairs by their shape. The calls are made of
what is found on A. Nothing that changes a node's state is sent.

  --header-a LINE   header for A, as "Authorization: Bearer KEY"; repeat it for more
  --header-b LINE   the same for B
  --method NAME     only this method; repeat it for more
  --slack SLOTS     slots that one node may be ahead of the other (default ${compareOptions.slackSlots})
  --all             show also the calls whose answers are the same
  --json            write JSON
  --help

Exit codes: 0 when all answers are the same, 1 when one differs or is missing, 2 for a mistake on the command line,
3 when none differs but some could not be decided.
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
    // The line itself may hold a key.
    if (colon <= 0) refuse('a header is not written as "Name: value"');
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

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const [urlA, urlB] = positionals;
if (urlA === undefined || urlB === undefined || positionals.length > 2) refuse('two URLs are needed');
for (const name of values.method)
  if (!Object.hasOwn(methods, name)) refuse(`there is no method ${name.slice(0, 64)}`);
const slackSlots = Number(values.slack);
if (!Number.isInteger(slackSlots) || slackSlots < 0) refuse('--slack is not a whole number');

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
