import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { readMeta } from '../../src/solana/encoding/read-ui-meta.ts';
import { encodeMeta } from '../../src/solana/encoding/ui-meta.ts';

/** Needs ../shared/data/rest/getTransaction/tx-parser: mainnet getTransaction results, encoding json. */
const folder = join(import.meta.dirname, '../../../shared/data/rest/getTransaction/tx-parser');
const present = existsSync(folder);

type Meta = { readonly [name: string]: JsonValue };

/** Placeholder without recordings, so that skipped tests are counted. */
const recorded: [string, Meta][] = present
  ? readdirSync(folder).map((file) => {
      const [answer] = parseJson(readFileSync(join(folder, file), 'utf8')) as [{ meta: Meta }];
      return [file, answer.meta];
    })
  : [['each recording', {}]];

describe.skipIf(!present)('recorded metas (../shared/data, tx-parser)', () => {
  it.each(recorded)('%s round-trips', (_file, meta) => {
    const written = writeJson(encodeMeta(readMeta(meta), { parsedWith: null, showRewards: true }));
    // Old nodes wrote null for unrecorded members.
    const actual = Object.fromEntries(
      Object.entries(meta).filter(([name, value]) => name !== 'returnData' || value !== null),
    );
    expect(parseJson(written)).toEqual(actual);
  });
});
