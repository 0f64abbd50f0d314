import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../src/app/error-text.ts';
import { listenAt } from '../../src/app/servers/listen.ts';
import { temporaryFolder } from '../service/program.ts';
import type { CommandResult } from './run-solway.ts';

const program = join(import.meta.dirname, 'run-unprivileged.ts');

/** Root may read and write everything, so the program then runs as the user `nobody`. */
const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Runs commands without privileges, all in one process. @returns null if that process cannot run. */
function runAll(commands: readonly (readonly string[])[]): CommandResult[] | null {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  const { status, stdout } = spawnSync(process.execPath, [program, JSON.stringify(commands)], {
    ...{ ...user, cwd: '/', env, encoding: 'utf8' },
  });
  return status === 0 ? (JSON.parse(stdout) as CommandResult[]) : null;
}

function openFolder(mode = 0o777): string {
  const folder = temporaryFolder('permissions');
  chmodSync(folder, mode);
  return folder;
}

const folder = openFolder();
const existing = join(folder, 'existing');
const locked = join(openFolder(0o555), 'data');
const withDatabase = openFolder();
const database = join(withDatabase, 'solway.db');
const configuration = join(folder, 'private.toml');
mkdirSync(existing, { mode: 0o500 });
writeFileSync(database, '', { mode: 0o400 });
writeFileSync(configuration, '');
chmodSync(configuration, 0);

const portStart = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const hasPrivilegedPorts = existsSync(portStart) && Number(readFileSync(portStart, 'utf8')) > 1;
const up = [folder, 'up', '--port', '0'];
const unusable = `has no permission for ${existing}: change its owner or permissions`;
const noPort = 'no permission to listen on port 1 of 127.0.0.1: choose a port above 1023';
const rows: readonly (readonly [string, readonly string[], string])[] = [
  ['use an existing data folder', [...up, '--data-dir', existing], unusable],
  ['check a data folder', [folder, 'doctor', '--port', '0', '--data-dir', existing], unusable],
  ['create the data folder', [...up, '--data-dir', locked], `has no permission for ${locked}: `],
  ['open the database', [...up, '--data-dir', withDatabase], `has no permission for ${database}: `],
  [
    'read the configuration',
    [...up, '--config', configuration],
    `${configuration}: the file cannot be read: give this user read permission`,
  ],
  ...(hasPrivilegedPorts
    ? [['bind a port', [folder, 'up', '--port', '1', '--data-dir', join(folder, 'data')], noPort] as const]
    : []),
];
// The checkout may be in a folder that `nobody` cannot read.
const results = runAll(rows.map(([, command]) => command));

it.skipIf(results === null).each(rows)(
  'a start without permission to %s names it',
  (_what, command, text) => {
    const { code, out, err } = results![rows.findIndex((row) => row[1] === command)]!;
    expect(code).toBeGreaterThan(0);
    expect(out + err).toContain(text);
  },
);

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
