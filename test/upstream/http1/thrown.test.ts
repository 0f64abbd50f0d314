import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Asker } from '../../../src/protocol/call.ts';
import type { BodySink, Question } from '../../../src/upstream/exchange.ts';
import type { UpstreamNode } from '../../../src/upstream/node.ts';
import { stage, until } from '../mock/pool.ts';
import { call, nodeAt, PATIENCE_MS, told } from './node-rig.ts';
import { answering, envelope, http, type RawNode, startRaw } from './raw-node.ts';

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

/** Puts a question that breaks over what comes of its answer. */
function ask(broken: Partial<Question>): void {
  const same = { id: 1, method: 'getBlock', params: null, mayShare: false, takesLong: false };
  const question = { ...same, exchanged: () => true, began: () => null, ...broken };
  const now = performance.now();
  node.post(question, now + PATIENCE_MS, now);
}

const sink: BodySink = { piece: breaks, ended: breaks, failed: breaks };
const passedOn: Question['began'] = (_start, _bytes, flow) => {
  flow.resume();
  return sink;
};

describe('what is thrown over the bytes of a node', () => {
  it.each<[string, Partial<Question>]>([
    ['when they have come', { exchanged: breaks }],
    ['when they begin', { takesLong: true, began: breaks }],
    ['while they come', { takesLong: true, began: passedOn }],
  ])('%s ends their connection, and the next goes over another', async (_name, broken) => {
    ask(broken);
    await until(() => raw.sockets.length === 1 && raw.open() === 0);
    raw.become(answering);
    expect([await told(node), raw.sockets.length]).toEqual(['7', 2]);
  });

  it('fails the call of whoever takes a long answer and cannot', async () => {
    const scene = await stage([{ name: 'raw', url: raw.url }], { longAnswerFromBytes: 1_000 });
    const failure = await new Promise<unknown>((resolve) => {
      const asker: Asker = { answered: resolve, failed: resolve, long: { answeredLong: breaks } };
      scene.pool.put(call('getProgramAccounts'), asker);
    });
    expect(failure).toMatchObject({ code: 'INTERNAL' });
    expect(scene.pool.status()[0]!.inFlight).toBe(0);
    await scene.close();
  });
});
