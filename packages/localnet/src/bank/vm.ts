import {
  FailedTransactionMetadata,
  FeatureSet,
  LiteSvm,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import { type Blockhash, blockhashBytes } from '../../../../src/solana/blockhash.ts';
import type { LoadedAddresses, Message } from '../../../../src/solana/message/message.ts';
import { allKeys } from '../../../../src/solana/message/message-keys.ts';
import { programs, sysvars } from '../../../../src/solana/programs.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import type { ReturnData } from '../../../../src/solana/transaction/transaction-meta.ts';
import type { RecordedInnerInstructions } from './token-balances.ts';
import {
  accountOf,
  baseAccounts,
  isSameAccount,
  nativeOf,
  programDataAddressOf,
  withUpgradeAuthority,
} from './vm-accounts.ts';
import { transactionErrorOf } from './vm-errors.ts';

/** Ledger state that transactions are executed on. */
export interface StateView {
  /** Parent blockhash, to which nonces advance. */
  readonly lastBlockhash: Blockhash;
  /** Returns the same object while the account is unchanged, also for sysvars. */
  account(address: Address): Account | null;
}

export type VmRun = Readonly<{
  err: TransactionError | null;
  /** false when it failed before the first instruction. */
  executed: boolean;
  logs: readonly string[];
  innerInstructions: readonly RecordedInnerInstructions[];
  unitsConsumed: bigint;
  returnData: ReturnData | null;
  /** Writable accounts after a successful run, without the fee. */
  postAccounts: ReadonlyMap<Address, Account>;
}>;

/** Sysvars that programs can read without naming them among the accounts. */
const implicitSysvars: readonly Address[] = [
  sysvars.clock,
  sysvars.rent,
  sysvars.epochSchedule,
  sysvars.slotHashes,
  sysvars.recentBlockhashes,
  sysvars.stakeHistory,
  sysvars.epochRewards,
  sysvars.lastRestartSlot,
];

/** The VM aborts on programs of other loaders. */
const loaders: ReadonlySet<Address> = new Set([
  programs.nativeLoader,
  programs.bpfLoader1,
  programs.bpfLoader2,
  programs.bpfUpgradeableLoader,
]);

type VmLimits = Readonly<{
  /** Accounts loaded before the VM is recreated. */
  loadedAccountsMax: number;
  loadedMaxBytes: number;
}>;

const defaultLimits: VmLimits = { loadedAccountsMax: 100_000, loadedMaxBytes: 512 * 1024 * 1024 };

/**
 * Native Solana VM used as a pure function: changed accounts are copied into it, and every run is a simulation.
 * The VM's own commit is not used, because it aborts on accounts that it cannot load, and supports no older
 * states.
 */
export class Vm {
  readonly #limits: VmLimits;
  #native: LiteSvm;
  /** Account objects that the VM holds; compared by identity. */
  readonly #loaded = new Map<Address, Account | null>();
  #loadedBytes = 0;

  constructor(limits: VmLimits = defaultLimits) {
    this.#limits = limits;
    this.#native = newNative();
  }

  /** Runs a sanitized transaction with resolved lookups. Signatures and blockhash age are not checked. */
  run(transaction: Transaction, loaded: LoadedAddresses, view: StateView): VmRun {
    const keys = allKeys(transaction.message, loaded);
    const fault = loaderFault(transaction, keys, view);
    if (fault !== null) return notExecuted(fault);
    const tables = transaction.message.addressTableLookups.map(({ accountKey }) => accountKey);
    if (!this.#load([...implicitSysvars, ...tables, ...keys], view)) {
      return notExecuted('InvalidProgramForExecution');
    }
    const outcome = this.#native.simulateVersionedTransaction(wireFor(transaction, view.lastBlockhash));
    if (outcome instanceof FailedTransactionMetadata) return failedRun(outcome);
    const postAccounts = new Map(
      outcome.postAccounts().map((entry) => [addressFromBytes(entry.address), accountOf(entry.account())]),
    );
    return { err: null, executed: true, ...readMetadata(outcome.meta()), postAccounts };
  }

  /** @returns false if the VM rejects a program's code. */
  #load(addresses: readonly Address[], view: StateView): boolean {
    if (
      this.#loaded.size > this.#limits.loadedAccountsMax ||
      this.#loadedBytes > this.#limits.loadedMaxBytes
    ) {
      this.#recreate();
    }
    const programsToLoad: Address[] = [];
    for (const address of addresses) {
      const account = view.account(address);
      if (account?.executable && account.owner !== programs.nativeLoader) programsToLoad.push(address);
      else if (!this.#loadOne(address, account)) return this.#reload(addresses, view);
    }
    return programsToLoad.every((address) => this.#loadProgram(address, view));
  }

  /** Programs load after their program data. */
  #loadProgram(address: Address, view: StateView): boolean {
    const program = view.account(address) as Account;
    const dataAddress = programDataAddressOf(program);
    if (dataAddress !== null) {
      const code = view.account(dataAddress);
      const isCodeNew = !this.#isLoaded(dataAddress, code);
      this.#loadOne(dataAddress, code);
      if (isCodeNew) this.#loaded.delete(address);
      if (isCodeNew) return this.#set(address, program);
    }
    if (this.#isLoaded(address, program)) return true;
    return this.#set(address, program);
  }

  /** Recreates the VM and loads the accounts: the VM cannot unload a program. */
  #reload(addresses: readonly Address[], view: StateView): boolean {
    this.#recreate();
    return this.#load(addresses, view);
  }

  /** @returns false if a loaded program must be unloaded first. */
  #loadOne(address: Address, account: Account | null): boolean {
    if (this.#isLoaded(address, account)) return true;
    const known = this.#loaded.get(address);
    if (account === null && known?.executable) return false;
    this.#set(address, account);
    return true;
  }

  #isLoaded(address: Address, account: Account | null): boolean {
    const known = this.#loaded.get(address);
    if (known !== undefined) return known === account;
    const native = this.#native.getAccount(addressBytes(address));
    if (native === null ? account !== null : account === null || !isSameAccount(accountOf(native), account)) {
      return false;
    }
    this.#loaded.set(address, account);
    return true;
  }

  #set(address: Address, account: Account | null): boolean {
    try {
      this.#native.setAccount(addressBytes(address), nativeOf(account));
    } catch {
      return false;
    }
    this.#loadedBytes += 128 + (account?.data.length ?? 0) - (this.#loaded.get(address)?.data.length ?? 0);
    this.#loaded.set(address, account);
    return true;
  }

  #recreate(): void {
    this.#native = newNative();
    this.#loaded.clear();
    this.#loadedBytes = 0;
  }
}

/** Never active in solana-test-validator: it replaces the consensus. */
const ALPENGLOW = address('a1penGLz8Vm2QHYB3JPefBiU4BY3Z6JkW2k3Scw5GWP');

/** All features but Alpenglow, as in solana-test-validator. */
function activeFeatureSet(): FeatureSet {
  const features = FeatureSet.allEnabled();
  features.deactivate(addressBytes(ALPENGLOW));
  return features;
}

export const activeFeatures = (): Address[] => activeFeatureSet().getActiveFeatures().map(addressFromBytes);

function newNative(): LiteSvm {
  const native = new LiteSvm();
  native.setFeatureSet(activeFeatureSet());
  // Both depend on the features.
  native.setBuiltins();
  native.setDefaultPrograms();
  native.setSigverify(false);
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  for (const [address, account] of baseAccounts(native)) {
    if (account.owner === programs.bpfUpgradeableLoader && !account.executable) {
      native.setAccount(addressBytes(address), nativeOf(account));
    }
  }
  return native;
}

export const newBaseAccounts = (): [Address, Account][] => baseAccounts(newNative());

/**
 * @param authority - upgrade authority, or null.
 * @throws Error when the VM cannot load the program.
 */
export function programAccounts(
  program: Address,
  elf: Uint8Array,
  authority: Address | null = null,
): [Address, Account][] {
  const native = newNative();
  native.addProgram(addressBytes(program), elf);
  const code = programDataAddressOf(accountOf(native.getAccount(addressBytes(program))!));
  return baseAccounts(native)
    .filter(([address]) => address === program || address === code)
    .map(([address, account]) => [
      address,
      address === code ? withUpgradeAuthority(authority, account) : account,
    ]);
}

function loaderFault(
  { message }: Transaction,
  keys: readonly Address[],
  view: StateView,
): TransactionError | null {
  for (const { programIdIndex } of message.instructions) {
    const key = keys[programIdIndex];
    if (key === undefined || key === programs.nativeLoader) continue;
    const account = view.account(key);
    if (account === null) return 'ProgramAccountNotFound';
    if (!account.executable || !loaders.has(account.owner)) return 'InvalidProgramForExecution';
  }
  return null;
}

/**
 * Wire form for the VM, with the newest blockhash, to which nonces advance, and a nonzero first signature,
 * because the VM treats zero as "not executed".
 */
function wireFor({ wire, message, messageBytes }: Transaction, lastBlockhash: Blockhash): Uint8Array {
  // Not `slice`, which returns a view for a Buffer.
  const copy = new Uint8Array(wire);
  const isVersion1 = message.version === 1;
  const messageAt = isVersion1 ? 0 : wire.length - messageBytes.length;
  const signatureAt = isVersion1 ? messageBytes.length : 1;
  copy.set(blockhashBytes(lastBlockhash), messageAt + blockhashOffset(message));
  if (copy[signatureAt] === 0) copy[signatureAt] = 1;
  return copy;
}

/** Offset of the blockhash in an encoded message. */
function blockhashOffset({ version, accountKeys }: Message): number {
  const headerEnd = (version === 'legacy' ? 0 : 1) + 3;
  if (version === 1) return headerEnd + 4;
  return headerEnd + (accountKeys.length > 0x7f ? 2 : 1) + 32 * accountKeys.length;
}

type VmMetadata = Pick<VmRun, 'logs' | 'innerInstructions' | 'unitsConsumed' | 'returnData'>;

function readMetadata(meta: TransactionMetadata): VmMetadata {
  const returnData = meta.returnData();
  const data = returnData.data();
  return {
    logs: meta.logs(),
    innerInstructions: innerInstructionsOf(meta),
    unitsConsumed: meta.computeUnitsConsumed(),
    returnData: data.length === 0 ? null : { programId: addressFromBytes(returnData.programId()), data },
  };
}

function innerInstructionsOf(meta: TransactionMetadata): RecordedInnerInstructions[] {
  return meta
    .innerInstructions()
    .map((list, index) => ({
      index,
      instructions: list.map((inner) => {
        const instruction = inner.instruction();
        return {
          programIdIndex: instruction.programIdIndex(),
          accounts: instruction.accounts(),
          data: instruction.data(),
          stackHeight: inner.stackHeight(),
        };
      }),
    }))
    .filter(({ instructions }) => instructions.length > 0);
}

const NO_ACCOUNTS: ReadonlyMap<Address, Account> = new Map();

function notExecuted(err: TransactionError): VmRun {
  return {
    err,
    executed: false,
    logs: [],
    innerInstructions: [],
    unitsConsumed: 0n,
    returnData: null,
    postAccounts: NO_ACCOUNTS,
  };
}

function failedRun(failed: FailedTransactionMetadata): VmRun {
  const meta = failed.meta();
  const err = transactionErrorOf(failed.err());
  const executed = meta.signature().some((byte) => byte !== 0);
  return executed ? { err, executed, ...readMetadata(meta), postAccounts: NO_ACCOUNTS } : notExecuted(err);
}
