import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { afterEach, describe, expect, it } from 'vitest';
import { pingTail } from '../../../src/protocol/geyser/encode/envelope.ts';
import { encodeTimestamp } from '../../../src/protocol/geyser/encode/envelope.ts';
import { GrpcError } from '../../../src/protocol/grpc/status.ts';
import { connected, listen, nothing } from '../../clients/yellowstone-client.ts';
import { NONE, TestGrpcServer, TOKEN } from './start-grpc-server.ts';

/** The published client against the server alone, with a scripted handler. */
let stage: TestGrpcServer;
const ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await stage.stop();
});

async function subscribe(token = TOKEN) {
  const client = await connected(`http://127.0.0.1:${stage.port}`, token);
  const listening = await listen(client, { ...nothing(), slots: { s: {} }, blocksMeta: { m: {} } });
  ends.push(() => listening.close());
  return listening;
}

describe('the published Yellowstone client', () => {
  it('subscribes without filters and receives pings, pongs and updates', async () => {
    stage = await new TestGrpcServer().listen();
    const listening = await subscribe();
    const stream = await stage.stream();
    await stream.until(({ requests }) =>
      requests.some((request) => Object.keys(request as object).length > 0),
    );
    expect(stream.requests.at(-1)).toMatchObject({ slots: new Map([['s', {}]]), blocksMeta: ['m'] });
    await listening.first(({ ping }) => ping !== undefined);
    await listening.send({ ...nothing(), ping: { id: 5 } });
    await listening.first(({ pong }) => pong?.id === 5);
    const slot = SubscribeUpdate.encode(
      SubscribeUpdate.fromPartial({ slot: { slot: '7' }, createdAt: new Date(1) }),
    ).finish();
    for (let i = 0; i < 100; i++) stream.sink.push(Buffer.of(10, 1, 115), slot);
    stream.sink.push(NONE, pingTail(encodeTimestamp(77_000n)));
    await listening.first(({ createdAt }) => createdAt?.getTime() === 77_000);
    expect(listening.updates.filter((update) => update.slot?.slot === '7').length).toBe(100);
  });

  it('receives the reason for the end of its stream after the updates', async () => {
    stage = await new TestGrpcServer().listen();
    const listening = await subscribe();
    const { sink } = await stage.stream();
    sink.push(NONE, pingTail(encodeTimestamp(5_000n)));
    sink.end({ code: 'INVALID_ARGUMENT', message: 'failed to create filter: é, really' });
    const failure = await listening.failure();
    expect(`${failure.message} ${failure.cause}`).toContain('failed to create filter: é, really');
    expect(listening.updates.some(({ createdAt }) => createdAt?.getTime() === 5_000)).toBe(true);
  });

  it('is refused with a wrong key, for streams and calls', async () => {
    stage = await new TestGrpcServer().listen();
    const client = await connected(`http://127.0.0.1:${stage.port}`, 'wrong');
    await expect(client.subscribe(nothing())).rejects.toThrow();
    await expect(client.getSlot()).rejects.toThrow();
    expect(stage.opened).toEqual([]);
  });

  it('makes unary calls and receives their errors', async () => {
    stage = await new TestGrpcServer().listen();
    const client = await connected(`http://127.0.0.1:${stage.port}`, TOKEN);
    stage.unary = async (_caller, rpc) => {
      if (rpc !== 'GetSlot') throw new GrpcError('INTERNAL', 'block is not available yet');
      return Buffer.of(8, 42);
    };
    expect(await client.getSlot()).toEqual({ slot: '42' });
    await expect(client.getBlockHeight()).rejects.toThrow();
  });
});
