import { expect, it } from 'vitest';
import { z } from 'zod';
import { IpcChannel, type IpcChannelOptions, type IpcMessage } from './ipc-channel.ts';

const kinds = { double: { request: z.number(), response: z.number() } } as const;
type Options = IpcChannelOptions<typeof kinds, typeof kinds>;

/** Two ends that hear each other. @param answer - what the far one does. */
function lineTo(answer: (asked: number) => number | Promise<number>, limits: Options['limits'] = {}) {
  const said: IpcMessage[] = [];
  const options = { outgoing: kinds, incoming: kinds, limits };
  const far: IpcChannel<typeof kinds, typeof kinds> = new IpcChannel({
    ...options,
    handlers: { double: answer },
    send: (message) => {
      said.push(message);
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
  return { near, far, said };
}

const never = (): Promise<number> => new Promise(() => {});

it('answers each question, in whatever order the answers come', async () => {
  const first = Promise.withResolvers<number>();
  const { near } = lineTo((asked) => (asked === 1 ? first.promise : asked * 2));
  const slow = near.request('double', 1);
  expect(await near.request('double', 4)).toBe(8);
  first.resolve(2);
  expect(await slow).toBe(2);
  expect(near.pending).toBe(0);
});

it('tells who asked what went wrong, in words', async () => {
  const { near } = lineTo(() => {
    throw new Error('it broke');
  });
  await expect(near.request('double', 1)).rejects.toThrow('unexpected failure: it broke');
});

it('takes nothing for a question or an answer that is none', async () => {
  const { near, far, said } = lineTo(() => 'two' as unknown as number);
  await expect(near.request('double', 1)).rejects.toThrow('invalid response to "double"');
  for (const about of ['double', 'toString', 'nothing']) {
    far.receive({ kind: 'question', id: 7, method: about, value: 'x' });
  }
  far.receive({ kind: 'answer', id: 99, value: 1 });
  far.receive('what else may come');
  await expect.poll(() => said.filter(({ kind }) => kind === 'fault').length).toBe(3);
});

it('waits neither for too many answers nor for too long, nor for somebody who is gone', async () => {
  const { near } = lineTo(never, { pendingMax: 2, responseTimeoutMs: 5 });
  const [late, gone] = [near.request('double', 1), near.request('double', 2, 60_000)];
  const told = expect(gone).rejects.toThrow('the other process has ended');
  await expect(near.request('double', 3)).rejects.toThrow('too many pending requests');
  await expect(late).rejects.toThrow('no response after 5 ms');
  near.close();
  await told;
  await expect(near.request('double', 4)).rejects.toThrow('the other process has ended');
  expect([near.pending, near.isClosed]).toEqual([0, true]);
});
