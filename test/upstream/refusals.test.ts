import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { failing } from './mock/failing.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import { type Behaviour, send } from './mock/server.ts';

const tooLarge: Behaviour = (_request, reply) =>
  send(reply, 'request body size exceeds allowed maximum', 413);
const badRequest: Behaviour = (_request, reply) => send(reply, '<h1>Bad Request</h1>', 400);

let scene: Scene;
afterEach(() => scene.close());

it('rejects a response without free memory, without blaming its node', async () => {
  const half: Behaviour = ({ id }, reply) => {
    const body = `{"jsonrpc":"2.0","result":"${'a'.repeat(150_000)}","id":${id}}`;
    reply.writeHead(200, { 'content-length': body.length }).write(body.slice(0, 120_000));
  };
  const limits = { responseMaxBytes: 200_000, responseBufferMaxBytes: 200_000 };
  scene = await stage([half, half], limits);
  const first = request(scene.pool, call('getBalance')).catch((thrown: Failure) => thrown.code);
  const second = request(scene.pool, call('getBlock', [1])).catch((thrown: Failure) => thrown.code);
  expect(await Promise.race([first, second])).toBe('OVERLOADED');
  expect(scene.pool.status().map(({ failuresInRow }) => failuresInRow)).toEqual([0, 0]);
});

/** Result text or failure code. */
async function ended(method: string): Promise<string> {
  return request(scene.pool, call(method)).then(
    ({ body }) => body.toString(),
    (reason: unknown) => (reason instanceof Failure ? reason.code : String(reason)),
  );
}

const pending = (): number[] => scene.mocks.map(({ received }) => received.length);

describe('request rejected by a node', () => {
  it.each([
    ['too large', tooLarge],
    ['malformed', badRequest],
  ])('because it is %s is retried on another node', async (_name, refusing) => {
    scene = await stage([refusing, refusing, healthy('7')]);
    for (let i = 0; i < 10; i++) expect(await ended('simulateTransaction')).toBe('7');
    expect(Math.max(...pending())).toBe(10);
  });

  it.each([
    ['too large', tooLarge, 'BODY_TOO_LARGE', 413],
    ['malformed', badRequest, 'INVALID_REQUEST', 200],
  ])(
    "because it is %s fails as the caller's fault if all reject it, after one attempt each",
    async (_n, refusing, code) => {
      scene = await stage([refusing, refusing, refusing]);
      expect(await ended('sendTransaction')).toBe(code);
      expect(pending()).toEqual([1, 1, 1]);
    },
  );

  it('fails at once at the only node', async () => {
    scene = await stage([tooLarge], { backoffMs: 2_000 });
    const startedAt = performance.now();
    expect(await ended('getBalance')).toBe('BODY_TOO_LARGE');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(pending()).toEqual([1]);
  });

  it('fails as too large if one node says so and another only that it is bad', async () => {
    scene = await stage([tooLarge, badRequest]);
    for (let i = 0; i < 6; i++) expect(await ended('getBalance')).toBe('BODY_TOO_LARGE');
  });

  it("is not the caller's fault while another node is unavailable", async () => {
    // Few attempts: all of them would take nearly the whole timeout.
    scene = await stage([tooLarge, dyingAfterRequest], { attemptsMax: 4 });
    expect(await ended('getBalance')).toBe('UPSTREAM_UNAVAILABLE');
    expect(pending()[0]).toBe(1);
  });

  it("is answered with another node's response", async () => {
    scene = await stage([badRequest, failing(-32011)]);
    expect(JSON.parse(await ended('getBlock'))).toMatchObject({ code: -32011 });
  });

  it('goes to one node only if it must not be repeated', async () => {
    scene = await stage([tooLarge, tooLarge]);
    expect(await ended('requestAirdrop')).toBe('BODY_TOO_LARGE');
    expect(pending().sort()).toEqual([0, 1]);
  });

  it('does not count against the node', async () => {
    scene = await stage([tooLarge], { circuitFailuresMax: 1 });
    for (let i = 0; i < 3; i++) await ended('getBalance');
    expect(scene.pool.status()[0]).toMatchObject({ failuresInRow: 0, state: 'unknown' });
  });
});
