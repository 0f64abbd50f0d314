import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { parseJson } from '../../../../src/base/json.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, parseAddress } from '../../../../src/solana/address.ts';
import { decodeBase58 } from '../../../../src/solana/base58.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';

export const addressText = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  context.addIssue({ code: 'custom', message: 'not a base58 address' });
  return z.NEVER;
});

/** Source: solana-system-interface, MAX_PERMITTED_DATA_LENGTH. */
const DATA_MAX_BYTES = 10 * 1024 * 1024;

const u64 = z
  .union([z.number().int().nonnegative(), z.bigint().nonnegative().max(U64_MAX)])
  .transform((value) => BigInt(value));

const data = z
  .tuple([z.string(), z.enum(['base64', 'base58', 'base64+zstd'])])
  .transform(([text, encoding], context): Uint8Array => {
    const bytes = decodeData(text, encoding);
    if (bytes !== null && bytes.length <= DATA_MAX_BYTES) return bytes;
    context.addIssue({ code: 'custom', message: `not ${encoding}, or more than ${DATA_MAX_BYTES} bytes` });
    return z.NEVER;
  });

function decodeData(text: string, encoding: 'base64' | 'base58' | 'base64+zstd'): Uint8Array | null {
  if (encoding === 'base58') return decodeBase58(text);
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  if (encoding === 'base64') return bytes;
  try {
    return Uint8Array.from(zstdDecompressSync(bytes, { maxOutputLength: DATA_MAX_BYTES }));
  } catch {
    return null;
  }
}

/** An account as JSON-RPC encodes it; not as `jsonParsed`. */
export const accountSchema = z.object({
  lamports: u64.transform((value) => lamports(value)),
  data,
  owner: addressText,
  executable: z.boolean(),
  rentEpoch: u64,
});

const fileSchema = z.object({ pubkey: addressText, account: accountSchema });

/**
 * Reads an account in the format of `solana account --output json`: `{pubkey, account: {lamports, data:
 * [text, encoding], owner, executable, rentEpoch}}`.
 * @param at - address to use instead of the file's.
 * @throws Error with the file, the field and the problem.
 */
export function readAccountFile(path: string, at?: Address): [Address, Account] {
  let content: unknown;
  try {
    content = parseJson(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`cannot read account file ${path}, or it is not JSON`, { cause });
  }
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`account file ${path} is invalid at ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { pubkey, account } = parsed.data;
  return [at ?? pubkey, account];
}

/** Reads every `.json` file of a directory. @throws the errors of `readAccountFile`. */
export function readAccountDir(dir: string): [Address, Account][] {
  return namesIn(dir)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => readAccountFile(join(dir, name)));
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    throw new Error(`cannot read account directory ${dir}`, { cause });
  }
}
