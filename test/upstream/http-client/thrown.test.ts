import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResponseHandler } from '../../../src/protocol/call.ts';
import type { BodyListener, NodeRequest } from '../../../src/upstream/exchange.ts';
import type { UpstreamNode } from '../../../src/upstream/node.ts';
import { stage, until } from '../mock/pool.ts';
import { call, nodeAt, outcomeText, PATIENCE_MS } from './node-rig.ts';
import { envelope, http, type RawNode, responding, startRaw } from './raw-node.ts';

const LONG = JSON.stringify('x'.repeat(1_000_000));
const breaks = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};

let raw: RawNode;
let node: UpstreamNode;
beforeEach(async () => {
  raw = await startRaw(({ socket, id }) => socket.write(http(envelope(id, LONG))));
  node = nodeAt(raw.url, { longAnswerFromBytes: 1_000 });
});
afterEach(async () => {
  await node.close();
  await raw.close();
});

/** Sends a request whose listener throws. */
function send(broken: Partial<NodeRequest>): void {
  const same = { id: 1, method: 'getBlock', params: null, canPipeline: false, acceptsStream: false };
  const question = { ...same, onExchange: () => true, onStreamStart: () => null, ...broken };
  const now = performance.now();
  node.send(question, now + PATIENCE_MS, now);
}

const sink: BodyListener = { onData: breaks, onEnd: breaks, onError: breaks };
const passedOn: NodeRequest['onStreamStart'] = (_start, _bytes, flow) => {
  flow.resume();
  return sink;
};

describe('exception while processing a response', () => {
  it.each<[string, Partial<NodeRequest>]>([
    ['when they have come', { onExchange: breaks }],
    ['when they begin', { acceptsStream: true, onStreamStart: breaks }],
    ['while they come', { acceptsStream: true, onStreamStart: passedOn }],
  ])('%s closes the connection; the next request uses another', async (_name, broken) => {
    send(broken);
    await until(() => raw.sockets.length === 1 && raw.open() === 0);
    raw.become(responding);
    expect([await outcomeText(node), raw.sockets.length]).toEqual(['7', 2]);
  });

  it('fails the call of a throwing stream handler', async () => {
    const scene = await stage([{ name: 'raw', url: raw.url }], { longAnswerFromBytes: 1_000 });
    const failure = await new Promise<unknown>((resolve) => {
      const listener: ResponseHandler = {
        onResponse: resolve,
        onError: resolve,
        stream: { onStream: breaks },
      };
      scene.pool.dispatch(call('getProgramAccounts'), listener);
    });
    expect(failure).toMatchObject({ code: 'INTERNAL' });
    expect(scene.pool.status()[0]!.inFlight).toBe(0);
    await scene.close();
  });
});
