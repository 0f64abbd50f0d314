import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/store.ts';
import { revokeKey } from '../../../src/control/keys/change-key.ts';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { keysChangedAfter } from '../../../src/control/keys/key-feed.ts';
import { createPepper, findPeppers, parsePeppers, pepperFile } from '../../../src/control/pepper.ts';
import { openPeppers } from '../../../src/control/pepper-proof.ts';
import { KeyAuthenticator } from '../../../src/gateway/auth/key-authenticator.ts';
import { temporaryFolder } from '../../service/program.ts';
import { registerOn } from '../register.ts';
import { describeOnBothStores } from '../stores.ts';

const OLD = 'o'.repeat(40);
const NEW = 'n'.repeat(40);
let dataDir = '';

beforeEach(() => {
  dataDir = temporaryFolder('pepper');
});

describe('a pepper', () => {
  it('is read with or without versions; the highest is the current one', () => {
    expect(parsePeppers(OLD, 'x')).toEqual({ current: 1, secrets: new Map([[1, Buffer.from(OLD)]]) });
    const both = parsePeppers(`# kept since May\n2:${NEW}\n1:${OLD}\n`, 'x');
    expect([both.current, both.secrets.get(1)]).toEqual([2, Buffer.from(OLD)]);
    expect(parsePeppers(`1:${OLD},2:${NEW}`, 'x')).toEqual(both);
  });

  it.each([
    ['', 'is empty'],
    ['short', 'has 32 to 1024 characters'],
    [`1:short`, 'has 32 to 1024 characters'],
    [`0:${OLD}`, 'has 32 to 1024 characters'],
    [`${OLD} ${NEW}`, 'without spaces'],
    [`1:${OLD},1:${NEW}`, 'has two peppers with the same version'],
    [Array.from({ length: 17 }, (_, index) => `${index + 1}:${OLD}`).join(), 'more than 16'],
  ])('is rejected without being shown when it reads %j', (text, words) => {
    const read = () => parsePeppers(text, 'SOLWAY_PEPPER');
    expect(read).toThrow(words);
    expect(read).not.toThrow(OLD);
  });

  it('is created once, readable by its owner only, and then reused', () => {
    const made = createPepper(dataDir);
    expect(made.secrets.get(1)!.length).toBeGreaterThanOrEqual(32);
    expect(statSync(pepperFile(dataDir)).mode & 0o777).toBe(0o600);
    const text = readFileSync(pepperFile(dataDir), 'utf8');
    expect(createPepper(dataDir)).toEqual(made);
    expect(findPeppers({ dataDir })).toEqual(made);
    expect(readFileSync(pepperFile(dataDir), 'utf8')).toBe(text);
  });

  it('is read from the environment, then a named file, then the data folder', () => {
    createPepper(dataDir);
    const file = join(dataDir, 'other');
    writeFileSync(file, `3:${NEW}\n`);
    expect(findPeppers({ dataDir, file, text: `7:${OLD}` })?.current).toBe(7);
    expect(findPeppers({ dataDir, file })?.current).toBe(3);
    expect(findPeppers({ dataDir })?.current).toBe(1);
    expect(() => findPeppers({ dataDir, file: join(dataDir, 'none') })).toThrow('which does not exist');
  });
});

const DAY_MS = 24 * 3_600_000;

async function accepts(store: Store, secrets: ReadonlyMap<number, Buffer>, secret: string): Promise<boolean> {
  const directory = new KeyAuthenticator({ peppers: secrets });
  for await (const page of keysChangedAfter(store, 0, 100)) directory.apply(page);
  directory.setStoreReachable(true);
  try {
    return directory.authenticate(secret, 1_700_000_000_000).product === 'rpc';
  } catch {
    return false;
  }
}

describeOnBothStores('the pepper of a database', ({ kind, open }) => {
  it('can be rotated without invalidating keys, and removed when no key needs it', async () => {
    const store = await open();
    const before = await registerOn(store, {
      peppers: await openPeppers(store, { dataDir, text: `1:${OLD}` }),
    });
    const old = await createKey(before, { product: 'rpc', name: 'old' });
    const both = await openPeppers(store, { dataDir, text: `1:${OLD},2:${NEW}` });
    const after = await registerOn(store, { peppers: both });
    const young = await createKey(after, { product: 'rpc', name: 'young' });
    expect(await accepts(store, both.secrets, old.secret)).toBe(true);
    expect(await accepts(store, both.secrets, young.secret)).toBe(true);
    const alone = { dataDir, text: `2:${NEW}` };
    await expect(openPeppers(store, alone)).rejects.toThrow('need pepper version 1');
    await revokeKey(after, old.key.id);
    expect((await openPeppers(store, alone)).current).toBe(2);
  });

  it('is the same on machines that start together', async () => {
    const store = await open();
    const made = await Promise.all([1, 2, 3].map(() => openPeppers(store, { dataDir })));
    expect(new Set(made.map(({ secrets }) => secrets.get(1)!.toString('utf8'))).size).toBe(1);
  });

  // The remaining tests do not depend on the SQL dialect.
  if (kind === 'postgres') return;

  it('is reported if missing, and not replaced', async () => {
    const store = await open();
    await openPeppers(store, { dataDir });
    rmSync(pepperFile(dataDir));
    await expect(openPeppers(store, { dataDir })).rejects.toThrow('made with a pepper that is missing here');
    expect(existsSync(pepperFile(dataDir))).toBe(false);
  });

  it('is rejected if it differs from that of the database', async () => {
    const store = await open();
    await openPeppers(store, { dataDir });
    await expect(openPeppers(store, { dataDir, text: OLD })).rejects.toThrow(
      'made with another pepper of version 1. Give every machine',
    );
  });

  it('can be removed if its keys expired more than 30 days ago', async () => {
    const store = await open();
    const clock = { now: Date.now() - 40 * DAY_MS };
    const peppers = await openPeppers(store, { dataDir, text: `1:${OLD}` });
    const register = await registerOn(store, { peppers, clock });
    await createKey(register, { product: 'rpc', name: 'old', expiresAt: Date.now() - 31 * DAY_MS });
    const alone = { dataDir, text: `2:${NEW}` };
    expect((await openPeppers(store, alone)).current).toBe(2);
    await createKey(register, { product: 'rpc', name: 'young', expiresAt: Date.now() - 29 * DAY_MS });
    await expect(openPeppers(store, alone)).rejects.toThrow('need pepper version 1');
  });
});
