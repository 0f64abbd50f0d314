import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { descriptorsOf } from '../../programs/process-stats.ts';
import { IdleCountWatch } from './idle-count-watch.ts';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

const gateway = { name: 'gateway', when: 'then', pid: () => process.pid, count: descriptorsOf };
const ledger = { name: 'ledger', when: 'then', count: descriptorsOf };

const watchSelf = (closedWithinMs: number): IdleCountWatch =>
  new IdleCountWatch({ ...gateway, closedWithinMs });

describe('descriptors of a process before and after the load', () => {
  it('include a file that stays open', async () => {
    const watch = watchSelf(0);
    const file = openSync('/dev/null', 'r');
    undo.push(() => closeSync(file));
    const { before, after } = await watch.afterwards();
    expect(after! - before!).toBe(1);
  });

  it('are counted again until a socket is closed', async () => {
    const server = createServer((socket: Socket) => socket.once('data', () => socket.destroy())).listen(0);
    undo.push(() => server.close());
    await once(server, 'listening');
    const watch = watchSelf(30_000);
    const before = descriptorsOf(process.pid);
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
    expect(descriptorsOf(process.pid)).toBeGreaterThan(before);
    const reported = watch.afterwards();
    client
      .on('end', () => client.destroy())
      .resume()
      .write('go');
    const { after } = await reported;
    expect(after).toBeLessThanOrEqual(before);
  });

  it('are unknown for a process that does not run', async () => {
    const watch = new IdleCountWatch({ ...ledger, pid: () => null, closedWithinMs: 30_000 });
    expect(await watch.afterwards()).toEqual({ name: 'ledger', when: 'then', before: null, after: null });
    const gone = new IdleCountWatch({ ...ledger, pid: () => 2 ** 30, closedWithinMs: 30_000 });
    expect(await gone.afterwards()).toEqual({ name: 'ledger', when: 'then', before: null, after: null });
  });

  it('are unknown for another process', async () => {
    let pid = process.pid;
    const watch = new IdleCountWatch({ ...ledger, pid: () => pid, closedWithinMs: 0 });
    pid = process.ppid;
    const { before, after } = await watch.afterwards();
    expect([typeof before, after]).toEqual(['number', null]);
  });
});
