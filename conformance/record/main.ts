import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RpcNode } from '../node.ts';
import { changingCases, readingCases } from './all-cases.ts';
import { factsOf } from './facts.ts';
import { GeyserRecorder } from './geyser/record-geyser.ts';
import { writeGeyserRecording } from './geyser/recording.ts';
import { recordPubsub } from './pubsub-record.ts';
import { finalizedBlockhash, recordCases, settle } from './record-cases.ts';
import { writeRecording } from './recording-file.ts';
import { runScript, unexpectedEnds } from './run-script.ts';

export const RECORD_USAGE = `Usage: npm run conformance -- record --rpc URL [--ws URL] [--grpc HOST:PORT] --out DIR

Runs scripted transactions on a fresh ledger, then records what it responds to every JSON-RPC case. What differs
between two ledgers is replaced by the rules of conformance/record/rules.ts.

  --rpc URL   JSON-RPC address of a ledger that has just started, with its faucet
  --ws URL    PubSub address of the same ledger: records notifications and PubSub responses instead
  --grpc HOST:PORT
              Yellowstone gRPC address of the same ledger: records its streams too
  --out DIR   folder of the recordings
`;

const REPORT_MS = 5_000;

export async function record(given: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...given],
    options: {
      ...{ rpc: { type: 'string' }, ws: { type: 'string' } },
      ...{ grpc: { type: 'string' }, out: { type: 'string' } },
    },
  });
  if (values.rpc === undefined || values.out === undefined) throw new Error('--rpc and --out are required');
  if (values.ws !== undefined) {
    const [subscriptions, exchanges] = await recordPubsub(values.rpc, values.ws, values.out);
    process.stdout.write(`${subscriptions} subscriptions, ${exchanges} exchanges\n`);
    return;
  }
  const address = { name: 'node', url: values.rpc, headers: {} };
  const node = new RpcNode(address);
  let reportedAt = 0;
  const report = (text: string): void => {
    if (Date.now() - reportedAt < REPORT_MS) return;
    reportedAt = Date.now();
    process.stderr.write(`${text}\n`);
  };
  const geyser = values.grpc === undefined ? null : await GeyserRecorder.open(values.grpc);
  const run = await runScript(node, (step, done) => report(`step ${done}: ${step.name}`));
  for (const [name, message] of run.refused) process.stderr.write(`refused ${name}: ${message}\n`);
  const unexpected = unexpectedEnds(run);
  if (unexpected.length > 0) throw new Error(`steps ended otherwise than planned:\n${unexpected.join('\n')}`);
  mkdirSync(values.out, { recursive: true });
  if (geyser !== null) {
    const streams = await geyser.finish(run);
    writeFileSync(join(values.out, 'yellowstone.jsonl'), writeGeyserRecording(streams));
    process.stdout.write(`${streams.length} streams\n`);
  }
  report('waiting until the ledger is settled');
  await settle(node, run);
  const facts = factsOf(run, await finalizedBlockhash(node));
  const cases = [...readingCases, ...changingCases];
  const rows = await recordCases(cases, address, facts, run.names, (done) =>
    report(`${done}/${cases.length} cases`),
  );
  writeFileSync(join(values.out, 'json-rpc.jsonl'), writeRecording(rows));
  process.stdout.write(`${run.landed.size} transactions, ${rows.length} cases\n`);
}
