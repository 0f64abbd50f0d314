import { txErrDecode } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeTransactionError,
  displayTransactionError,
  encodeTransactionError,
} from '../../src/solana/transaction/transaction-error.ts';

const TRANSACTION_ERRORS = 39;
const INSTRUCTION_ERRORS = 54;
const INSTRUCTION_ERROR = 8;

const u32 = (value: number): number[] => [
  value & 0xff,
  (value >> 8) & 0xff,
  (value >> 16) & 0xff,
  value >>> 24,
];

describe('a stored transaction error', () => {
  it.each(Array.from({ length: TRANSACTION_ERRORS }, (_, variant) => variant))(
    'is decoded as by the published decoder: variant %i',
    (variant) => {
      const wire = Uint8Array.from([...u32(variant), 7, ...u32(0)]);
      expect(decodeTransactionError(wire)).toEqual(txErrDecode.decode(wire));
    },
  );

  it.each(Array.from({ length: INSTRUCTION_ERRORS }, (_, variant) => variant))(
    'is decoded as by the published decoder: instruction error %i',
    (variant) => {
      const payload = variant === 25 ? u32(0xffff_ffff) : [];
      const wire = Uint8Array.from([...u32(INSTRUCTION_ERROR), 200, ...u32(variant), ...payload]);
      const error = decodeTransactionError(wire);
      expect(error).toEqual(txErrDecode.decode(wire));
      expect(displayTransactionError(error!)).not.toMatch(/^\{/);
    },
  );

  it('of any variant survives a round trip', () => {
    const errors: Uint8Array[] = [];
    for (let variant = 0; variant < TRANSACTION_ERRORS; variant++) {
      const payload = [30, 31, 35].includes(variant) ? [9] : [];
      if (variant !== INSTRUCTION_ERROR) errors.push(Uint8Array.from([...u32(variant), ...payload]));
    }
    for (let variant = 0; variant < INSTRUCTION_ERRORS; variant++) {
      const payload = variant === 25 ? u32(0xffff_fffe) : [];
      errors.push(Uint8Array.from([...u32(INSTRUCTION_ERROR), 200, ...u32(variant), ...payload]));
    }
    expect(errors).toHaveLength(TRANSACTION_ERRORS - 1 + INSTRUCTION_ERRORS);
    for (const wire of errors) {
      expect(encodeTransactionError(decodeTransactionError(wire)!)).toEqual(wire);
    }
    expect(encodeTransactionError('NotKnown')).toBeNull();
    expect(encodeTransactionError({ InstructionError: [1, 'NotKnown'] })).toBeNull();
  });

  it('of type BorshIoError loses its text', () => {
    const text = [...u32(7), 0, 0, 0, 0, ...Buffer.from('Unknown')];
    const wire = Uint8Array.from([...u32(INSTRUCTION_ERROR), 2, ...u32(44), ...text]);
    expect(decodeTransactionError(wire)).toEqual({ InstructionError: [2, 'BorshIoError'] });
  });

  it('is decoded to null if unknown or truncated, and never throws', () => {
    expect(decodeTransactionError(Uint8Array.from(u32(TRANSACTION_ERRORS)))).toBeNull();
    expect(decodeTransactionError(Uint8Array.of(8, 0, 0, 0, 1, 54, 0, 0, 0))).toBeNull();
    expect(decodeTransactionError(Uint8Array.of(8, 0, 0, 0, 1, 25, 0, 0, 0, 1))).toBeNull();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => void decodeTransactionError(bytes)));
  });
});
