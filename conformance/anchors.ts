import type { JsonValue } from '../src/base/json.ts';
import type { RpcNode } from './node.ts';

/** Values for call parameters, found on the first node, that both nodes must know. */
export type Anchors = Readonly<{
  /** A finalized slot with transactions, old enough for both. */
  slot: bigint;
  /** A slot before it, for ranges. */
  rangeStart: bigint;
  epoch: bigint;
  /** Signatures of that slot's block. */
  signatures: readonly string[];
  blockhash: string;
  /** Addresses in its transactions. */
  addresses: readonly string[];
  /** An account that holds only lamports. */
  wallet: string;
  /** A token account and its mint; null if none was found. */
  token: Readonly<{ account: string; mint: string; owner: string; program: string }> | null;
  identity: string;
  voteAccount: string | null;
}>;

type Members = { readonly [name: string]: JsonValue };
const member = (value: JsonValue | undefined, ...path: readonly (string | number)[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>(
    (at, name) => (at as Members | null | undefined)?.[name as string],
    value,
  );
const list = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const SIGNATURES_READ = 20;
const BLOCKS_READ_MAX = 5;
const ADDRESSES_MAX = 100;
const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
];

/** Slots of the newest finalized transactions of the System program, which nearly all except votes use. */
async function busySlots(node: RpcNode, tip: bigint): Promise<bigint[]> {
  const config = { limit: SIGNATURES_READ, commitment: 'finalized' };
  const entries = list(await node.requireResult('getSignaturesForAddress', [SYSTEM_PROGRAM, config]));
  const slots = new Set(entries.map((entry) => BigInt(member(entry, 'slot') as number)));
  return slots.size === 0 ? [tip] : [...slots].slice(0, BLOCKS_READ_MAX);
}

/** The recent finalized block with the most transactions. */
async function findBlock(node: RpcNode): Promise<{ slot: bigint; block: JsonValue }> {
  const tip = BigInt((await node.requireResult('getSlot', [{ commitment: 'finalized' }])) as number);
  const config = { transactionDetails: 'accounts', maxSupportedTransactionVersion: 0, rewards: false };
  let found: { slot: bigint; block: JsonValue; size: number } | null = null;
  for (const slot of await busySlots(node, tip)) {
    const block = await node.requireResult('getBlock', [slot, config]);
    const size = list(member(block, 'transactions')).length;
    if (found === null || size > found.size) found = { slot, block, size };
  }
  if (found === null) throw new Error(`${node.name} has no finalized block`);
  return found;
}

async function findToken(node: RpcNode, addresses: readonly string[]): Promise<Anchors['token']> {
  const accounts = list(
    member(await node.requireResult('getMultipleAccounts', [addresses, { encoding: 'jsonParsed' }]), 'value'),
  );
  for (const [index, account] of accounts.entries()) {
    const program = text(member(account, 'owner'));
    const info = member(account, 'data', 'parsed', 'info');
    const isAccount = member(account, 'data', 'parsed', 'type') === 'account';
    if (!TOKEN_PROGRAMS.includes(program) || !isAccount) continue;
    return {
      account: addresses[index] as string,
      mint: text(member(info, 'mint')),
      owner: text(member(info, 'owner')),
      program,
    };
  }
  return null;
}

async function findWallet(node: RpcNode, addresses: readonly string[]): Promise<string> {
  const accounts = list(member(await node.requireResult('getMultipleAccounts', [addresses]), 'value'));
  const index = accounts.findIndex(
    (account) => member(account, 'owner') === SYSTEM_PROGRAM && member(account, 'space') === 0,
  );
  return addresses[Math.max(0, index)] ?? SYSTEM_PROGRAM;
}

/** Finds values for call parameters. @throws Error when a basic call fails. */
export async function findAnchors(node: RpcNode): Promise<Anchors> {
  const { slot, block } = await findBlock(node);
  const transactions = list(member(block, 'transactions'));
  const keys = transactions.flatMap((entry) =>
    list(member(entry, 'transaction', 'accountKeys')).map((key) => text(member(key, 'pubkey'))),
  );
  const addresses = [...new Set(keys)].slice(0, ADDRESSES_MAX);
  const schedule = await node.requireResult('getEpochInfo', [{ commitment: 'finalized' }]);
  const votes = list(member(await node.requireResult('getVoteAccounts', []), 'current'));
  return {
    slot,
    rangeStart: slot > 20n ? slot - 20n : 0n,
    epoch: BigInt(member(schedule, 'epoch') as number),
    signatures: transactions.map((entry) => text(member(entry, 'transaction', 'signatures', 0))).slice(0, 20),
    blockhash: text(member(block, 'blockhash')),
    addresses,
    wallet: addresses.length === 0 ? SYSTEM_PROGRAM : await findWallet(node, addresses),
    token: addresses.length === 0 ? null : await findToken(node, addresses),
    identity: text(member(await node.requireResult('getIdentity', []), 'identity')),
    voteAccount: votes.length === 0 ? null : text(member(votes[0], 'votePubkey')),
  };
}
