import { z } from 'zod';
import { networks } from '../protocol/call.ts';
import { type Commitment, commitments } from '../protocol/commitment.ts';
import { type Address, parseAddress } from '../solana/address.ts';
import { decodeBase58 } from '../solana/base58.ts';
import { SIGNATURE_BYTES, type Signature } from '../solana/signature.ts';

/**
 * The kinds of fields that requests have. Behind a `?` everything is text, in a body it may be what it is: each kind
 * takes both, says in its own words what is wrong and what to send instead, and knows how OpenAPI shows it.
 */

/** Whether a field has nothing in it: behind a `?`, left out and empty are the same. */
export const isAbsent = (input: unknown): boolean => input === undefined || input === null || input === '';

/** `network`, with the default of the spec. */
export const network = () => oneOf(networks, 'mainnet-beta', 'The network.');

/** `commitment`, with the default of the spec. */
export const commitment = (absent: Commitment = 'finalized') =>
  oneOf(commitments, absent, 'How final the state that is read must be.');

/** An address in base58. */
export const address = (description: string) =>
  z
    .custom<Address>((input) => typeof input === 'string' && 'address' in parseAddress(input), {
      error: ({ input }) =>
        isAbsent(input) ? 'is missing: send an address in base58' : 'must be an address: 32 bytes in base58',
    })
    .meta({ type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$', description });

const isSignature = (input: unknown): boolean =>
  typeof input === 'string' && input.length <= 88 && decodeBase58(input)?.length === SIGNATURE_BYTES;

/** A transaction's signature in base58. */
export const signature = (description: string) =>
  z
    .custom<Signature>(isSignature, {
      error: ({ input }) =>
        isAbsent(input)
          ? 'is missing: send a signature in base58'
          : 'must be a signature of a transaction: 64 bytes in base58',
    })
    .meta({ type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{64,88}$', description });

/** A whole number within a range; absent it is the default. */
export const whole = (least: number, most: number, absent: number, description: string) =>
  z
    .preprocess(
      (input) => {
        if (isAbsent(input)) return absent;
        return typeof input === 'string' && /^[+-]?\d{1,15}$/.test(input) ? Number(input) : input;
      },
      z.custom<number>(
        (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
        {
          error: `must be a whole number from ${least} to ${most}`,
        },
      ),
    )
    .meta({ type: 'integer', minimum: least, maximum: most, default: absent, description }) as z.ZodType<
    number,
    unknown
  >;

/** True or false. Behind a `?` the bare name of a field is true, as the interface has it for `refresh`. */
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

/** One of a few words; absent it is the default. */
export const oneOf = <const Values extends readonly [string, ...string[]]>(
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

/** Text of at least one character. */
export const text = (mostCharacters: number, description: string) =>
  z
    .custom<string>(
      (input) => typeof input === 'string' && input.length > 0 && input.length <= mostCharacters,
      {
        error: ({ input }) =>
          isAbsent(input) ? 'is missing' : `must be text of 1 to ${mostCharacters} characters`,
      },
    )
    .meta({ type: 'string', minLength: 1, maxLength: mostCharacters, description });

/** A field that may be left out, or sent empty. */
export const optional = <Kind extends z.ZodType>(kind: Kind) =>
  z
    .preprocess((input) => (isAbsent(input) ? undefined : input), kind.optional())
    .meta(kind.meta() ?? {}) as unknown as z.ZodOptional<Kind>;

/** A list, also of one value, also under a name with `[]`. */
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
