import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { temporaryFolder } from '../service/program.ts';
import { runHere, runSolway } from './run-solway.ts';

let folder = '';
const solway = (...args: string[]) => runHere(folder, args);
const spawned = (...args: string[]) => runSolway(folder, args);

beforeEach(() => {
  folder = temporaryFolder('cli');
});

const SECRET = /svc_(?:rpc|grpc|fs)_live_[1-9A-HJ-NP-Za-km-z]{46}/g;

describe('solway keys', () => {
  it('shows a new key only once', async () => {
    // Key commands need no node, so a missing secret of a node must not matter.
    writeFileSync(join(folder, 'solway.toml'), '[[upstream]]\nurl = "env:UNSET"\n');
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

  it('searches and sorts keys and customers', async () => {
    for (const name of ['web shop', 'indexer', 'Web 2']) await solway('keys', 'create', '--name', name);
    const found = await solway('keys', 'list', '--search', 'web', '--sort=-name', '--json');
    const { keys } = JSON.parse(found.out) as { keys: { name: string }[] };
    expect(keys.map(({ name }) => name)).toEqual(['web shop', 'Web 2']);
    expect((await solway('keys', 'list', '--sort', 'age')).err).toContain(
      '--sort: must be one of name, -name',
    );
    expect((await solway('customers', 'list', '--sort', 'name')).out).toMatch(
      /^ID .*\nhouse .* 3 +0 +Default\n$/,
    );
    expect((await solway('customers', 'delete', 'house')).err).toContain('missing option --name');
    const refused = await solway('customers', 'delete', 'house', '--name', 'Default');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('cannot be deleted')]);
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

  it('rotates, ends the overlap early, disables, enables and revokes', async () => {
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

  it('reports a missing database, and creates none', async () => {
    for (const args of [['list'], ['revoke', '11111111'], ['list', '--data-dir', 'elsewhere']]) {
      const { code, out, err } = await solway('keys', ...args);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(/^solway: database .*solway\.db does not exist: pass the --config or --data-dir/);
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an invalid command line', () => {
  const shared = temporaryFolder('cli-invalid');
  beforeAll(async () => (await openDatabase({ file: join(shared, 'solway-data/solway.db') })).close());

  it.each([
    [
      ['keys'],
      2,
      'missing action: use one of create, list, set, rotate, revoke, disable, enable, whose (see solway keys --help)',
    ],
    [['keys', 'create'], 2, 'missing option --name: solway keys create --name "web shop"'],
    [
      ['keys', 'create', '--name', 'x', '--expires', 'soon'],
      2,
      '--expires must be a date such as 2027-01-31 or a duration such as 30d, 12h or 90m',
    ],
    [
      ['keys', 'set', '11111111'],
      2,
      'nothing to change: add an option, such as solway keys set KEY --cidr 192.0.2.0/24',
    ],
    [
      ['keys', 'set', '11111111', '--rate', '0'],
      2,
      '--rate must be requests per second such as 50, with a burst such as 50/100, or plan',
    ],
    [['keys', 'set', '11111111', '--log-bodies', 'on'], 2, '--log-bodies must be yes or no'],
    [['keys', 'rotate'], 2, 'missing argument: solway keys rotate KEY'],
    [
      ['keys', 'rotate', '11111111', '--overlap', 'a'],
      2,
      '--overlap must be a number of hours such as 24, 0.5 or 0',
    ],
    [
      ['keys', 'revoke', 'nonsense!'],
      1,
      'invalid key: use the id of 8 characters shown by "solway keys list"',
    ],
    [['keys', 'list', '--name', 'x'], 2, 'solway keys list does not accept --name: see solway keys --help'],
    [['keys', 'list', '--jsn'], 2, 'unknown option --jsn: did you mean --json?'],
  ] as const)('%j returns exit code %i and a remedy', async (args, code, expected) => {
    const { out, err, ...rest } = await runHere(shared, args);
    const isText = typeof expected === 'string';
    expect([rest.code, err, out]).toEqual(
      isText ? [code, `solway: ${expected}\n`, ''] : [code, '', `${JSON.stringify(expected)}\n`],
    );
  });
});
