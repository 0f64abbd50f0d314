import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { reloadLocally } from '../../src/app/reload-commands.ts';
import { openReloadSocket } from '../../src/app/reload-socket.ts';
import { createLogger } from '../../src/base/log.ts';
import type { ReloadActor, ReloadResult } from '../../src/control/api/services.ts';
import { temporaryFolder } from '../service/program.ts';

const logged: string[] = [];
const log = createLogger('info', (line) => logged.push(line));
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  logged.length = 0;
  for (const stop of stops.splice(0)) await stop();
});

const open = async (folder: string, reload: (by: ReloadActor) => Promise<ReloadResult>): Promise<void> => {
  stops.push(await openReloadSocket(folder, reload, log));
};
const changing = (field: string) => async (): Promise<ReloadResult> => ({ changed: [field], restart: [] });

/** Leaves what a process leaves behind that is killed while it listens. */
const killed = (path: string): void => {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  expect(spawnSync(process.execPath, ['-e', script]).signal).toBe('SIGKILL');
};

it('tells the service who acts, and closes without leaving its file', async () => {
  const folder = temporaryFolder('socket');
  const actors: string[] = [];
  await open(folder, async ({ actor }) => {
    actors.push(actor);
    return { changed: [], restart: ['server.port'] };
  });
  expect(await reloadLocally(folder, 'Jörg')).toEqual({ changed: [], restart: ['server.port'] });
  expect(actors).toEqual(['cli:J?rg']);
  await stops.pop()!();
  expect(existsSync(join(folder, 'reload.sock'))).toBe(false);
  expect(await reloadLocally(folder, 'anna')).toBeNull();
});

it('takes the place of a service that was killed', async () => {
  const folder = temporaryFolder('socket');
  killed(join(folder, 'reload.sock'));
  expect(await reloadLocally(folder, 'anna')).toBeNull();
  await open(folder, changing('log.level'));
  expect(await reloadLocally(folder, 'anna')).toEqual({ changed: ['log.level'], restart: [] });
});

it('leaves the socket of another running service alone', async () => {
  const folder = temporaryFolder('socket');
  await open(folder, changing('first'));
  await open(folder, changing('second'));
  expect(logged.join()).toContain('reload socket unavailable');
  await stops.pop()!();
  expect(await reloadLocally(folder, 'anna')).toEqual({ changed: ['first'], restart: [] });
});

it('does not keep a service from starting where the path is too long', async () => {
  await open(join(temporaryFolder('socket'), 'x'.repeat(120)), changing('first'));
  expect(logged.join()).toContain('reload socket unavailable');
});

it('gives the words of an own error, and nothing of any other', async () => {
  const folder = temporaryFolder('socket');
  await open(folder, async () => {
    throw new TypeError('at https://user:secret@node.example/key');
  });
  await expect(reloadLocally(folder, 'anna')).rejects.toThrow(
    /^unexpected failure: at https:\/\/node\.example\/\[redacted\]$/,
  );
});
