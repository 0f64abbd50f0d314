import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../service/program.ts';
import { runHere, runSolway } from './run-solway.ts';

/** A documentation address that no machine has. Source: RFC 5737. */
const FOREIGN = '203.0.113.9';

function folderWith(toml: string): string {
  const folder = temporaryFolder('listen-errors');
  writeFileSync(join(folder, 'solway.toml'), `${toml}\n[log]\nlevel = "silent"\n`);
  return folder;
}

const up = (toml: string) => runSolway(folderWith(toml), ['up', '--dev', '--port', '0']);
const doctor = (toml: string, ...args: string[]) =>
  runHere(folderWith(toml), ['doctor', '--port', '0', ...args]);

async function takenUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => void socket.close());
  await once(socket, 'listening');
  return socket.address().port;
}

it.each([
  ['[server]\nhost = "localhostt.invalid"', 'server.host: unknown host localhostt.invalid'],
  [`[shreds]\nudp_host = "${FOREIGN}"`, `shreds.udp_host: this machine does not have the address ${FOREIGN}`],
])('names the option of %j', async (toml, text) => {
  const { code, out } = await doctor(toml, '--dev');
  expect([code, out]).toEqual([1, expect.stringContaining(`: ${text}`)]);
});

it('prevents a start, with the option and the remedy', async () => {
  const port = await takenUdpPort();
  const [host, udp] = await Promise.all([
    up('[server]\nhost = "localhostt.invalid"'),
    up(`[shreds]\nudp_port = ${port}`),
  ]);
  expect([host.code, host.err]).toEqual([
    1,
    expect.stringContaining('solway: server.host: unknown host localhostt.invalid'),
  ]);
  expect(host.err).not.toContain('database_url');
  expect([udp.code, udp.err]).toEqual([
    1,
    expect.stringContaining(
      `solway: UDP port ${port} of 127.0.0.1 is in use: stop the other program or choose another port with shreds.udp_port`,
    ),
  ]);
});

it('warns without a shred source, and ignores the variables of code samples', async () => {
  const node = ['--upstream', 'http://127.0.0.1:9/', '--ws', 'off'];
  const samples = { SOLWAY_GRPC_URL: 'x', SOLWAY_GRPC_KEY: 'x', SOLWAY_FS_KEY: 'x' };
  const { out } = await runHere(folderWith(''), ['doctor', '--port', '0', ...node], samples);
  expect(out).toContain('warn  shred stage: no source is configured, so svc_fs_live_ keys are rejected');
  expect(out).not.toContain('has no effect: did you mean');
});
