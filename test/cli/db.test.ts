import { cpSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { temporaryFolder } from '../service/program.ts';
import { runHere } from './run-solway.ts';

/** These tests share one folder and run in order. */
describe('solway db', () => {
  let folder = '';
  const solway = (...args: string[]) => runHere(folder, args, { NOWHERE: 'postgres://127.0.0.1:1/none' });
  const keysIn = async (...options: string[]): Promise<string[]> => {
    const { out } = await solway('keys', 'list', '--json', ...options);
    return (JSON.parse(out) as { keys: { id: string; name: string }[] }).keys
      .map(({ id, name }) => `${id} ${name}`)
      .sort();
  };

  beforeAll(async () => {
    folder = temporaryFolder('db');
    for (const name of ['shop', 'indexer']) await solway('keys', 'create', '--name', name);
  });

  it.each([
    [[], 'missing action: use one of migrate, backup, restore, move (see solway db --help)'],
    [['backup'], 'missing argument: solway db backup FILE'],
    [['backup', 'a', '--to', 'b'], 'solway db backup does not accept --to: see solway db --help'],
    [['move'], 'missing option: solway db move --to postgres://user@host/database'],
    [
      ['move', '--to', 'env:NOPE'],
      '"env:NOPE" names an environment variable that is not set: set NOPE, or write the value here',
    ],
    [
      ['move', '--to', 'other.db'],
      '--to must be a PostgreSQL URL such as postgres://user@host/database, or env:NAME or file:PATH',
    ],
  ])('rejects %j with exit code 2 and a remedy', async (args, words) => {
    expect(await solway('db', ...args)).toEqual({ code: 2, out: '', err: `solway: ${words}\n` });
    expect(existsSync(join(folder, 'a'))).toBe(false);
  });

  it('writes a backup readable by its owner only', async () => {
    const { code, out, err } = await solway('db', 'backup', 'backup.gz');
    expect([code, out]).toEqual([0, expect.stringMatching(/^Wrote [\d,]+ rows to backup\.gz\.\n$/)]);
    expect(err).toContain('api_key: 2 rows\n');
    expect(statSync(join(folder, 'backup.gz')).mode & 0o077).toBe(0);
  });

  it('restores a backup into another data folder', async () => {
    mkdirSync(join(folder, 'other'));
    cpSync(join(folder, 'solway-data/pepper'), join(folder, 'other/pepper'));
    const restored = await solway('db', 'restore', 'backup.gz', '--data-dir', 'other', '--json');
    expect([restored.code, restored.err]).toEqual([0, '']);
    expect(JSON.parse(restored.out).tables).toContainEqual(
      expect.objectContaining({ table: 'api_key', rows: 2 }),
    );
    const keys = await keysIn('--data-dir', 'other');
    expect(keys).toEqual(await keysIn());
    expect(keys).toHaveLength(2);
  });

  it('does not move data while a gateway runs, and does once its last heartbeat is old', async () => {
    const store = await openDatabase({ file: join(folder, 'solway-data/solway.db') });
    const row = { id: 'g1', host: 'here', version: '1', started_at: 0, nodes: '[]', url: null };
    const seen = (at: number) => store.db.updateTable('gateway').set({ seen_at: at }).execute();
    await store.db
      .insertInto('gateway')
      .values({ ...row, seen_at: Date.now() })
      .execute();
    const move = () => solway('db', 'move', '--to', 'env:NOWHERE');
    const [running, silent] = [await move(), await seen(Date.now() - 60_000).then(move)];
    await store.close();
    const words = 'a gateway is using this database: stop it';
    expect([running.code, running.err]).toEqual([1, expect.stringContaining(words)]);
    expect([silent.code, silent.err.includes(words)]).toEqual([1, false]);
  });
});
