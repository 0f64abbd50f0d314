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

/** Leaves a socket file behind, like a killed process. */
const killed = (path: string): void => {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  expect(spawnSync(process.execPath, ['-e', script]).signal).toBe('SIGKILL');
};

it('passes the actor to the service, and removes its file on close', async () => {
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

it('replaces the socket of a killed service', async () => {
  const folder = temporaryFolder('socket');
  killed(join(folder, 'reload.sock'));
  expect(await reloadLocally(folder, 'anna')).toBeNull();
  await open(folder, changing('log.level'));
  expect(await reloadLocally(folder, 'anna')).toEqual({ changed: ['log.level'], restart: [] });
});

it('does not replace the socket of a running service', async () => {
  const folder = temporaryFolder('socket');
  await open(folder, changing('first'));
  await open(folder, changing('second'));
  expect(logged.join()).toContain('Reload socket unavailable');
  await stops.pop()!();
  expect(await reloadLocally(folder, 'anna')).toEqual({ changed: ['first'], restart: [] });
});

it('returns error texts without credentials', async () => {
  const folder = temporaryFolder('socket');
  await open(folder, async () => {
    throw new TypeError('at https://user:secret@node.example/key');
  });
  await expect(reloadLocally(folder, 'anna')).rejects.toThrow(
    /^unexpected failure: at https:\/\/node\.example\/\[redacted\]$/,
  );
});
