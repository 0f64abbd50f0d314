import { randomUUID } from 'node:crypto';
import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional } from '../../../../src/protocol/rpc/parameters.ts';
import {
  member,
  optional,
  readPlainStruct,
  readString,
  readVariant,
} from '../../../../src/protocol/rpc/serde.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { type AccountEncoding, accountEncodings } from '../../../../src/solana/encoding/encodings.ts';
import { encodeMessage, type Message } from '../../../../src/solana/message/message.ts';
import { allKeys, isWritable } from '../../../../src/solana/message/message-keys.ts';
import { signatureBytes } from '../../../../src/solana/signature.ts';
import { decodeTransaction } from '../../../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../../src/solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { displayTransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { isSameAccount } from '../bank/vm-accounts.ts';
import type { Bank, Simulation } from '../node.ts';
import { accountJson, mintsOf } from '../rpc/account-view.ts';
import { withContext } from '../rpc/context.ts';
import { decodeTransactionText, requireSanitized } from '../rpc/decode-wire.ts';
import type { LedgerControls } from './ledger-controls.ts';

const depths = ['transaction', 'instruction'] as const;

/** `transaction, tag, {encoding, depth}`; the transaction is base64. Profiles are not stored, so the tag is unused. */
function parse(params: JsonValue | undefined) {
  const list = positional(params, 1, 3);
  const data = at(list, 0, readString);
  optional(list[1], readString);
  const config = optional(list[2], (value) =>
    readPlainStruct(value, 'RpcProfileResultConfig', ['encoding', 'depth']),
  );
  const field = <Name extends string>(name: string, variants: readonly Name[]): Name | null =>
    config === null ? null : optional(member(config, name), (value) => readVariant(value, variants));
  return {
    data,
    encoding: field('encoding', accountEncodings) ?? ('jsonParsed' as const),
    depth: field('depth', depths) ?? 'instruction',
  };
}

type AccountState = Account | null;

/** Accounts before and after a part of the transaction. */
type Run = Readonly<{ simulation: Simulation; before: ReadState; after: ReadState }>;
type ReadState = (address: Address) => AccountState;

class Profiler {
  readonly #bank: Bank;
  readonly #encoding: AccountEncoding;
  readonly #message: Message;
  readonly #isWritable: (index: number) => boolean;
  readonly keys: readonly Address[];

  constructor(transaction: Transaction, bank: Bank, encoding: AccountEncoding) {
    const loaded = requireSanitized(transaction, bank);
    this.#bank = bank;
    this.#encoding = encoding;
    this.#message = transaction.message;
    this.#isWritable = (index) => isWritable(transaction.message, index, loaded);
    this.keys = allKeys(transaction.message, loaded);
  }

  /** @param uses - whether the profiled part names the account with this index. */
  profile({ simulation, before, after }: Run, previous: Simulation | null, uses: (index: number) => boolean) {
    const states = this.keys.flatMap((address, index): [string, WritableJson][] =>
      uses(index) ? [[address, this.#state(address, index, before(address), after(address))]] : [],
    );
    const units = simulation.unitsConsumed - (previous?.unitsConsumed ?? 0n);
    return {
      accountStates: Object.fromEntries(states),
      computeUnitsConsumed: units < 0n ? 0n : units,
      logMessages: simulation.logs.slice(previous?.logs.length ?? 0),
      errorMessage: simulation.err === null ? null : displayTransactionError(simulation.err),
    };
  }

  readonlyStates(): WritableJson {
    const states = this.keys.flatMap((address, index): [string, WritableJson][] => {
      const account = this.#isWritable(index) ? null : this.#bank.account(address);
      return account === null ? [] : [[address, this.#encode(address, account)]];
    });
    return Object.fromEntries(states);
  }

  usesOf(instruction: number): (index: number) => boolean {
    const { programIdIndex, accounts } = this.#message.instructions[
      instruction
    ] as Message['instructions'][number];
    return (index) => index === programIdIndex || accounts.includes(index);
  }

  #state(address: Address, index: number, before: AccountState, after: AccountState): WritableJson {
    if (!this.#isWritable(index)) return { type: 'readonly' };
    return { type: 'writable', accountChange: this.#change(address, before, after) };
  }

  #change(address: Address, before: AccountState, after: AccountState): WritableJson {
    const encode = (account: AccountState): WritableJson => account && this.#encode(address, account);
    if (before === null) {
      return after === null ? { type: 'unchanged', data: null } : { type: 'create', data: encode(after) };
    }
    if (after === null) return { type: 'delete', data: encode(before) };
    return isSameAccount(before, after)
      ? { type: 'unchanged', data: encode(before) }
      : { type: 'update', data: [encode(before), encode(after)] };
  }

  #encode(address: Address, account: Account): WritableJson {
    const view = { encoding: this.#encoding, dataSlice: null, lookup: mintsOf(this.#bank) };
    return accountJson(address, account, view);
  }
}

/** The transaction with its first instructions only. Its signatures no longer fit. */
function partOf({ message, signatures }: Transaction, instructions: number): Transaction {
  const part = { ...message, instructions: message.instructions.slice(0, instructions) };
  const decoded = decodeTransaction(encodeTransaction(signatures.map(signatureBytes), encodeMessage(part)));
  if ('fault' in decoded) throw new Error(`invalid part of a transaction: ${decoded.fault}`);
  return decoded.transaction;
}

/** After a failure, all accounts are as before. An account without balance does not exist. */
function runOf(simulation: Simulation, before: ReadState, bank: Bank): Run {
  const after = (address: Address): AccountState => {
    const written = simulation.err === null ? simulation.postAccounts.get(address) : undefined;
    if (written === undefined) return bank.account(address);
    return written.lamports === 0n ? null : written;
  };
  return { simulation, before, after };
}

/** Profiles of the instructions: what each adds to those before it. The last one is that of a failed instruction. */
function instructionProfiles(
  { node }: LedgerControls,
  transaction: Transaction,
  profiler: Profiler,
  bank: Bank,
): WritableJson[] {
  const options = { sigVerify: false, replaceRecentBlockhash: true, innerInstructions: false };
  const profiles: WritableJson[] = [];
  let previous: Run | null = null;
  for (let index = 0; index < transaction.message.instructions.length; index++) {
    const simulation = node.simulate(partOf(transaction, index + 1), bank, options);
    const run = runOf(simulation, previous?.after ?? ((address) => bank.account(address)), bank);
    profiles.push(profiler.profile(run, previous?.simulation ?? null, profiler.usesOf(index)));
    if (simulation.err !== null) break;
    previous = run;
  }
  return profiles;
}

/** Runs a transaction without effect. @returns compute units, logs and account changes, also by instruction. */
export async function profileTransaction(
  controls: LedgerControls,
  params: JsonValue | undefined,
): Promise<WritableJson> {
  const { data, encoding, depth } = parse(params);
  const { node } = controls;
  const { transaction } = decodeTransactionText(data, 'base64');
  await node.fork?.ensureMessage(transaction.message);
  const bank = node.bank('processed');
  const profiler = new Profiler(transaction, bank, encoding);
  const options = { sigVerify: true, replaceRecentBlockhash: false, innerInstructions: false };
  const simulation = node.simulate(transaction, bank, options);
  if (simulation.err === 'SignatureFailure') {
    throw new RpcError(-32003, 'Transaction signature verification failure');
  }
  const whole = runOf(simulation, (address) => bank.account(address), bank);
  return withContext(bank, {
    slot: bank.slot,
    key: randomUUID(),
    ...(depth === 'instruction'
      ? { instructionProfiles: instructionProfiles(controls, transaction, profiler, bank) }
      : {}),
    transactionProfile: profiler.profile(whole, null, () => true),
    readonlyAccountStates: profiler.readonlyStates(),
  });
}
