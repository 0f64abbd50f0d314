import { expect, it } from 'vitest';
import { unlessAborted } from './unless-aborted.ts';

const never = new Promise<number>(() => {});

it('settles like the promise', async () => {
  expect(await unlessAborted(Promise.resolve(1), new AbortController().signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error('no')), new AbortController().signal)).rejects.toThrow(
    'no',
  );
});

it('rejects when the signal is aborted', async () => {
  const ending = new AbortController();
  const waiting = unlessAborted(never, ending.signal);
  ending.abort(new Error('over'));
  await expect(waiting).rejects.toThrow('over');
  await expect(unlessAborted(Promise.resolve(1), ending.signal)).rejects.toThrow('over');
});
