import { createHash } from 'node:crypto';
import { EVENT_CALL, instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import type {
  ExecutedInstruction,
  ExecutedTransaction,
  ParsedView,
  TransactionTokenAccount,
} from '../../../src/decoding/transaction/executed-transaction.ts';
import { type Address, address, addressFromBytes } from '../../../src/solana/address.ts';
import { programs } from '../../../src/solana/programs.ts';
import { encodeEvent } from './encode-layout.ts';

export const named = (name: string): Address => addressFromBytes(createHash('sha256').update(name).digest());

export type InstructionSpec = Readonly<{
  program: Address | string;
  /** 1 for an outer instruction. */
  height: number | null;
  accounts?: readonly string[];
  data?: Uint8Array;
  parsed?: ParsedView;
}>;

/** Token account `owner:mint` with amounts before and after. */
export const tokenAccount = (
  of: string,
  mint: Address,
  owner: Address,
  before = 0n,
  after = 0n,
): TransactionTokenAccount => ({
  ...{ address: named(of), mint, owner, decimals: 6, before, after },
});

/** Discriminator, then u64 arguments. */
export function anchorData(name: string, ...numbers: readonly bigint[]): Uint8Array {
  const bytes = Buffer.alloc(8 * (numbers.length + 1));
  bytes.write(instructionDiscriminator(name), 'hex');
  for (const [at, number] of numbers.entries()) bytes.writeBigUInt64LE(number, 8 * (at + 1));
  return bytes;
}

export const transfer = (
  height: number | null,
  source: string,
  destination: string,
  amount: bigint,
): InstructionSpec => ({
  program: programs.token,
  height,
  parsed: {
    type: 'transfer',
    info: { source: named(source), destination: named(destination), amount: String(amount) },
  },
});

export const pay = (
  height: number | null,
  source: Address,
  destination: Address,
  lamports: bigint,
): InstructionSpec => ({
  program: programs.system,
  height,
  parsed: { type: 'transfer', info: { source, destination, lamports } },
});

export const emitEvent = (
  height: number | null,
  program: string,
  name: string,
  members: Readonly<Record<string, unknown>>,
): InstructionSpec => ({
  program,
  height,
  data: Buffer.concat([Buffer.from(EVENT_CALL, 'hex'), encodeEvent(program, name, members)]),
});

export const dexes: Readonly<Record<string, string>> = {
  clmm: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK',
  cpmm: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
  jupiter: 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4',
  okx: '6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma',
  photon: 'BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW',
  pump: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
  raydium: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8',
  tessera: 'TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH',
  titan: 'T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT',
  unknown: named('an unknown program'),
  whirlpool: 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc',
};

/**
 * Instructions of a scene, divided by `;`: height, then `program.instruction` with accounts, a token transfer
 * `user:A>pool:A 5`, or a lamport transfer `user$pool 5`.
 */
export const scene = (text: string): InstructionSpec[] =>
  text
    .split(';')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [at, what = '', ...rest] = part.trim().split(/\s+/);
      const [height, amount] = [Number(at), BigInt(/^\d+$/.test(rest[0] ?? '') ? (rest[0] as string) : 0)];
      const [source = '', destination = ''] = what.split(/[>$]/);
      if (what.includes('>')) return transfer(height, source, destination, amount);
      if (what.includes('$')) return pay(height, named(source), named(destination), amount);
      const [program = '', instruction] = what.split('.');
      return {
        ...{ program: dexes[program] ?? program, height, accounts: rest.map(named) },
        ...(instruction !== undefined && { data: anchorData(instruction, 100n) }),
      };
    });

export function numbered(instructions: readonly InstructionSpec[]): ExecutedInstruction[] {
  const open: number[] = [];
  let outer = -1;
  let parent: Address | null = null;
  return instructions.map(({ program: text, height, accounts, data, parsed }, index) => {
    const program = address(text);
    const depth = height ?? 2;
    if (depth === 1) [outer, parent] = [outer + 1, program];
    open.length = depth - 1;
    const caller = depth === 1 ? null : (open.findLast((one) => one !== undefined) ?? null);
    open.push(index);
    return {
      ...{ index, outer, height, caller, program },
      parentProgram: depth === 1 ? null : parent,
      accounts: (accounts ?? []) as readonly Address[],
      data: data ?? new Uint8Array(0),
      parsed: parsed ?? null,
    };
  });
}

export function executedTransaction(
  instructions: readonly InstructionSpec[],
  given: Readonly<{
    signers?: readonly Address[];
    tokens?: readonly TransactionTokenAccount[];
    logs?: readonly string[];
    lamports?: Readonly<Record<string, readonly [before: bigint, after: bigint]>>;
    fee?: bigint;
    err?: string;
  }> = {},
): ExecutedTransaction {
  const signers = given.signers ?? [named('user')];
  const lamports = Object.entries(given.lamports ?? {});
  const tokens = given.tokens ?? [];
  return {
    ...{ blockTime: null, signatures: [], feePayer: signers[0] as Address, signers },
    ...{ fee: given.fee ?? 5000n, err: given.err ?? null, instructions: numbered(instructions) },
    accountKeys: lamports.map(([key]) => key as Address),
    preBalances: lamports.map(([, [before]]) => before),
    postBalances: lamports.map(([, [, after]]) => after),
    logs: given.logs ?? [],
    tokenAccounts: new Map(tokens.map((one) => [one.address, one])),
    decimals: new Map(tokens.map(({ mint, decimals }) => [mint, decimals ?? 6])),
  };
}
