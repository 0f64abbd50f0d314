import { z } from 'zod';
import { type Network, standardNetworks } from '../protocol/call.ts';
import { type Commitment, commitments } from '../protocol/commitment.ts';
import { type Address, parseAddress } from '../solana/address.ts';
import { decodeBase58 } from '../solana/base58.ts';
import { SIGNATURE_BYTES, type Signature } from '../solana/signature.ts';

// Schemas for request fields. Each accepts both query text and JSON values, and has metadata for OpenAPI.

export const isAbsent = (input: unknown): boolean => input === undefined || input === null || input === '';

export const network = (names: readonly Network[] = standardNetworks) =>
  oneOf(names, 'mainnet-beta', 'The network.');

export const commitment = (defaultValue: Commitment = 'finalized') =>
  oneOf(commitments, defaultValue, 'Commitment of the state to read.');

/** Schema with separate error messages for missing and for invalid input. */
export const checked = <Value>(isValid: (input: unknown) => boolean, missing: string, invalid: string) =>
  z.custom<Value>(isValid, { error: ({ input }) => (isAbsent(input) ? missing : invalid) });

const isAddress = (input: unknown): boolean => typeof input === 'string' && 'address' in parseAddress(input);

export const address = (description: string) =>
  checked<Address>(
    isAddress,
    'is missing: send an address in base58',
    'must be an address: 32 bytes in base58',
  ).meta({ type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$', description });

const isSignature = (input: unknown): boolean =>
  typeof input === 'string' && input.length <= 88 && decodeBase58(input)?.length === SIGNATURE_BYTES;

export const signature = (description: string) =>
  checked<Signature>(
    isSignature,
    'is missing: send a signature in base58',
    'must be a signature of a transaction: 64 bytes in base58',
  ).meta({ type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{64,88}$', description });

export const integer = (min: number, max: number, absent: number, description: string) =>
  z
    .preprocess(
      (input) => {
        if (isAbsent(input)) return absent;
        return typeof input === 'string' && /^[+-]?\d{1,15}$/.test(input) ? Number(input) : input;
      },
      z.custom<number>((value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max, {
        error: `must be a whole number from ${min} to ${max}`,
      }),
    )
    .meta({ type: 'integer', minimum: min, maximum: max, default: absent, description }) as z.ZodType<
    number,
    unknown
  >;

/** A query parameter without a value (`?refresh`) counts as true. */
export const flag = (description: string, absent = false) =>
  z
    .preprocess(
      (input) => {
        if (input === undefined || input === null) return absent;
        if (input === '' || input === 'true' || input === '1') return true;
        if (input === 'false' || input === '0') return false;
        return input;
      },
      z.boolean({ error: 'must be true or false' }),
    )
    .meta({ type: 'boolean', default: absent, description }) as z.ZodType<boolean, unknown>;

export const oneOf = <const Values extends readonly string[]>(
  values: Values,
  absent: Values[number],
  description: string,
) =>
  z
    .preprocess(
      (input) => (isAbsent(input) ? absent : input),
      z.enum(values, { error: `must be one of ${values.join(', ')}` }),
    )
    .meta({ type: 'string', enum: [...values], default: absent, description }) as z.ZodType<
    Values[number],
    unknown
  >;

export const text = (maxLength: number, description: string, minLength = 1) =>
  checked<string>(
    (input) => typeof input === 'string' && input.length >= minLength && input.length <= maxLength,
    'is missing',
    `must be text of ${minLength} to ${maxLength} characters`,
  ).meta({ type: 'string', minLength, maxLength, description });

export const optional = <Kind extends z.ZodType>(kind: Kind) =>
  z
    .preprocess((input) => (isAbsent(input) ? undefined : input), kind.optional())
    .meta(kind.meta() ?? {}) as unknown as z.ZodOptional<Kind>;

export const list = <Kind extends z.ZodType>(kind: Kind, most: number, description: string) =>
  z
    .preprocess(
      (input) => (isAbsent(input) || Array.isArray(input) ? input : [input]),
      z
        .array(kind, {
          error: ({ input }) =>
            isAbsent(input) ? `is missing: send a list of 1 to ${most}` : 'must be a list',
        })
        .min(1, { error: `is empty: send 1 to ${most}` })
        .max(most, { error: `has more than ${most}: send fewer at once` }),
    )
    .meta({ type: 'array', items: kind.meta() ?? {}, minItems: 1, maxItems: most, description }) as z.ZodType<
    z.output<Kind>[],
    unknown
  >;

const PAGE_MAX = 1_000_000;

export const pageFields = (size: number, sizeMax: number) => ({
  page: integer(1, PAGE_MAX, 1, 'Page number, from 1. A page beyond the end is empty.'),
  size: integer(1, sizeMax, size, 'Page size.'),
});

export const pageResult = {
  page: z.number().int(),
  size: z.number().int(),
  total_count: z.number().int().meta({ description: 'Total number of items.' }),
  total_pages: z.number().int(),
};

export function pageOf<Item>(
  items: readonly Item[],
  page: number,
  size: number,
): Readonly<{
  items: readonly Item[];
  about: { page: number; size: number; total_count: number; total_pages: number };
}> {
  const from = (page - 1) * size;
  return {
    items: items.slice(from, from + size),
    about: { page, size, total_count: items.length, total_pages: Math.ceil(items.length / size) },
  };
}
