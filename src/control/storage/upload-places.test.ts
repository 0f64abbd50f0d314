import { describe, expect, it } from 'vitest';
import { storageLimits } from './limits.ts';
import { UploadPlaces } from './upload-places.ts';

const never = new AbortController().signal;
const places = (change: Partial<typeof storageLimits> = {}): UploadPlaces =>
  new UploadPlaces({ ...storageLimits, uploadsMax: 3, uploadsPerOwnerMax: 2, ...change });

describe('places for uploads', () => {
  it('are given in the order of asking, to whoever may have one', async () => {
    const line = places();
    const given: string[] = [];
    const ask = (name: string): Promise<void> =>
      line.take(name[0] ?? '', never).then(() => void given.push(name));
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(ask);
    await Promise.all([all[0], all[1], all[3]]);
    expect([given, line.taken]).toEqual([['a1', 'a2', 'b1'], 3]);
    line.giveBack('b');
    await all[4];
    line.giveBack('a');
    await all[2];
    line.giveBack('a');
    await all[5];
    expect([given, line.taken]).toEqual([['a1', 'a2', 'b1', 'b2', 'a3', 'c1'], 3]);
    for (const owner of ['a', 'b', 'c']) line.giveBack(owner);
    expect(line.taken).toBe(0);
  });

  it('are not waited for by more than may', async () => {
    const line = places({ uploadsMax: 1, uploadsWaitingMax: 1 });
    await line.take('a', never);
    const waiting = line.take('a', never);
    await expect(line.take('b', never)).rejects.toMatchObject({ code: 'OVERLOADED' });
    line.giveBack('a');
    await waiting;
  });

  it('are not waited for longer than is allowed, nor by who has left', async () => {
    const line = places({ uploadsMax: 1, uploadsWaitMs: 20 });
    await line.take('a', never);
    await expect(line.take('a', never)).rejects.toMatchObject({ code: 'OVERLOADED' });
    const leaving = new AbortController();
    const waiting = line.take('a', leaving.signal);
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CLIENT_GONE' });
    await expect(line.take('a', leaving.signal)).rejects.toMatchObject({ code: 'CLIENT_GONE' });
    line.giveBack('a');
    expect(line.taken).toBe(0);
    await line.take('b', never);
  });
});
