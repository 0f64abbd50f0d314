import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { address, addressBytes, addressFromBytes } from '../../src/solana/address.ts';
import { encodeParsedInstruction } from '../../src/solana/encoding/ui-instruction.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { parseInstruction } from '../../src/solana/parsed/parse-instruction.ts';
import { programs, sysvarOwner, sysvars } from '../../src/solana/programs.ts';
import { decodeMintScale } from '../../src/solana/token/extensions.ts';
import { lamports } from '../../src/solana/units.ts';

const keys = [...Object.values(programs), ...Object.values(sysvars)];
const program = fc.constantFrom(...keys.entries());
/** Bytes that start like a variant of a program or extension. */
const data = fc
  .tuple(
    fc.oneof(fc.nat(20), fc.nat(46), fc.constant(255)),
    fc.constantFrom(1, 4),
    fc.nat(5),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([discriminant, width, second, rest]) => {
    const head = new Uint8Array(width);
    head[0] = discriminant;
    return Uint8Array.of(...head, ...(width === 1 ? [second] : []), ...rest);
  });
const accounts = fc.uint8Array({ maxLength: 10, max: keys.length + 2 });

const validatorInfo = address('Va1idator1nfo111111111111111111111111111111');
const scaled = { multiplier: 1.5, newMultiplierEffectiveTimestamp: 0n, newMultiplier: 2 };
const interest = {
  initializationTimestamp: 0n,
  preUpdateAverageRate: 500,
  lastUpdateTimestamp: 1n,
  currentRate: -500,
};

function namesInOrder(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every(namesInOrder);
  if (typeof value !== 'object' || value === null) return true;
  const names = Object.keys(value);
  return names.join() === names.toSorted().join() && Object.values(value).every(namesInOrder);
}

describe('arbitrary bytes', () => {
  it('as an instruction are valid JSON in wire order', () => {
    let parsed = 0;
    fc.assert(
      fc.property(program, accounts, data, ([programIdIndex], indexes, bytes) => {
        const instruction = { programIdIndex, accounts: indexes, data: bytes };
        const text = writeJson(encodeParsedInstruction(instruction, keys, 1));
        if (text.includes('"parsed"')) parsed++;
        return namesInOrder(parseJson(text));
      }),
      { numRuns: 5_000 },
    );
    expect(parsed).toBeGreaterThan(50);
  });

  it('as an instruction with an index out of range are unparsed', () => {
    fc.assert(
      fc.property(program, data, ([programIdIndex, programId], bytes) => {
        const instruction = { programIdIndex, accounts: Uint8Array.of(0, keys.length, 1, 2, 3), data: bytes };
        const parsed = parseInstruction(programId, instruction, keys);
        return parsed === null || parsed.program === 'spl-memo';
      }),
      { numRuns: 2_000 },
    );
  });

  it('as an account are valid JSON in wire order', () => {
    const lookup = { mint: () => ({ decimals: 9 }) };
    const size = fc.constantFrom(4, 33, 40, 56, 80, 82, 120, 165, 166, 170, 200, 355, 3762);
    const account = size.chain((length) =>
      fc.tuple(fc.nat(4), fc.uint8Array({ minLength: 0, maxLength: 200 })).map(([tag, head]) => {
        const bytes = new Uint8Array(length);
        bytes.set(head.subarray(0, length));
        bytes[0] = tag;
        return bytes;
      }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...keys, sysvarOwner),
        fc.constantFrom(...keys),
        account,
        (owner, at, bytes) => {
          const held = { lamports: lamports(1), data: bytes, owner, executable: false, rentEpoch: 0n };
          const shown = parseAccountData(at, held, lookup);
          return shown === null || namesInOrder(parseJson(writeJson(shown)));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('as extensions are valid JSON in wire order', () => {
    const mint = { decimals: 9, scaledUiAmount: scaled, interestBearing: interest };
    // Most states are short and of fixed length.
    const value = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ maxLength: 300, size: 'small' }),
    );
    const entries = fc.array(fc.tuple(fc.nat(30), value), { maxLength: 4 });
    const i64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    let withState = 0;
    fc.assert(
      fc.property(fc.boolean(), entries, i64, (isMint, extensions, unixTimestamp) => {
        const head = new Uint8Array(166);
        head.set(isMint ? [1] : [7], isMint ? 45 : 64);
        head[108] = isMint ? 0 : 1;
        head[165] = isMint ? 1 : 2;
        const tail = extensions.flatMap(([type, value]) => [
          type,
          0,
          value.length & 255,
          value.length >> 8,
          ...value,
        ]);
        const bytes = Uint8Array.of(...head, ...tail);
        const held = {
          lamports: lamports(1),
          data: bytes,
          owner: programs.token2022,
          executable: false,
          rentEpoch: 0n,
        };
        const text = writeJson(parseAccountData(keys[0]!, held, { mint: () => mint, unixTimestamp }));
        if (text.includes('"state":{')) withState++;
        decodeMintScale(bytes);
        return namesInOrder(parseJson(text));
      }),
      { numRuns: 3_000 },
    );
    expect(withState).toBeGreaterThan(5);
  });

  it('as validator info are valid JSON or unparsed', () => {
    const text = fc.oneof(
      fc.json(),
      fc.string(),
      fc.json().map((json) => json.slice(1)),
    );
    fc.assert(
      fc.property(text, (json) => {
        const said = Buffer.from(json);
        const length = new Uint8Array(new BigUint64Array([BigInt(said.length)]).buffer);
        const bytes = Uint8Array.of(1, ...addressBytes(validatorInfo), 0, ...length, ...said);
        const held = {
          lamports: lamports(1),
          data: bytes,
          owner: programs.config,
          executable: false,
          rentEpoch: 0n,
        };
        const shown = parseAccountData(keys[0]!, held);
        if (shown !== null)
          expect(parseJson(writeJson(shown))).toMatchObject({ parsed: { type: 'validatorInfo' } });
        return true;
      }),
      { numRuns: 2_000 },
    );
  });

  it('of an unparsed owner stay unparsed', () => {
    const owner = addressFromBytes(new Uint8Array(32).fill(9));
    const held = { lamports: lamports(1), data: new Uint8Array(82), owner, executable: false, rentEpoch: 0n };
    expect(parseAccountData(owner, held)).toBeNull();
  });
});
