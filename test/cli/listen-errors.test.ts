import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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

it.each([
  ['[server]\nhost = "localhostt.invalid"', 'server.host: unknown host localhostt.invalid'],
  [`[shreds]\nudp_host = "${FOREIGN}"`, `shreds.udp_host: this machine does not have the address ${FOREIGN}`],
])('names the option of %j', async (toml, text) => {
  const { code, out } = await doctor(toml, '--dev');
  expect([code, out]).toEqual([1, expect.stringContaining(`: ${text}`)]);
});

it('prevents a start, with the option and the remedy', async () => {
  const host = await up('[server]\nhost = "localhostt.invalid"');
  expect([host.code, host.err]).toEqual([
    1,
    expect.stringContaining('solway: server.host: unknown host localhostt.invalid'),
  ]);
  expect(host.err).not.toContain('database_url');
});
