import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import { compileMessage, type Instruction } from './compile-message.ts';

const keyOf = (fill: number): Address => addressFromBytes(new Uint8Array(32).fill(fill));
const anyKey = fc.integer({ min: 1, max: 12 }).map(keyOf);
const anyInstruction: fc.Arbitrary<Instruction> = fc.record({
  programId: fc.integer({ min: 20, max: 24 }).map(keyOf),
  accounts: fc.array(fc.record({ address: anyKey, signer: fc.boolean(), writable: fc.boolean() }), {
    maxLength: 6,
  }),
  data: fc.uint8Array({ maxLength: 20 }),
});

const recentBlockhash = blockhashFromBytes(new Uint8Array(32).fill(3));
const feePayer = keyOf(1);

describe('compiled message', () => {
  it('points instructions at their accounts', () => {
    fc.assert(
      fc.property(fc.array(anyInstruction, { maxLength: 4 }), (instructions) => {
        const { accountKeys, instructions: compiled } = compileMessage({
          feePayer,
          instructions,
          recentBlockhash,
        });
        expect(new Set(accountKeys).size).toBe(accountKeys.length);
        expect(
          compiled.map(({ programIdIndex, accounts }) => ({
            program: accountKeys[programIdIndex],
            accounts: Array.from(accounts, (index) => accountKeys[index]),
          })),
        ).toEqual(
          instructions.map(({ programId, accounts }) => ({
            program: programId,
            accounts: accounts.map(({ address }) => address),
          })),
        );
      }),
    );
  });

  it('rejects more keys than an index can address', () => {
    const accounts = Array.from({ length: 256 }, (_, n) => ({
      address: addressFromBytes(Uint8Array.from({ length: 32 }, (_byte, at) => (at === 0 ? n : 99))),
      signer: false,
      writable: false,
    }));
    const instruction = { programId: keyOf(20), accounts, data: new Uint8Array() };
    expect(() => compileMessage({ feePayer, instructions: [instruction], recentBlockhash })).toThrow(
      RangeError,
    );
  });
});
