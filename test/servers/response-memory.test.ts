import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../upstream/mock/pool.ts';
import { rawPost, result, startHttpServer, type TestHttpServer } from './start-http-server.ts';

const KIB = 1_024;
/** Larger than the socket buffers of a client that does not read. */
const LONG_BYTES = 8 * KIB * KIB;

const call = (id: number, method = 'getProgramAccounts') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[${id}]}`;
const batch = (calls: number) => `[${Array.from({ length: calls }, (_, id) => call(id)).join()}]`;
const ofBytes = (bytes: number) => result(`"${'x'.repeat(bytes - 2)}"`);

type Answered = { id: number; result?: string; error?: { data: Record<string, unknown> } };

let server: TestHttpServer;
afterEach(() => server.stop());

describe.each([{ raw: true }, { raw: false }])('memory of unsent responses, fast path: $raw', ({ raw }) => {
  it('is limited per batch: further calls are rejected with a remedy', async () => {
    server = await startHttpServer({ raw }, { batchResponsesMaxBytes: 100 * KIB, batchConcurrency: 2 });
    server.answer = async () => ofBytes(30 * KIB);
    const key = server.createKey();
    for (let i = 0; i < 2; i++) {
      server.calls.length = 0;
      const answers = (await (await server.post(batch(20), key)).json()) as Answered[];
      expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, id) => id));
      expect(answers.filter((one) => one.result !== undefined)).toHaveLength(3);
      const data = { code: 'BATCH_ANSWER_TOO_LARGE', answersMaxBytes: 100 * KIB };
      for (const { error } of answers.slice(5)) expect(error?.data).toEqual(data);
      // Calls without memory for their responses are not sent upstream.
      expect(server.calls.length).toBeLessThan(6);
    }
  });

  it('is limited across callers, and released', async () => {
    server = await startHttpServer({ raw }, { responsesMaxBytes: LONG_BYTES + 50 * KIB });
    server.answer = async ({ method }) => ofBytes(method === 'getSlot' ? 100 : LONG_BYTES);
    const key = server.createKey();
    const slow = server.connect();
    slow.socket.pause();
    slow.socket.write(rawPost(key, call(1)));
    await until(() => server.calls.length === 1);
    const post = async (body: string) => (await server.post(body, key)).json() as Promise<Answered>;
    const refused = { error: { data: { code: 'OVERLOADED', retryAfter: 1 } } };
    expect(await post(call(2))).toMatchObject(refused);
    expect(await post(`[${call(2)}]`)).toMatchObject([refused]);
    expect(await post(call(3, 'getSlot'))).toHaveProperty('result');
    slow.socket.destroy();
    const answered = async () => ((await post(call(4))).result?.length ?? 0) > LONG_BYTES / 2;
    await expect.poll(answered, { timeout: 5_000 }).toBe(true);
    for (let i = 0; i < 2; i++) expect(await answered()).toBe(true);
  });

  it('is limited to one response per connection for pipelined requests', async () => {
    server = await startHttpServer({ raw });
    server.answer = async ({ params }) => (String(params) === '[0]' ? ofBytes(LONG_BYTES) : ofBytes(100));
    const key = server.createKey();
    const slow = server.connect();
    slow.socket.pause();
    slow.socket.write(Array.from({ length: 40 }, (_, id) => rawPost(key, call(id))).join(''));
    await until(() => server.calls.length > 0);
    // A new connection is served before the pipelined requests of the first one.
    expect(await (await server.post(call(50), key)).text()).toContain('"id":50');
    expect(server.calls.map(({ call: { params } }) => String(params))).toEqual(['[0]', '[50]']);
    slow.socket.resume();
    await slow.until(/"id":39}/);
    const numbers = [...slow.received.matchAll(/"id":(\d+)}/g)].map(([, id]) => Number(id));
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, id) => id));
  });
});
