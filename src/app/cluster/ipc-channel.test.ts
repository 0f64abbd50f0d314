import { expect, it } from 'vitest';
import { z } from 'zod';
import { IpcChannel, type IpcChannelOptions, type IpcMessage } from './ipc-channel.ts';

const kinds = { double: { request: z.number(), response: z.number() } } as const;
type Options = IpcChannelOptions<typeof kinds, typeof kinds>;

/** Two connected ends. @param answer - handler of the far end. */
function connectTo(answer: (request: number) => number | Promise<number>, limits: Options['limits'] = {}) {
  const sent: IpcMessage[] = [];
  const options = { outgoing: kinds, incoming: kinds, limits };
  const far: IpcChannel<typeof kinds, typeof kinds> = new IpcChannel({
    ...options,
    handlers: { double: answer },
    send: (message) => {
      sent.push(message);
      near.receive(message);
      return true;
    },
  });
  const near: IpcChannel<typeof kinds, typeof kinds> = new IpcChannel({
    ...options,
    handlers: { double: () => 0 },
    send: (message) => {
      far.receive(message);
      return true;
    },
  });
  return { near, far, sent };
}

const never = (): Promise<number> => new Promise(() => {});

it('matches responses that arrive in another order', async () => {
  const first = Promise.withResolvers<number>();
  const { near } = connectTo((value) => (value === 1 ? first.promise : value * 2));
  const slow = near.request('double', 1);
  expect(await near.request('double', 4)).toBe(8);
  first.resolve(2);
  expect(await slow).toBe(2);
  expect(near.pending).toBe(0);
});

it('rejects invalid requests and responses', async () => {
  const { near, far, sent } = connectTo(() => 'two' as unknown as number);
  await expect(near.request('double', 1)).rejects.toThrow('invalid response to "double"');
  for (const about of ['double', 'toString', 'nothing']) {
    far.receive({ kind: 'question', id: 7, method: about, value: 'x' });
  }
  far.receive({ kind: 'answer', id: 99, value: 1 });
  far.receive('not a message');
  await expect.poll(() => sent.filter(({ kind }) => kind === 'fault').length).toBe(3);
});

it('limits pending requests, times out, and fails when closed', async () => {
  const { near } = connectTo(never, { pendingMax: 2, responseTimeoutMs: 5 });
  const [late, gone] = [near.request('double', 1), near.request('double', 2, 60_000)];
  const rejected = expect(gone).rejects.toThrow('the other process has ended');
  await expect(near.request('double', 3)).rejects.toThrow('too many pending requests');
  await expect(late).rejects.toThrow('no response after 5 ms');
  near.close();
  await rejected;
  await expect(near.request('double', 4)).rejects.toThrow('the other process has ended');
  expect([near.pending, near.isClosed]).toEqual([0, true]);
});
