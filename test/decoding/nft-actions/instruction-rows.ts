import { type JsonValue, writeJson } from '../../../src/base/json.ts';
import { instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { type Address, address, addressBytes } from '../../../src/solana/address.ts';
import { findProgramAddress, u64Seed } from '../../../src/solana/program-address.ts';
import { nativeMint } from '../../../src/solana/programs.ts';
import { bytesOf } from '../../parsed/rows/row.ts';
import { actionsOf, executedTransaction, holding, someone } from './transaction-builder.ts';

export const marketplaces = {
  auctionHouse: address('hausS13jsjafwWwGqZTUQRmWyvyxn9EQpqMwV1PBBmk'),
  auction: address('auctxRXPeJoc4817jDhf4HbjnhEcr1cCXenosMhK5R8'),
  bubblegum: address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY'),
  core: address('CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d'),
  formfunction: address('formn3hJtt8gvVKxpCfzCJGuoz6CNUFcULFZW18iTpC'),
  m2: address('M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K'),
  mmm: address('mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc'),
  tamm: address('TAMM6ub33ij1mbetoMyVBLeKY5iP41i4UPUJQGkhfsg'),
  tcomp: address('TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp'),
  tswap: address('TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN'),
};

export const SOL = nativeMint;
export const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');

/** 2.5 SOL or 2,500 USDC. */
export const PRICE = 2_500_000_000n;

/** Leaf index of compressed NFTs in the rows. */
const NONCE = 77n;

export const assetOf = (tree: Address): Address =>
  findProgramAddress([Buffer.from('asset'), addressBytes(tree), u64Seed(NONCE)], marketplaces.bubblegum)
    .address;

/** Address in the notation of `bytesOf`. */
export const keyTokens = (key: Address): string => addressBytes(key).join(' ');

/** Instruction data: the discriminator of a name, or a number; then arguments, with `P` for the price. */
export const dataOf = (name: string, args = ''): Uint8Array =>
  Buffer.concat([
    /^\d+$/.test(name) ? Buffer.of(Number(name)) : Buffer.from(instructionDiscriminator(name), 'hex'),
    bytesOf(args.replaceAll(/\bP\b/g, `${PRICE}:64`)),
  ]);

/**
 * Accounts in IDL order with distinct addresses. A number stands for that many other accounts, a name with `!` for the
 * program itself (an omitted account), `SOL` and `USDC` for the mints.
 */
export function accountsOf(names: string, program: Address, first = 100) {
  const at: Record<string, Address> = { SOL, USDC, program };
  const accounts = names.split(' ').flatMap((name) => {
    if (/^\d+$/.test(name)) return Array.from({ length: Number(name) }, (_, other) => someone(200 + other));
    if (name === 'SOL' || name === 'USDC') return [at[name] as Address];
    const account = name.endsWith('!') ? program : someone(first + Object.keys(at).length);
    at[name.replace('!', '')] = account;
    return [account];
  });
  return { accounts, at };
}

type Facts = Partial<Omit<ExecutedTransaction, 'instructions' | 'tokenAccounts'>>;

/** Transaction of one instruction and a self-call. The account `token` holds the NFT `@9`. */
export function runOf(
  program: Address,
  accounts: ReturnType<typeof accountsOf>,
  data: Uint8Array,
  facts: Facts = {},
  selfCall: Uint8Array | null = null,
): ExecutedTransaction {
  const { token } = accounts.at;
  const called = { outer: 0, height: 2, caller: 0, parentProgram: program, program };
  return executedTransaction(
    [
      { program, accounts: accounts.accounts, data },
      ...(selfCall === null ? [] : [{ ...called, data: selfCall }]),
    ],
    {
      decimals: new Map([[USDC, 6]]),
      ...(token !== undefined && { tokenAccounts: [holding(token, someone(9), someone(8), [1n, 1n])] }),
      ...facts,
    },
  );
}

/** `name=value`: an account's name, `@9`, `asset` for the compressed NFT of the account `tree`, or JSON. */
function expectedAction(text: string, at: Record<string, Address>): JsonValue {
  const [type = '', ...members] = text.split(' ');
  const memberOf = (value: string): JsonValue => {
    if (value.startsWith('@')) return someone(Number(value.slice(1)));
    if (value === 'asset') return assetOf(at.tree as Address);
    return at[value] ?? JSON.parse(value);
  };
  const pairs = members.map((member) => member.split('=') as [string, string]);
  return { type, info: Object.fromEntries(pairs.map(([name, value]) => [name, memberOf(value)])) };
}

/** The action that an instruction is decoded to and the expected one, both as JSON. */
export function decodedAndExpected(
  [program, name]: readonly [Address, string],
  [names, args, expected]: readonly [string, string, string],
  facts: Facts = {},
  selfCall: Uint8Array | null = null,
): [decoded: string, expected: string] {
  const accounts = accountsOf(names, program);
  const decoded = actionsOf(runOf(program, accounts, dataOf(name, args), facts, selfCall));
  const action =
    expected === 'null' ? null : expected === 'none' ? [] : [expectedAction(expected, accounts.at)];
  return [writeJson(decoded as never), JSON.stringify(action)];
}
