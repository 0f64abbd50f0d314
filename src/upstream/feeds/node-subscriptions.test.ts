import { describe, expect, it } from 'vitest';
import { NodeSubscriptions } from './node-subscriptions.ts';
import { readNodeMessage } from './pubsub-message.ts';

/** Subscriptions of a connection on which only the test acknowledges requests, after their timeout. */
function start() {
  const sent: { id: number; method: string; params: unknown[] }[] = [];
  const subscriptions = new NodeSubscriptions({
    send: (request) => sent.push(JSON.parse(request.toString())),
    ackTimeoutMs: 1,
    containsSecret: () => false,
    isCredible: () => true,
    onDuplicateId: () => sent.push({ id: 0, method: 'doubled', params: [] }),
  });
  const notifications: string[] = [];
  const sink = {
    onNotification: (result: Buffer) => void notifications.push(result.toString()),
    onLost: () => {},
  };
  const vote = () => subscriptions.subscribe({ kind: 'vote', params: Buffer.from('[]') }, sink);
  const take = (message: unknown): void =>
    subscriptions.handle(readNodeMessage(Buffer.from(JSON.stringify(message)))!);
  const acknowledge = (at: number, result: number): void =>
    take({ jsonrpc: '2.0', result, id: sent[at]!.id });
  const onNotification = (subscription: number, result: unknown): void =>
    take({ jsonrpc: '2.0', method: 'voteNotification', params: { result, subscription } });
  return { sent, notifications, vote, acknowledge, onNotification };
}

describe('a late acknowledgement', () => {
  it('triggers an unsubscribe request', async () => {
    const { sent, vote, acknowledge } = start();
    expect(await vote()).toEqual({ kind: 'timeout' });
    acknowledge(0, 5);
    expect(sent.map(({ method, params }) => [method, params])).toEqual([
      ['voteSubscribe', []],
      ['voteUnsubscribe', [5]],
    ]);
  });

  it('does not end a newer identical subscription', async () => {
    const { sent, notifications, vote, acknowledge, onNotification } = start();
    await vote();
    const again = vote();
    // Agave gives identical subscriptions of a connection the same id.
    acknowledge(0, 5);
    acknowledge(1, 5);
    expect((await again).kind).toBe('opened');
    onNotification(5, 1);
    expect(notifications).toEqual(['1']);
    expect(sent.map(({ method }) => method)).toEqual(['voteSubscribe', 'voteSubscribe']);
  });
});
