import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/base/bytes.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { programs } from '../../src/solana/programs.ts';
import { LAST_EXTENSION_TYPE } from '../../src/solana/token/extensions.ts';
import { type ExtensionRow, extensionRows } from './rows/extensions.ts';
import { fill, shownAccount } from './rows/row.ts';

const UNINITIALIZED = 0;

function withExtensions(on: ExtensionRow['on'], ...entries: readonly ByteWriter[]): Uint8Array {
  const head = new Uint8Array(166);
  if (on === 'account') head[108] = 1;
  else head[45] = 1;
  head[165] = on === 'account' ? 2 : 1;
  return Buffer.concat([head, ...entries.map((entry) => entry.finish())]);
}

const entry = (type: number, value: Uint8Array): ByteWriter =>
  new ByteWriter().u16(type).u16(value.length).bytes(value);

/** Extensions in the parsed JSON; undefined when absent. */
const shown = (data: Uint8Array): JsonValue | undefined =>
  (shownAccount(programs.token2022, data) as { parsed: { info: Record<string, JsonValue> } }).parsed.info
    .extensions;

const other = (on: ExtensionRow['on']): ExtensionRow['on'] => (on === 'mint' ? 'account' : 'mint');
const unparseable = [{ extension: 'unparseableExtension' }];

describe('Token-2022 extensions', () => {
  it('all have a row', () => {
    const types = new Set(extensionRows.map(({ type }) => type));
    expect([...types]).toEqual(Array.from({ length: LAST_EXTENSION_TYPE }, (_, at) => at + 1));
  });

  it.each(extensionRows)('$extension matches its row (%#)', ({ extension, type, on, value, state }) => {
    expect(shown(withExtensions(on, entry(type, value)))).toEqual([
      state === null ? { extension } : { extension, state },
    ]);
  });

  it.each(extensionRows.filter(({ state }) => state))(
    '$extension is unparseable on the other account type or with another size (%#)',
    ({ extension, type, on, value }) => {
      expect(shown(withExtensions(other(on), entry(type, value)))).toEqual(unparseable);
      expect(shown(withExtensions(on, entry(type, value.subarray(1))))).toEqual(unparseable);
      const longer = shown(withExtensions(on, entry(type, Buffer.concat([value, fill(1, 0)]))));
      // Metadata may leave unused space.
      if (extension === 'tokenMetadata') expect(longer).toMatchObject([{ extension }]);
      else expect(longer).toEqual(unparseable);
    },
  );

  it.each(extensionRows.filter(({ state }) => !state))(
    '$extension is a bare name everywhere',
    ({ extension, type, on }) => {
      expect(shown(withExtensions(other(on), entry(type, fill(3, 9))))).toEqual([{ extension }]);
    },
  );

  it('are empty when the first is uninitialized, unknown or too long', () => {
    expect(shown(withExtensions('mint', entry(UNINITIALIZED, fill(0, 0))))).toBeUndefined();
    expect(shown(withExtensions('mint', entry(9, fill(0, 0)), entry(99, fill(0, 0))))).toBeUndefined();
    const cut = withExtensions('mint', entry(9, fill(0, 0)), entry(3, fill(32, 1)));
    expect(shown(cut.subarray(0, -1))).toBeUndefined();
  });

  it('are read from the first of a type', () => {
    const twice = withExtensions('account', entry(8, fill(1, 1)), entry(8, fill(1, 0)));
    const first = { extension: 'memoTransfer', state: { requireIncomingTransferMemos: true } };
    expect(shown(twice)).toEqual([first, first]);
  });
});
