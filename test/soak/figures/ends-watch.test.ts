import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EndsWatch } from './ends-watch.ts';

const undo: (() => void)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  for (const one of undo.splice(0)) one();
});

/** Connects to each received port and reports that. */
const CLIENT = `
  const { connect } = require('node:net');
  const opened = (port) => connect(port, '127.0.0.1', () => process.send('connected')).resume();
  process.on('message', opened);
  process.send('up');
`;

async function startClient(): Promise<ChildProcess> {
  const client = spawn(process.execPath, ['-e', CLIENT], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  undo.push(() => client.kill());
  await once(client, 'message');
  return client;
}

/** Result of three samples. */
function seenBy(watch: EndsWatch, from: number): number | undefined {
  vi.advanceTimersByTime(3_000);
  watch.endWindow(from);
  return watch.windows.find((window) => window.from === from)?.beyond;
}

describe('descriptors of a process beyond those at the other ends of its connections', () => {
  it('are constant with every connection, and grow with other files', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    undo.push(() => server.close());
    await once(server, 'listening');
    const client = await startClient();
    const watch = new EndsWatch({ pid: () => process.pid, others: [() => client.pid ?? null] });
    undo.push(() => watch.stop());
    const before = seenBy(watch, 0)!;
    for (let connection = 0; connection < 3; connection++) {
      const accepted = once(server, 'connection');
      const connected = once(client, 'message');
      client.send((server.address() as AddressInfo).port);
      const [socket] = await accepted;
      undo.push(() => socket.destroy());
      await connected;
    }
    expect(seenBy(watch, 10)).toBe(before);
    const file = openSync('/dev/null', 'r');
    undo.push(() => closeSync(file));
    expect(seenBy(watch, 20)).toBe(before + 1);
  });

  it('are not counted when a process is gone', () => {
    const watch = new EndsWatch({ pid: () => process.pid, others: [() => null] });
    undo.push(() => watch.stop());
    expect(seenBy(watch, 0)).toBeUndefined();
  });
});
