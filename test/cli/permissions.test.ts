import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../src/app/error-text.ts';
import { listenAt } from '../../src/app/servers/listen.ts';
import { temporaryFolder } from '../service/program.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

/** Root may read and write everything, so the program then runs as the user `nobody`. */
const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Runs `solway …` without privileges. */
function run(folder: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, SOLWAY_GRPC_PORT: '0', SOLWAY_LOG_LEVEL: 'silent' };
  return spawnSync(process.execPath, [main, ...args], { ...user, cwd: folder, env, encoding: 'utf8' });
}

function openFolder(mode = 0o777): string {
  const folder = temporaryFolder('permissions');
  chmodSync(folder, mode);
  return folder;
}

/** The checkout may be in a folder that `nobody` cannot read. */
const canRun = run('/', '--version').status === 0;
const portStart = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const hasPrivilegedPorts = existsSync(portStart) && Number(readFileSync(portStart, 'utf8')) > 1;

describe.skipIf(!canRun)('a start without permission', () => {
  it.each(['up', 'doctor'])('to use an existing data folder names the folder: %s', (command) => {
    const folder = openFolder();
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o500 });
    const { status, stdout, stderr } = run(folder, command, '--port', '0', '--data-dir', data);
    expect(status).toBe(1);
    expect(stdout + stderr).toContain(`has no permission for ${data}: change its owner or permissions`);
  });

  it('to create the data folder names the folder', () => {
    const folder = openFolder(0o555);
    const data = join(folder, 'data');
    const { status, stderr } = run(folder, 'up', '--port', '0', '--data-dir', data);
    expect(status).toBe(1);
    expect(stderr).toContain(`has no permission for ${data}: `);
  });

  it('to open the database names the file', () => {
    const folder = openFolder();
    const database = join(folder, 'solway.db');
    writeFileSync(database, '', { mode: 0o400 });
    const { status, stderr } = run(folder, 'up', '--port', '0', '--data-dir', folder);
    expect(status).toBe(1);
    expect(stderr).toContain(`has no permission for ${database}: `);
  });

  it('to read the configuration names the file', () => {
    const folder = openFolder();
    const file = join(folder, 'private.toml');
    writeFileSync(file, '');
    chmodSync(file, 0);
    const { status, stderr } = run(folder, 'up', '--port', '0', '--config', file);
    expect(status).not.toBe(0);
    expect(stderr).toContain(`${file}: the file cannot be read: give this user read permission`);
  });

  it.skipIf(!hasPrivilegedPorts)('to bind a port names port and address', () => {
    const folder = openFolder();
    const { status, stderr } = run(folder, 'up', '--port', '1', '--data-dir', join(folder, 'data'));
    expect(status).toBe(1);
    expect(stderr).toContain('no permission to listen on port 1 of 127.0.0.1: choose a port above 1023');
    expect(stderr).toContain('CAP_NET_BIND_SERVICE');
  });
});

describe('a permission error', () => {
  const denied = (details: object): Error =>
    Object.assign(new Error('denied'), { code: 'EACCES', ...details });

  it('contains the path and the remedy', () => {
    const text = errorText(denied({ syscall: 'open', path: '/etc/solway/redis-ca.pem' }));
    expect(text).toMatch(
      /has no permission for \/etc\/solway\/redis-ca\.pem: change its owner or permissions/,
    );
    expect(text).not.toContain('data_dir');
  });

  it('contains the address and the option', async () => {
    const place = {
      host: '0.0.0.0',
      port: 443,
      hostField: 'server.host',
      portOption: '--port',
      kind: 'port',
    };
    const listening = listenAt(place, () => Promise.reject(denied({ syscall: 'listen' })));
    await expect(listening).rejects.toThrow(
      /port 443 of 0\.0\.0\.0: choose a port above 1023 with --port, or .* CAP_NET_BIND_SERVICE/,
    );
  });
});
