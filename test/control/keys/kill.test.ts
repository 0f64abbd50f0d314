import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/control/database/open.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { temporaryFolder } from '../../service/program.ts';
import { runUntilKilled } from '../../service/run-until-killed.ts';

const KILLS = 2;
const maker = join(import.meta.dirname, 'key-maker.ts');
const folder = temporaryFolder('kill');

/** The ids of the keys that the program reported as committed before it was killed. */
const makeUntilKilled = async (file: string, keysBefore: number): Promise<string[]> =>
  (await runUntilKilled(maker, [file], keysBefore)).filter((line) => line.length === 8);

async function idsOf(store: Store): Promise<string[]> {
  const rows = await store.db.selectFrom('api_key').select('id').orderBy('version').execute();
  return rows.map(({ id }) => id);
}

async function inspect(file: string, safe: readonly string[]): Promise<void> {
  const store = await openDatabase({ file });
  try {
    const stored = await idsOf(store);
    expect(safe.filter((id) => !stored.includes(id))).toEqual([]);
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db);
    expect(rows).toEqual([{ integrity_check: 'ok' }]);
    const audited = await store.db
      .selectFrom('audit')
      .select('key_id')
      .where('key_id', 'is not', null)
      .execute();
    expect(audited.length).toBe(stored.length);
    const counter = await store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
    // One version per key and one for the plan: interrupted changes consume none.
    expect(counter.version).toBe(stored.length + 1);
  } finally {
    await store.close();
  }
}

describe('a killed process', () => {
  it(`loses no acknowledged change, ${KILLS} times in a row`, async () => {
    const file = join(folder, 'killed.db');
    const safe: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      safe.push(...(await makeUntilKilled(file, 1 + kill * 3)));
      await inspect(file, safe);
    }
    expect(safe.length).toBeGreaterThan(KILLS);
  });
});
