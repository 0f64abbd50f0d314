import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../service/program.ts';
import { runSolway } from './run-solway.ts';

/** An address of documentation, which no machine has. Source: RFC 5737. */
const AWAY = '203.0.113.9';

/** A start with a configuration that cannot be listened with. */
async function start(toml: string, command = 'up') {
  const folder = temporaryFolder('listen-errors');
  writeFileSync(join(folder, 'solway.toml'), `${toml}\n[log]\nlevel = "silent"\n`);
  return runSolway(folder, [command, '--dev', '--port', '0']);
}

async function takenUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => void socket.close());
  await once(socket, 'listening');
  return socket.address().port;
}

describe('a start that cannot listen', () => {
  it.each([
    ['[server]\nhost = "localhostt.invalid"', 'server.host: unknown host localhostt.invalid'],
    [`[grpc]\nhost = "${AWAY}"`, `grpc.host: this machine does not have the address ${AWAY}`],
    ['[shreds]\nudp_host = "localhostt.invalid"', 'shreds.udp_host: unknown host localhostt.invalid'],
    [`[shreds]\nudp_host = "${AWAY}"`, `shreds.udp_host: this machine does not have the address ${AWAY}`],
  ])('with %j names the field', async (toml, words) => {
    const { code, err } = await start(toml);
    expect(err).toContain(`solway: ${words}`);
    expect(err).not.toContain('database_url');
    expect(code).toBe(1);
  });

  it('on a UDP port that is taken says with which field another is chosen', async () => {
    const port = await takenUdpPort();
    const { code, err } = await start(`[shreds]\nudp_port = ${port}`);
    expect(err).toContain(
      `solway: UDP port ${port} of 127.0.0.1 is in use: stop the other program or choose another port with shreds.udp_port`,
    );
    expect(code).toBe(1);
  });
});

describe('the doctor', () => {
  it('looks at the UDP port of shreds', async () => {
    const port = await takenUdpPort();
    const taken = await start(`[shreds]\nudp_port = ${port}`, 'doctor');
    expect(taken.out).toContain(`warn  UDP port of shreds: ${port} of 127.0.0.1 is in use`);
    const away = await start(`[shreds]\nudp_host = "${AWAY}"`, 'doctor');
    expect(away.out).toContain('BAD   UDP port of shreds: shreds.udp_host: this machine does not have');
    expect(away.code).toBe(1);
  });

  it('warns where nothing tells of the shred stage, and passes over the variables of the snippets', async () => {
    const folder = temporaryFolder('listen-errors');
    const node = ['--upstream', 'http://127.0.0.1:9/', '--ws', 'off'];
    const snippets = { SOLWAY_GRPC_URL: 'x', SOLWAY_GRPC_KEY: 'x', SOLWAY_FS_KEY: 'x' };
    const { out } = await runSolway(folder, ['doctor', '--port', '0', ...node], snippets);
    expect(out).toContain('warn  shred stage: no source is configured, so svc_fs_live_ keys are refused');
    expect(out).not.toContain('has no effect: did you mean');
  });
});
