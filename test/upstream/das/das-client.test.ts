import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import type { NftDas } from '../../../src/decoding/nft/nft.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { NodeRejection } from '../../../src/protocol/rest/node-rejection.ts';
import { DasClient, type DasLimits } from '../../../src/upstream/das/das-client.ts';
import {
  dyingAfterRequest as dead,
  failing as refuse,
  healthy as respond,
  silent,
} from '../mock/behaviors.ts';
import { closeAfterEach } from '../mock/pool.ts';
import { type Behaviour, type MockNode, send, startMock } from '../mock/server.ts';

const never = new AbortController().signal;
const SECRET = 'sk-4f9d0b7c2a';
const closing = closeAfterEach();
let mocks: MockNode[] = [];
let lines = '';

async function stage(behaviours: readonly Behaviour[], limits: Partial<DasLimits> = {}): Promise<NftDas> {
  mocks = [];
  lines = '';
  for (const behaviour of behaviours) mocks.push(closing(await startMock(behaviour)));
  const servers = mocks.map(({ url }, index) => ({
    name: `das-${index}`,
    network: 'mainnet-beta' as const,
    url: `${url}v0/${SECRET}?api-key=${SECRET}`,
    headers: { authorization: `Bearer ${SECRET}` },
  }));
  return closing(
    new DasClient(
      servers,
      limits,
      createLogger('debug', (line) => (lines += line)),
    ),
  );
}

const requests = (): number[] => mocks.map(({ received }) => received.length);

const query = (das: NftDas, signal = never) => das.request('mainnet-beta', 'getAsset', { id: 'x' }, signal);

async function failed(das: NftDas, signal = never): Promise<unknown> {
  const reason: unknown = await query(das, signal).then(
    () => 'answered',
    (error: unknown) => error,
  );
  if (reason instanceof NodeRejection) return [reason.code, reason.error];
  return reason instanceof Failure ? reason.code : reason;
}

describe('DasClient', () => {
  it('sends named params and keeps exact integers', async () => {
    const das = await stage([respond('{"supply":18446744073709551615,"items":[]}')]);
    const params = { ownerAddress: 'o', limit: 1_000, raw: 2n ** 64n - 1n, absent: undefined };
    const result = await das.request('mainnet-beta', 'getAssetsByOwner', params, never);
    expect(result).toEqual({ supply: 2n ** 64n - 1n, items: [] });
    const { raw, headers, path } = mocks[0]!.received[0]!;
    const written = '{"ownerAddress":"o","limit":1000,"raw":18446744073709551615}';
    expect(raw.replace(/"id":\d+/, '"id":7')).toBe(
      `{"jsonrpc":"2.0","id":7,"method":"getAssetsByOwner","params":${written}}`,
    );
    expect([headers.authorization, path]).toEqual([`Bearer ${SECRET}`, `/v0/${SECRET}?api-key=${SECRET}`]);
  });

  it('uses a server for its own network only', async () => {
    const das = await stage([respond('1')]);
    expect([das.has('mainnet-beta'), das.has('devnet')]).toEqual([true, false]);
    await expect(das.request('devnet', 'getAsset', {}, never)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });

  it.each([
    ['does not respond', silent],
    ['lacks the method', refuse(-32601, 'Method not found')],
    ['responds with HTTP 502', (_, reply) => send(reply, '{}', 502)],
    ['sends more than the limit', respond(`"${'x'.repeat(5_000)}"`)],
    ['reveals its key in an error', refuse(-32000, `no credit on ${SECRET}`)],
    ['sends an error without a message', ({ id }, reply) => send(reply, `{"id":${id},"error":{"code":-5}}`)],
  ] as [string, Behaviour][])('fails over when a server %s', async (_, behaviour) => {
    // A short timeout only where the server does not respond.
    const tryTimeoutMs = behaviour === silent ? 600 : 10_000;
    const das = await stage([behaviour, respond('"second"')], { tryTimeoutMs, responseMaxBytes: 5_000 });
    expect(await query(das)).toBe('second');
    expect(requests()[1]).toBe(1);
    expect(lines).not.toContain(SECRET);
  });

  it('returns a conclusive error without trying other servers', async () => {
    const das = await stage([
      refuse(-32000, 'Database Error: RecordNotFound Error: Asset Not Found'),
      respond('1'),
    ]);
    const error = { code: -32000, message: 'Database Error: RecordNotFound Error: Asset Not Found' };
    expect(await failed(das)).toEqual(['UPSTREAM_UNAVAILABLE', error]);
    expect(requests()).toEqual([1, 0]);
  });

  it('fails with UPSTREAM_UNAVAILABLE without logging hosts', async () => {
    const das = await stage([dead, silent], { tryTimeoutMs: 100 });
    expect(await failed(das)).toBe('UPSTREAM_UNAVAILABLE');
    expect(lines).toContain('das-0');
    for (const secret of [SECRET, new URL(mocks[0]!.url).host]) expect(lines).not.toContain(secret);
  });
});
