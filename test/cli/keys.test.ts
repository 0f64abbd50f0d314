import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { KeyFeed } from '../../src/control/keys/key-feed.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { KeyAuthenticator } from '../../src/gateway/auth/key-authenticator.ts';
import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { runHere, runSolway } from './run-solway.ts';

let folder = '';
const solway = (...args: string[]) => runHere(folder, args);
/** As a process of its own. */
const spawned = (...args: string[]) => runSolway(folder, args);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'solway-cli-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = /svc_(?:rpc|grpc|fs)_live_[1-9A-HJ-NP-Za-km-z]{46}/g;

describe('solway keys', () => {
  it('shows a new key only once', async () => {
    const made = await spawned('keys', 'create', '--name', 'web shop');
    expect(made.code).toBe(0);
    expect(made.out.match(SECRET)).toHaveLength(1);
    const secret = made.out.match(SECRET)![0];
    const id = secret.slice('svc_rpc_live_'.length, 'svc_rpc_live_'.length + 8);
    const list = await solway('keys', 'list');
    expect(list.out).toContain(id);
    expect(list.out).toContain('web shop');
    const rest = [list, await solway('keys', 'list', '--json'), await solway('keys', 'disable', secret)];
    for (const { out, err } of rest) expect(out + err).not.toMatch(SECRET);
    expect(rest[2]!.out).toBe(`svc_rpc_live_${id}… is disabled.\n`);
  });

  it('reports validation errors with option names', async () => {
    for (const [given, words] of [
      [['--cidr', 'nowhere'], /^solway: --cidr: must be an IP address or a range such as /],
      [['--rate', '999999', '--plan', 'default'], /^solway: --rate/],
      [['--public'], /^solway: /],
    ] as const) {
      const { code, err } = await solway('keys', 'create', '--name', 'x', ...given);
      expect([given, code, err]).toEqual([given, 2, expect.stringMatching(words)]);
      expect(err).not.toMatch(/cidrs|origins|planId|isPublic|perSecond/);
    }
  });

  it('says where to find customer ids', async () => {
    await solway('keys', 'create', '--name', 'x');
    const { code, err } = await solway('keys', 'list', '--customer', 'acme');
    const place = 'The dashboard shows customer ids under Settings, for operators under "Customers".';
    expect([code, err]).toEqual([1, `solway: There is no such customer. ${place}\n`]);
  });

  it('rotates, cuts the overlap short, disables, enables and revokes', async () => {
    const made = JSON.parse(
      (await solway('keys', 'create', '--product', 'grpc', '--name', 'x', '--json')).out,
    );
    expect(made).toMatchObject({ key: { product: 'grpc', state: 'active', expiresAt: null } });
    const { id } = made.key;
    const rotated = JSON.parse((await solway('keys', 'rotate', id, '--overlap', '0.5', '--json')).out);
    expect(rotated).toMatchObject({
      key: { familyId: id },
      old: { state: 'rotating', replacedBy: rotated.key.id },
    });
    expect(rotated.old.expiresAt - rotated.key.createdAt).toBe(1_800_000);
    expect((await solway('keys', 'rotate', id, '--cut')).out).toBe(`svc_grpc_live_${id}… has expired.\n`);
    expect((await solway('keys', 'disable', rotated.key.id)).code).toBe(0);
    expect((await solway('keys', 'enable', `svc_grpc_live_${rotated.key.id}`)).code).toBe(0);
    expect((await solway('keys', 'revoke', rotated.secret)).code).toBe(0);
    const { keys } = JSON.parse((await solway('keys', 'list', '--all', '--json')).out);
    const states = keys.map((key: { id: string; state: string }) => [key.id, key.state]);
    expect(Object.fromEntries(states)).toEqual({ [id]: 'expired', [rotated.key.id]: 'revoked' });
  });

  it('lists all pages of keys, regardless of keys_max', async () => {
    expect((await solway('keys', 'create', '--name', 'x')).code).toBe(0);
    const store = await openDatabase({ file: join(folder, 'solway-data/solway.db') });
    const [row] = await store.db.selectFrom('api_key').selectAll().execute();
    const ids = Array.from({ length: 2_050 }, (_, index) => `AAAA${String(index).padStart(4, '0')}`);
    for (let from = 0; from < ids.length; from += 50) {
      const rows = ids.slice(from, from + 50).map((id, index) => {
        const number = 1_000 + from + index;
        return { ...row!, id, digest: id, version: number, state: 'revoked' as const };
      });
      await store.db.insertInto('api_key').values(rows).execute();
    }
    await store.close();
    writeFileSync(join(folder, 'solway.toml'), '[keys]\nkeys_max = 3\n');
    const { out } = await solway('keys', 'list', '--all', '--json');
    expect(JSON.parse(out).keys).toHaveLength(2_051);
  });

  it('accepts an expiry date and a plan of the configuration', async () => {
    const expires = ['--expires', '2126-01-31', '--plan', 'default'];
    const { out } = await solway('keys', 'create', '--name', 'x', '--json', ...expires);
    expect(JSON.parse(out).key).toMatchObject({ expiresAt: Date.UTC(2126, 0, 31), planId: 'default' });
  });

  it('reports a missing database and creates none', async () => {
    for (const args of [['list'], ['revoke', '11111111'], ['list', '--data-dir', 'elsewhere']]) {
      const { code, out, err } = await solway('keys', ...args);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(/^solway: database .*solway\.db does not exist: pass the --config or --data-dir/);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('fails without the pepper of the keys', async () => {
    await solway('keys', 'create', '--name', 'x');
    rmSync(join(folder, 'solway-data', 'pepper'));
    const { code, err } = await solway('keys', 'create', '--name', 'y');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('made with a pepper that is missing here. Give every machine'),
    ]);
  });

  it('does not change the plans of a service that has another configuration', async () => {
    writeFileSync(join(folder, 'service.toml'), '[plans.default]\nrpc_per_second = 5\n');
    await solway('keys', 'create', '--name', 'x', '--config', 'service.toml');
    await solway('keys', 'create', '--name', 'y');
    const store = await openDatabase({ file: join(folder, 'solway-data', 'solway.db') });
    const plans = await store.db
      .selectFrom('plan')
      .select('rpc_per_second')
      .where('id', '=', 'default')
      .execute();
    await store.close();
    expect(plans).toEqual([{ rpc_per_second: 5 }]);
  });

  it('reaches a running gateway within a second', async () => {
    await solway('keys', 'create', '--name', 'first');
    const dataDir = join(folder, 'solway-data');
    const store = await openDatabase({ file: join(dataDir, 'solway.db') });
    const { secrets } = await openPeppers(store, { dataDir });
    let seen = Promise.withResolvers<number>();
    const directory = new KeyAuthenticator({ peppers: secrets });
    const sink = {
      apply: (records: Parameters<KeyAuthenticator['apply']>[0]) => {
        directory.apply(records);
        seen.resolve(performance.now());
      },
      setStoreReachable: (reachable: boolean) => directory.setStoreReachable(reachable),
    };
    const feed = new KeyFeed({ store, sink });
    await feed.start();
    seen = Promise.withResolvers<number>();
    try {
      const { secret, key } = JSON.parse((await spawned('keys', 'create', '--name', 'x', '--json')).out);
      const endedAt = performance.now();
      expect((await seen.promise) - endedAt).toBeLessThan(1_000);
      expect(directory.authenticate(secret, Date.now()).id).toBe(key.id);
    } finally {
      await feed.stop();
      await store.close();
    }
  });
});

describe('an invalid command line', () => {
  const shared = mkdtempSync(join(tmpdir(), 'solway-cli-invalid-'));
  beforeAll(async () => (await openDatabase({ file: join(shared, 'solway-data/solway.db') })).close());
  afterAll(() => rmSync(shared, { recursive: true, force: true }));

  it.each([
    [
      ['keys'],
      2,
      'missing action: use one of create, list, set, rotate, revoke, disable, enable, whose (see solway keys --help)',
    ],
    [['keys', 'create'], 2, 'missing option --name: solway keys create --name "web shop"'],
    [
      ['keys', 'create', '--name', 'x', '--product', 'ws'],
      2,
      'unknown product "ws": use one of rpc, grpc, fs',
    ],
    [
      ['keys', 'create', '--name', 'x', '--expires', 'soon'],
      2,
      '--expires must be a date such as 2027-01-31 or a duration such as 30d, 12h or 90m',
    ],
    [['keys', 'create', '--name', 'x', '--expires', '2020-01-01'], 2, 'The expiry must be in the future'],
    [
      ['keys', 'create', '--name', 'x', '--plan', 'gold'],
      2,
      'There is no plan "gold". Use one of default, rehearsal, or add it to the configuration.',
    ],
    [
      ['keys', 'set', '11111111'],
      2,
      'nothing to change: add an option, such as solway keys set KEY --cidr 192.0.2.0/24',
    ],
    [
      ['keys', 'set', '11111111', '--cidr', 'any,192.0.2.1'],
      2,
      '--cidr any removes the rule and cannot be combined with other values',
    ],
    [
      ['keys', 'set', '11111111', '--rate', 'fast'],
      2,
      '--rate must be requests per second such as 50, with a burst such as 50/100, or plan',
    ],
    [
      ['keys', 'set', '11111111', '--address-rate', 'x'],
      2,
      '--address-rate must be requests per second such as 10, or any',
    ],
    [['keys', 'set', '11111111', '--log-bodies', 'on'], 2, '--log-bodies must be yes or no'],
    [['keys', 'rotate'], 2, 'missing argument: solway keys rotate KEY'],
    [['keys', 'rotate', '11111111', 'y'], 2, 'unexpected argument "y": see solway keys --help'],
    [['keys', 'rotate', '11111111'], 1, 'There is no such key. See the list of keys for the ids.'],
    [
      ['keys', 'rotate', '11111111', '--overlap', 'a'],
      2,
      '--overlap must be a number of hours such as 24, 0.5 or 0',
    ],
    [
      ['keys', 'rotate', '11111111', '--overlap', '9999'],
      2,
      'The overlap of a rotation must be 0 to 90 days',
    ],
    [
      ['keys', 'revoke', 'nonsense!'],
      1,
      'invalid key: use the id of 8 characters shown by "solway keys list"',
    ],
    [['keys', 'list', 'x'], 2, 'unexpected argument "x": see solway keys --help'],
    [['keys', 'list', '--name', 'x'], 2, 'solway keys list does not accept --name: see solway keys --help'],
    [['keys', 'list', '--jsn'], 2, 'unknown option --jsn: did you mean --json?'],
    [
      ['keys', 'revoke', '11111111', '--json'],
      1,
      { error: 'There is no such key. See the list of keys for the ids.' },
    ],
    [['kyes'], 2, 'unknown command "kyes": did you mean "solway keys"?'],
  ] as const)('%j has exit code %i and a remedy', async (args, code, expected) => {
    const { out, err, ...rest } = await runHere(shared, args);
    const isText = typeof expected === 'string';
    expect([rest.code, err, out]).toEqual(
      isText ? [code, `solway: ${expected}\n`, ''] : [code, '', `${JSON.stringify(expected)}\n`],
    );
  });
});

describe.skipIf(postgresPrograms === null)(
  'solway keys on PostgreSQL (skipped if it is not installed)',
  () => {
    it('stores keys there, and reports an unavailable server without the password', async () => {
      const server = await startPostgres(postgresPrograms!);
      try {
        const url = (await server.createDatabase()).replace('solway@', 'solway:hunter2@');
        const run = (...args: string[]) => runHere(folder, args, { DATABASE_URL: url });
        expect(await run('keys', 'create', '--name', 'stored in PostgreSQL')).toMatchObject({
          code: 0,
          err: '',
        });
        expect((await run('keys', 'list')).out).toContain('stored in PostgreSQL');
        const doctor = await run('doctor');
        expect(doctor.out).toContain('ok    database: PostgreSQL localhost/t1 responds; 1 keys');
        await server.kill();
        const away = await run('doctor');
        expect(away.code).toBe(1);
        expect(away.out).toContain('BAD   database: ');
        expect(away.out + away.err + doctor.out).not.toContain('hunter2');
      } finally {
        await server.destroy();
      }
    });
  },
);
