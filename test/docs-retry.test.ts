import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

/** Runs the retry example of docs/reference/json-rpc.md unchanged against a server with scripted responses. */
const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'reference', 'json-rpc.md'), 'utf8');
const snippet =
  [...page.matchAll(/^```js\n([\s\S]*?)^```/gm)]
    .map(([, code = '']) => code)
    .find((code) => code.includes('retry-after')) ?? '';

type Scripted = Readonly<{ status: number; retryAfter?: string; body: object }>;

const refused = (status: number, name: string, retryAfter?: string): Scripted => ({
  status,
  ...(retryAfter !== undefined && { retryAfter }),
  body: { jsonrpc: '2.0', error: { code: -32000, message: 'Refused', data: { code: name } }, id: null },
});
const answered: Scripted = { status: 200, body: { jsonrpc: '2.0', result: 7, id: 1 } };

/** Runs the snippet; the last response repeats. @returns its output or error, and its waits in ms. */
async function run(...script: readonly Scripted[]) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    const { status, retryAfter, body } = script[Math.min(requests++, script.length - 1)] as Scripted;
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.writeHead(status, { connection: 'close' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const env = {
    SOLWAY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/rpc`,
    SOLWAY_KEY: 'key',
  };
  const waits: number[] = [];
  const wait = (done: () => void, ms: number): void => {
    waits.push(ms);
    setImmediate(done);
  };
  const printed: unknown[] = [];
  const names = ['setTimeout', 'process', 'console'];
  const AsyncFunction = (async () => {}).constructor as new (
    ...text: string[]
  ) => (...values: unknown[]) => Promise<void>;
  const execute = new AsyncFunction(...names, snippet);
  const thrown = await execute(wait, { env }, { log: (value: unknown) => printed.push(value) }).then(
    () => null,
    (error: Error) => error.message,
  );
  return { printed, thrown, waits, requests };
}

it('waits as long as Retry-After says, then continues', async () => {
  const result = await run(refused(429, 'RATE_LIMITED', '2'), refused(503, 'OVERLOADED', '1'), answered);
  expect(result).toEqual({ printed: [7], thrown: null, waits: [2_000, 1_000], requests: 3 });
});

it('throws at once when a quota is used up, however long Retry-After is', async () => {
  const result = await run(refused(429, 'QUOTA_EXCEEDED', '2600000'), answered);
  expect(result).toMatchObject({ printed: [], waits: [], requests: 1 });
  expect(result.thrown).toContain('QUOTA_EXCEEDED');
});

it.each(['86400', '2147484', '99999999999'])('caps a wait of %s s at a minute', async (retryAfter) => {
  const result = await run(refused(503, 'UPSTREAM_UNAVAILABLE', retryAfter), answered);
  expect(result).toEqual({ printed: [7], thrown: null, waits: [60_000], requests: 2 });
});

it('waits a second where Retry-After is a date, as a proxy may send it', async () => {
  const result = await run(refused(503, 'UPSTREAM_UNAVAILABLE', 'Wed, 21 Oct 2026 07:28:00 GMT'), answered);
  expect(result.waits).toEqual([1_000]);
});

it('gives up after five requests, and at once without Retry-After', async () => {
  const limited = await run(refused(429, 'RATE_LIMITED', '1'));
  expect(limited).toMatchObject({ requests: 5, waits: [1_000, 1_000, 1_000, 1_000] });
  expect(limited.thrown).toContain('RATE_LIMITED');
  const invalid = await run(refused(400, 'INVALID_REQUEST'));
  expect(invalid).toMatchObject({ requests: 1, waits: [] });
});
