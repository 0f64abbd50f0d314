import { describe, expect, it } from 'vitest';
import { healthy, refusing } from './mock/behaviors.ts';
import { stageForEach } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';

const tooLarge = refusing(413);
const badRequest = refusing(400);
const stage = stageForEach();

it('rejects a response without free memory, without blaming its node', async () => {
  const half: Behaviour = ({ id }, reply) => {
    const body = `{"jsonrpc":"2.0","result":"${'a'.repeat(150_000)}","id":${id}}`;
    reply.writeHead(200, { 'content-length': body.length }).write(body.slice(0, 120_000));
  };
  const limits = { responseMaxBytes: 200_000, responseBufferMaxBytes: 200_000 };
  const { pool, send } = await stage([half, half], limits);
  expect(await Promise.race([send('getBalance'), send('getBlock', [1])])).toBe('OVERLOADED');
  expect(pool.status().map(({ failuresInRow }) => failuresInRow)).toEqual([0, 0]);
});

describe('request rejected by a node', () => {
  it.each([
    ['too large', tooLarge],
    ['malformed', badRequest],
  ])('because it is %s is retried on another node', async (_name, rejecting) => {
    const { sendMany, counts } = await stage([rejecting, rejecting, healthy('7')]);
    expect(await sendMany(10, 'simulateTransaction')).toEqual(Array(10).fill('7'));
    expect(Math.max(...counts())).toBe(10);
  });

  it.each([
    ['too large', 'BODY_TOO_LARGE', tooLarge],
    ['malformed', 'INVALID_REQUEST', badRequest],
  ])(
    "because it is %s fails as the caller's fault (%s) if all reject it, after one attempt each",
    async (_name, code, rejecting) => {
      const { send, counts } = await stage([rejecting, rejecting, rejecting]);
      expect(await send('sendTransaction')).toBe(code);
      expect(counts()).toEqual([1, 1, 1]);
    },
  );

  it('does not count against the node', async () => {
    const { pool, sendMany } = await stage([tooLarge], { circuitFailuresMax: 1 });
    await sendMany(3);
    expect(pool.status()[0]).toMatchObject({ failuresInRow: 0, state: 'unknown' });
  });
});
