import { describe, expect, it } from 'vitest';
import { type JsonValue, writeJson } from '../../src/base/json.ts';
import { type Address, address, addressBytes } from '../../src/solana/address.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { programs, stakeConfig, sysvarOwner, sysvars } from '../../src/solana/programs.ts';
import { lamports } from '../../src/solana/units.ts';
import { accountRows } from './rows/accounts.ts';
import { bytesOf, fill, k, shownAccount } from './rows/row.ts';

const validatorInfo = address('Va1idator1nfo111111111111111111111111111111');

describe('parsed accounts', () => {
  it.each(accountRows)('$program $type matches its row (%#)', ({ program, type, owner, data, at, info }) => {
    const parsed = info === undefined ? { type } : { type, info };
    expect(shownAccount(owner, data, at)).toEqual({ program, parsed, space: data.length });
  });

  it.each(accountRows)('$program $type is unparsed when cut in half (%#)', ({ owner, data, at, info }) => {
    if (info !== undefined && !('data' in (info as object))) {
      expect(shownAccount(owner, data.subarray(0, data.length >> 1), at)).toBeNull();
    }
  });

  it.each([
    ['an uninitialized nonce', programs.system, '1:32 0:32 72*0'],
    ['an empty system account', programs.system, ''],
    ['an unknown stake state', programs.stake, '4:32'],
    ['an empty vote account', programs.vote, '3762*0'],
    ['a lookup table with an invalid option', programs.addressLookupTable, '1:32 9:64 7:64 0 2 34*0'],
    ['no lookup table', programs.addressLookupTable, ''],
    ['a truncated program', programs.bpfUpgradeableLoader, '2:32 1'],
    ['a buffer with an invalid option', programs.bpfUpgradeableLoader, '1:32 2 32*1'],
    ['an unknown loader state', programs.bpfUpgradeableLoader, '4:32'],
  ])('of %s are unparsed', (_, owner, data) => {
    expect(shownAccount(owner, bytesOf(data))).toBeNull();
  });

  it('show the slot history as bits', () => {
    const WORDS = 16_384;
    const data = bytesOf(`1 ${WORDS}:64 5:64 ${8 * (WORDS - 1)}*0 1048576:64 43:64`);
    const bits = `101${'0'.repeat(1_048_573)}`;
    expect(shownAccount(sysvarOwner, data, sysvars.slotHistory)).toMatchObject({
      parsed: { type: 'slotHistory', info: { nextSlot: 43, bits } },
    });
  });

  it('cover only programs that nodes parse', () => {
    expect(shownAccount(programs.memoV3, fill(40, 1))).toBeNull();
    expect(shownAccount(sysvarOwner, fill(40, 1), sysvars.instructions)).toBeNull();
  });
});

describe('config program account', () => {
  const about = (json: string, first: Address = validatorInfo): Uint8Array =>
    Buffer.concat([
      bytesOf('2'),
      addressBytes(first),
      bytesOf(`0 @9 1 ${Buffer.byteLength(json)}:64`),
      Buffer.from(json),
    ]);
  const data = (json: string): JsonValue => {
    const parsed = shownAccount(programs.config, about(json)) as {
      parsed: { info: Record<string, JsonValue> };
    } | null;
    return parsed === null ? 'not parsed' : (parsed.parsed.info.configData ?? null);
  };

  it('shows validator info', () => {
    expect(shownAccount(programs.config, about('{"website":"https://x","name":"Solana"}'))).toEqual({
      program: 'config',
      parsed: {
        type: 'validatorInfo',
        info: {
          keys: [
            { pubkey: validatorInfo, signer: false },
            { pubkey: k(9), signer: true },
          ],
          configData: { name: 'Solana', website: 'https://x' },
        },
      },
      space: about('{"website":"https://x","name":"Solana"}').length,
    });
  });

  it('is formatted as serde_json does', () => {
    const json =
      '{"b":1,"a":[1.0,1e2,-0,18446744073709551615,18446744073709551616],"__proto__":{"10":1,"9":2},"b":2}';
    const account = { lamports: lamports(1), data: about(json), owner: programs.config };
    const parsed = parseAccountData(k(1), { ...account, executable: false, rentEpoch: 0n });
    expect(writeJson(parsed)).toContain(
      '"configData":{"__proto__":{"10":1,"9":2},"a":[1.0,100.0,-0.0,18446744073709551615,1.8446744073709552e19],"b":2}',
    );
  });

  it.each([
    ['no JSON', '{'],
    ['a number beyond f64', '1e999'],
    ['half of a surrogate pair', '"\\ud800"'],
    ['128 nested arrays', `${'['.repeat(128)}${']'.repeat(128)}`],
    ['a million nested arrays', '['.repeat(1_000_000)],
  ])('is unparsed with %s', (_name, json) => {
    expect(data(json)).toBe('not parsed');
  });

  it('allows any JSON and ignores brackets in strings', () => {
    expect(data(`"${'['.repeat(200)}\\""`)).toBe(`${'['.repeat(200)}"`);
    expect(data('null')).toBeNull();
    expect(data(`${'['.repeat(127)}${']'.repeat(127)}`)).toBeInstanceOf(Array);
  });

  it('is unparsed for other keys, truncated data and the old stake configuration', () => {
    expect(shownAccount(programs.config, about('{}', k(8)))).toBeNull();
    expect(shownAccount(programs.config, about('{}').subarray(0, -1))).toBeNull();
    expect(shownAccount(programs.config, bytesOf('0 0.25:f64 12'), stakeConfig)).toBeNull();
    expect(shownAccount(programs.config, fill(3, 255))).toBeNull();
  });
});
