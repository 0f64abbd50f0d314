import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changingCases, readingCases } from '../../conformance/record/all-cases.ts';
import { differing, explain, type Reason } from '../../conformance/record/explain.ts';
import { type RecordedRow, recordCases, showRequest } from '../../conformance/record/record-cases.ts';
import { readRecording } from '../../conformance/record/recording-file.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { type ScriptLedger, startScriptLedger } from './script-ledger.ts';

/**
 * Compares the embedded ledger, and a gateway in front of it, with what a validator responded (CONTRIBUTING.md,
 * Recordings). Every difference has a reason in differences.json.
 */
const folder = join(import.meta.dirname, 'recordings');
const recorded = readRecording(readFileSync(join(folder, 'json-rpc.jsonl'), 'utf8'));
const reasons = JSON.parse(readFileSync(join(folder, 'differences.json'), 'utf8')) as readonly Reason[];
const named = (side: 'ledger' | 'gateway'): string[] => reasons.flatMap((reason) => reason[side] ?? []);

let ledger: ScriptLedger;
let service: RunningService;
let own: RecordedRow[];
let through: RecordedRow[];

beforeAll(async () => {
  ledger = await startScriptLedger();
  const { names } = ledger.run;
  const facts = await ledger.facts();
  const direct = { name: 'ledger', url: ledger.url, headers: {} };
  own = await recordCases(readingCases, direct, facts, names);
  service = await startService({ configuration: '', arguments: ['--upstream', ledger.url] });
  const headers = { authorization: `Bearer ${service.key}` };
  const gateway = { name: 'gateway', url: service.ready.rpcUrl, headers };
  const calls = readingCases.filter(({ method }) => !['envelope', 'http'].includes(method));
  through = (await recordCases(calls, gateway, facts, names)).map(withoutCors);
  own.push(...(await recordCases(changingCases, direct, facts, names)));
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await ledger?.close();
});

/** The gateway decides by its own options which origins may call. */
function withoutCors(row: RecordedRow): RecordedRow {
  const headers = Object.entries(row.response.headers).filter(
    ([name]) => !name.startsWith('access-control-'),
  );
  return { ...row, response: { ...row.response, headers: Object.fromEntries(headers) } };
}

const summary = ({ name, response }: RecordedRow): string => `${name}: ${response.status} ${response.body}`;

describe('the recordings of a validator', () => {
  it('are of the cases of today', () => {
    const cases = [...readingCases, ...changingCases];
    expect(recorded.map(({ name, request }) => ({ name, request }))).toEqual(
      cases.map((recordedCase) => ({ name: recordedCase.name, request: showRequest(recordedCase) })),
    );
  });

  it('agree with the embedded ledger, unless a reason is known', () => {
    const different = differing(own, recorded);
    const { equal, explained, unexplained, unnecessary } = explain(own, different, named('ledger'));
    expect(different.filter(({ name }) => unexplained.includes(name)).map(summary)).toEqual([]);
    expect(unnecessary).toEqual([]);
    console.log(`${own.length} cases: ${equal} equal, ${explained} different with a reason, 0 without`);
  });

  it('agree with the gateway, which passes on what the ledger responds', () => {
    const different = differing(through, own, recorded);
    const { unexplained, unnecessary } = explain(through, different, named('gateway'));
    expect(different.filter(({ name }) => unexplained.includes(name)).map(summary)).toEqual([]);
    expect(unnecessary).toEqual([]);
  });
});
