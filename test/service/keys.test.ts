import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { runHere, runSolway } from '../cli/run-solway.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type CreatedKey, keysCommand } from './keys-command.ts';
import { operatorToken } from './operator-token.ts';
import { temporaryFolder } from './program.ts';
import { createRpcClient } from './rpc-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** Runs `solway keys` in one process while `solway up` runs in another. */
const folder = temporaryFolder('keys');
let mock: MockNode;
let service: RunningService;

const issuerKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const issuer = createServer((_request, response) => {
  response.end(JSON.stringify({ keys: [issuerKeys.publicKey.export({ format: 'jwk' })] }));
});

beforeAll(async () => {
  mock = await startMock(healthy());
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  const { port } = issuer.address() as AddressInfo;
  const jwt = `issuer = "https://id.example.com"\naudience = "solway"\njwks_url = "http://127.0.0.1:${port}/"`;
  service = await startService({ configuration: `[[upstream]]\nurl = "${mock.url}"\n[keys.jwt]\n${jwt}\n` });
});
afterAll(async () => {
  issuer.close();
  await service?.stop();
  await mock?.close();
});

const solwayKeys = (...args: string[]): Promise<CreatedKey> => keysCommand(service, ...args);

const statusWith = async (key: string): Promise<number> =>
  (await createRpcClient(service.ready.rpcUrl, key).call('getHealth')).status;

it('a key change takes effect within a second while the service runs', async () => {
  const takesEffect = (key: string, status: number): Promise<boolean> =>
    eventually(async () => (await statusWith(key)) === status, `status ${status}`, { timeoutMs: 1_000 });
  const made = await solwayKeys('create', '--name', 'web shop');
  expect(made.key).toMatchObject({ name: 'web shop', state: 'active', lastUsedAt: null });
  await takesEffect(made.secret, 200);
  expect((await solwayKeys('disable', made.key.id)).key.state).toBe('disabled');
  await takesEffect(made.secret, 403);
  expect((await solwayKeys('enable', made.key.id)).key.state).toBe('active');
  await takesEffect(made.secret, 200);
  const rotated = await solwayKeys('rotate', made.key.id, '--overlap', '0');
  await takesEffect(made.secret, 403);
  await takesEffect(rotated.secret, 200);
  const overlapping = await solwayKeys('rotate', rotated.key.id, '--overlap', '1');
  await takesEffect(overlapping.secret, 200);
  expect(await statusWith(rotated.secret)).toBe(200);
  expect((await solwayKeys('revoke', overlapping.key.id)).key.state).toBe('revoked');
  await takesEffect(overlapping.secret, 403);
  expect(await statusWith(service.key)).toBe(200);
});

function signedToken(claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${encode({ alg: 'ES256' })}.${encode(claims)}`;
  const key = { key: issuerKeys.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${body}.${sign('sha256', Buffer.from(body), key).toString('base64url')}`;
}

it('a token of the issuer identifies a key until the key is revoked', async () => {
  const { key } = await solwayKeys('create', '--name', 'of tokens');
  const exp = Math.floor(Date.now() / 1_000) + 600;
  const claims = { iss: 'https://id.example.com', aud: 'solway', exp, api_key_id: key.id };
  const token = signedToken(claims);
  await eventually(async () => (await statusWith(token)) === 200, 'the token is accepted');
  expect(await statusWith(signedToken({ ...claims, aud: 'another' }))).toBe(403);
  await solwayKeys('revoke', key.id);
  await eventually(async () => (await statusWith(token)) === 403, 'the token is rejected');
});

describe('with an operator token, on another machine', () => {
  let token = '';
  const remote = (...args: readonly string[]) =>
    runHere(folder, ['keys', ...args, '--server', service.ready.url], { SOLWAY_TOKEN: token });
  const whose = async (input: string) => {
    const args = ['keys', 'whose', '-', '--json', '--server', service.ready.url];
    return JSON.parse((await runSolway(folder, args, { SOLWAY_TOKEN: token }, input)).out);
  };

  it('a key can be created with rules, changed and found, and the audit log contains the address', async () => {
    token = await operatorToken(service.dataDir);
    const rules = [
      '--public',
      '--origin',
      'https://app.example.com',
      '--network',
      'devnet',
      '--rate',
      '5/10',
    ];
    const { out } = await remote('create', '--name', 'page', ...rules, '--json');
    const { secret, key } = JSON.parse(out);
    expect(key).toMatchObject({
      ...{ isPublic: true, origins: ['https://app.example.com'], networks: ['devnet'] },
      ...{ rate: { perSecond: 5, burst: 10 }, addressPerSecond: 10 },
    });
    const change = [
      '--cidr',
      '192.0.2.7/24',
      '--cidr',
      '2001:db8::/32',
      '--network',
      'any',
      '--rate',
      'plan',
    ];
    expect((await remote('set', key.id, ...change)).out).toBe(
      `Changed svc_rpc_live_${key.id}… and the other keys of its family.\n`,
    );
    expect(await whose(`GET /?api-key=${secret} # old\n`)).toMatchObject({
      matches: true,
      key: { id: key.id, cidrs: ['192.0.2.0/24', '2001:db8::/32'], networks: null, rate: null },
    });
    const store = await openDatabase({ file: join(service.dataDir, 'solway.db') });
    const lines = await store.db.selectFrom('audit').selectAll().where('key_id', '=', key.id).execute();
    await store.close();
    expect(lines.map(({ action, actor, address }) => [action, actor.split(':')[0], address])).toEqual([
      ['key.create', 'token', '127.0.0.1'],
      ['key.change', 'token', '127.0.0.1'],
    ]);
  });

  it('a change is in effect when the command returns', async () => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-solway-request': '1',
    };
    const post = async (path: string, body: object) => {
      const url = `${service.ready.url}/api/v1/customers/house/keys${path}`;
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.status).toBe(200);
      return (await answer.json()) as CreatedKey;
    };
    const seen: number[] = [];
    for (let time = 0; time < 2; time++) {
      const { secret, key } = await post('', { product: 'rpc', name: 'at once' });
      seen.push(await statusWith(secret));
      const next = await post(`/${key.id}/rotate`, { overlapMs: 60_000 });
      seen.push(await statusWith(next.secret));
      await post(`/${next.key.id}/revoke`, {});
      seen.push(await statusWith(next.secret));
    }
    expect(seen).toEqual(Array(2).fill([200, 200, 403]).flat());
  });

  it('errors have the same messages and exit codes', async () => {
    const none = {
      code: 1,
      out: '',
      err: 'solway: This customer has no such key. List the keys for their ids, or name another customer.\n',
    };
    expect(await remote('revoke', '11111111')).toEqual(none);
    expect(await remote('create', '--name', 'x', '--cidr', '192.0.2.0/33')).toMatchObject({
      code: 2,
      err: 'solway: --cidr: "192.0.2.0/33" is not an IP address or a range such as 192.0.2.0/24 or 2001:db8::/32\n',
    });
    token = `${token.slice(0, -1)}${token.endsWith('1') ? '2' : '1'}`;
    const { code, err } = await remote('list');
    expect([code, err.includes('svc_admin_live_')]).toEqual([1, false]);
  });
});
