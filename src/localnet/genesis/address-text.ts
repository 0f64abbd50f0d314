import { z } from 'zod';
import { type Address, parseAddress } from '../../solana/address.ts';

/** An address in a file, as base58. */
export const addressText = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  context.addIssue({ code: 'custom', message: 'not a base58 address' });
  return z.NEVER;
});
