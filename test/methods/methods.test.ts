import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../src/base/json.ts';
import { methods } from '../../src/protocol/methods.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { type RunningLedger, startCaseLedger } from './case-ledger.ts';
import { type MethodCase, textOf } from './method-case.ts';

/**
 * Every method with valid params and with errors, on the embedded ledger and through the gateway: both return
 * the same text. Other errors are tested next to the ledger. The ledger produces no slots.
 */
const folder = join(import.meta.dirname, 'cases');
const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
const modules = await Promise.all(files.map((file) => import(join(folder, file))));
const cases = modules.flatMap((module) => (module as { cases: readonly MethodCase[] }).cases);

let ledger: RunningLedger;
let service: RunningService;
beforeAll(async () => {
  ledger = await startCaseLedger();
  service = await startService({ configuration: '', arguments: ['--upstream', ledger.url] });
});
afterAll(async () => {
  await service?.stop();
  await ledger?.close();
});

const ID = 7;

async function post(url: string, body: string, key?: string): Promise<string> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const headers = { 'content-type': 'application/json', ...authorization };
  return (await fetch(url, { method: 'POST', headers, body })).text();
}

function bodyOf(method: string, make: MethodCase['params']): string {
  const params = textOf(make, ledger.facts);
  const member = params === undefined ? '' : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${ID},"method":"${method}"${member}}`;
}

type Reply = { [name: string]: JsonValue };

function expectError(reply: Reply, expected: NonNullable<MethodCase['error']>): void {
  const { code, message, data } = expected;
  const shown = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(reply.error).toMatchObject({ code, message: shown });
  // Cases omit `data` that depends on the ledger.
  if (data === undefined) return;
  const wanted = typeof data === 'function' ? data(ledger.facts) : data;
  expect((reply.error as { data?: JsonValue }).data).toEqual(wanted);
}

describe.each(Object.keys(methods))('%s', (method) => {
  const own = cases.filter((row) => row.method === method);

  it('has a case that succeeds and one that fails', () => {
    expect(own.some(({ error }) => error === undefined)).toBe(true);
    expect(own.some(({ error }) => error !== undefined)).toBe(true);
    const unchecked = own.filter((row) => !row.error && !row.check && !('sameAs' in row));
    expect(unchecked.map(({ name }) => name)).toEqual([]);
  });

  it.each(own)('$name', async (row) => {
    const body = bodyOf(method, row.params);
    const direct = await post(ledger.url, body);
    const through = await post(service.ready.rpcUrl, body, service.key);
    const reply = parseJson(direct) as Reply;
    expect(reply).toMatchObject({ jsonrpc: '2.0', id: ID });
    if (row.error === undefined) {
      expect(reply).toHaveProperty('result');
      row.check?.(reply.result as JsonValue, ledger.facts);
      if ('sameAs' in row) expect(direct).toBe(await post(ledger.url, bodyOf(method, row.sameAs)));
    } else expectError(reply, row.error);
    if (row.changes) expect(Object.keys(parseJson(through) as Reply)).toEqual(Object.keys(reply));
    else expect(through).toBe(direct);
  });
});
