import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSolway } from '../cli/run-solway.ts';
import { healthy } from '../upstream/mock/healthy.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { temporaryFolder } from './program.ts';
import { rpcDoor } from './rpc-door.ts';
import { type RunningService, startService } from './start-service.ts';

/** `solway keys` in one process while `solway up` runs in another. */
const folder = temporaryFolder('keys');
const EFFECT_MAX_MS = 1_000;
const startedAt = Date.now();
let mock: MockNode;
let service: RunningService;

beforeAll(async () => {
  mock = await startMock(healthy());
  service = await startService({ configuration: `[[upstream]]\nurl = "${mock.url}"\n` });
});
afterAll(async () => {
  await service?.stop();
  await mock?.close();
});

type KeyFacts = Readonly<{ id: string; state: string; name: string; lastUsedAt: number | null }>;
type Printed = Readonly<{ secret: string; key: KeyFacts; keys: readonly KeyFacts[] }>;

async function solwayKeys(...args: string[]): Promise<Printed> {
  const where = ['--json', '--data-dir', service.dataDir, '--config', service.config];
  const { code, out, err } = await runSolway(folder, ['keys', ...args, ...where]);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Printed;
}

const statusWith = async (key: string): Promise<number> =>
  (await rpcDoor(service.ready.rpcUrl, key).call('getHealth')).status;

/** Waits until a key is answered so, and tells how long that took. */
async function takesEffect(key: string, status: number, what: string): Promise<void> {
  const from = performance.now();
  await eventually(async () => (await statusWith(key)) === status, what, { timeoutMs: EFFECT_MAX_MS });
  process.stdout.write(`${what} ${Math.round(performance.now() - from)} ms after the command\n`);
}

describe('while the service runs', () => {
  let made: Printed;
  let rotated: Printed;

  it('a key that is made is let in', async () => {
    made = await solwayKeys('create', '--name', 'web shop');
    expect(made.key).toMatchObject({ name: 'web shop', state: 'active', lastUsedAt: null });
    await takesEffect(made.secret, 200, 'a new key was let in');
  });

  it('a key that is disabled is refused until it is enabled', async () => {
    expect((await solwayKeys('disable', made.key.id)).key.state).toBe('disabled');
    await takesEffect(made.secret, 403, 'a disabled key was refused');
    expect((await solwayKeys('enable', made.key.id)).key.state).toBe('active');
    await takesEffect(made.secret, 200, 'an enabled key was let in');
  });

  it('a key that is rotated without overlap is refused, and the new one is let in', async () => {
    rotated = await solwayKeys('rotate', made.key.id, '--overlap', '0');
    expect(rotated.secret).not.toBe(made.secret);
    await takesEffect(made.secret, 403, 'a rotated key was refused');
    await takesEffect(rotated.secret, 200, 'its successor was let in');
  });

  it('a key that is revoked is refused, and its neighbour is not', async () => {
    expect(await statusWith(rotated.secret)).toBe(200);
    expect((await solwayKeys('revoke', rotated.key.id)).key.state).toBe('revoked');
    await takesEffect(rotated.secret, 403, 'a revoked key was refused');
    expect(await statusWith(service.key)).toBe(200);
  });

  it('a key that is rotated with overlap goes on beside the new one', async () => {
    const { secret } = await solwayKeys('rotate', service.key, '--overlap', '1');
    await takesEffect(secret, 200, 'its successor was let in');
    expect(await statusWith(service.key)).toBe(200);
  });

  it('the use of a key is counted, and shown by the list', async () => {
    const used = await eventually(async () => {
      const { keys } = await solwayKeys('list', '--product', 'rpc');
      return keys.find(({ id }) => id === service.ready.keys[0]!.id)!.lastUsedAt;
    }, 'the list shows when the key was used');
    // Usage is kept by the minute.
    expect(used).toBeGreaterThanOrEqual(startedAt - 60_000);
    expect(used).toBeLessThanOrEqual(Date.now());
  });
});
