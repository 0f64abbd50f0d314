import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuMsOf } from './cpu-time.ts';
import { ledgerPid, type Program, startProgram, temporaryFolder } from './program.ts';
import { createRpcClient } from './rpc-client.ts';
import { writeConfiguration } from './start-service.ts';

/** Runs the commands of the README with text output, from the sources as users do. */
const clone = join(import.meta.dirname, '..', '..');
const dataDir = temporaryFolder('first-start');
const config = writeConfiguration('[localnet]\nslot_ms = 50\n[shreds]\nudp = "auto"\n');
const SECRET = /svc_(?:rpc|grpc|fs)_live_[1-9A-HJ-NP-Za-km-z]{46}/g;
const CURL = /^ *(curl .*)$/m;
const AIRDROP = /^\s*(curl .*"requestAirdrop".*)$/m;
const REST = /^ *(curl '.*\/sol\/v1\/.*)$/m;
const NODE = /^ *(npx node -e .*)$/m;
const GRPCURL = /^ *(grpcurl .*)$/gm;
const WORK_MAX_MS = 5_000;
/** Maximum duration of the start on a loaded machine. */
const START_MAX_MS = 15_000;

type Started = Readonly<{ program: Program; url: string; tookMs: number; workMs: number }>;

async function start(): Promise<Started> {
  const startedAt = performance.now();
  const args = ['up', '--dev', '--port', '0', '--data-dir', dataDir, '--config', config];
  const program = startProgram(args, undefined, { clone });
  const [, url] = await program.said(/^ {2}JSON-RPC: (\S+)$[\s\S]*Stop with Ctrl\+C/m);
  const tookMs = Math.round(performance.now() - startedAt);
  const workMs = cpuMsOf(program.process.pid!) + cpuMsOf(ledgerPid(dataDir)!);
  process.stdout.write(`start-up took ${tookMs} ms, ${workMs} ms of them at work\n`);
  return { program, url: url!, tookMs, workMs };
}

let first: Started;
let secrets: string[];
let key: string;

beforeAll(async () => {
  first = await start();
  secrets = first.program.stdout().match(SECRET) ?? [];
  key = secrets.find((secret) => secret.startsWith('svc_rpc_live_')) ?? '';
});
afterAll(() => first?.program.stop());

async function runInShell(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent --show-error`]);
  return stdout;
}

describe('the first start', () => {
  it('creates one key per product, and shows each once with commands to paste', () => {
    const words = [CURL, AIRDROP, REST, NODE, GRPCURL].reduce(
      (text, line) => text.replace(line, ''),
      first.program.stdout(),
    );
    const shown = words.match(SECRET) ?? [];
    expect(shown.map((secret) => secret.split('_live_')[0])).toEqual(['svc_rpc', 'svc_grpc', 'svc_fs']);
    expect(new Set(secrets).size).toBe(3);
    expect(first.program.stderr().match(SECRET)).toBeNull();
  });

  it('becomes ready quickly', () => {
    expect(first.workMs).toBeGreaterThan(100);
    expect(first.workMs).toBeLessThan(WORK_MAX_MS);
    expect(first.tookMs).toBeLessThan(START_MAX_MS);
  });

  it('prints a curl command for REST and the URL of the reference', async () => {
    const line = REST.exec(first.program.stdout())![1]!;
    expect(JSON.parse(await runInShell(line))).toMatchObject({ success: true, result: {} });
    const page = /API reference: (\S+)$/m.exec(first.program.stdout())![1]!;
    expect(await (await fetch(page)).text()).toContain('/sol/v1/wallet/balance');
  });

  it('names the API paths in the response to a POST without a path', async () => {
    const response = await fetch(new URL('/', first.url), { method: 'POST' });
    expect(response.status).toBe(405);
    const { error } = (await response.json()) as { error: { data: { paths: string } } };
    expect(error.data.paths).toContain('/v1/rpc');
  });

  it('prints a curl command that sends a transaction', async () => {
    const line = AIRDROP.exec(first.program.stdout())![1]!;
    expect(await runInShell(line)).toMatch(/"result":"[1-9A-HJ-NP-Za-km-z]{64,88}"/);
  });

  it('prints grpcurl commands with address, key and a call for each stage', () => {
    const lines = first.program.stdout().match(GRPCURL) ?? [];
    const address = /gRPC: http:\/\/(\S+)$/m.exec(first.program.stdout())![1]!;
    const calls = [
      ['svc_grpc_live_', 'geyser.Geyser/Subscribe'],
      ['svc_fs_live_', 'geyser.Geyser/SubscribeDeshred'],
    ] as const;
    expect(lines.map((line) => line.trim().split(' '))).toEqual(
      calls.map(([product, call]) => {
        const secret = secrets.find((one) => one.startsWith(product));
        const request = expect.stringMatching(/^'\{.*\}'$/);
        return ['grpcurl', '-plaintext', '-H', "'x-token:", `${secret}'`, '-d', request, address, call];
      }),
    );
  });
});

it('a second start prints no secret, accepts the first key, and resumes the ledger', async () => {
  const genesis = () => createRpcClient(first.url, key).result('getGenesisHash');
  const before = await genesis();
  expect(await first.program.stop()).toBe(0);
  first = await start();
  expect(first.program.output().match(/svc_\w+_live_/g)).toBeNull();
  expect(first.program.stdout()).toContain('Keys: unchanged. List them with "solway keys list"');
  expect(await genesis()).toBe(before);
});

describe('a start that fails because its port is in use', () => {
  it('does not create keys without showing them: the next start shows them', async () => {
    const dir = temporaryFolder('taken-port');
    const taken = new URL(first.url).port;
    const failing = startProgram(['up', '--dev', '--port', taken, '--data-dir', dir, '--config', config]);
    expect(await failing.ended).toBe(1);
    expect(failing.output().match(SECRET)).toBeNull();
    expect(failing.stderr()).toContain(`solway: port ${taken} of 127.0.0.1 is in use: `);
    expect(existsSync(join(dir, 'ledger'))).toBe(false);
    const next = startProgram(['up', '--dev', '--port', '0', '--data-dir', dir, '--config', config]);
    await next.said(/Stop with Ctrl\+C/);
    expect(new Set(next.stdout().match(SECRET)).size).toBe(3);
    await next.stop();
  });
});
